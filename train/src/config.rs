//! Training configs: TOML files in which every key is mandatory.
//!
//! What each key means is explained in `configs/quick.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{ACTION_PLANES, PLANES, Rules};
use cyvasse_models::{Net, NetConfig, NetEvaluator, Precision};
use cyvasse_selfplay::play::GameSettings;
use cyvasse_selfplay::search::SearchSettings;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::learning::TrainingConfig;
use crate::nearest::nearest;
use crate::one_line;
use crate::pipeline::GateConfig;
use crate::setups::SetupsConfig;

/// The most games that a process plays at the same time. Each worker of a run has as
/// many slots to itself.
pub(crate) const MOST_SLOTS: u32 = 1 << 16;

/// A training config that has been read and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The run as a whole.
    pub run: RunConfig,
    /// The play network.
    pub network: NetworkConfig,
    /// How games are made.
    pub selfplay: SelfPlayConfig,
    /// How a game of self-play is played.
    pub games: GameSettings,
    /// The search of self-play.
    pub search: SearchSettings,
    /// How the network learns.
    pub training: TrainingConfig,
    /// Where setups come from, and how they are learned.
    pub setups: SetupsConfig,
    /// Whether a new network must win a match before it plays in self-play.
    pub gate: GateConfig,
    /// What the run ends with.
    pub evaluation: EvaluationConfig,
}

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Where all randomness comes from.
    pub seed: u64,
    /// `iron-throne`, or the path of a rules file, from the config's folder.
    pub rules: String,
    /// Rounds of self-play and training.
    pub rounds: u32,
    /// `cpu` or `cuda`.
    pub device: DeviceName,
}

/// Where networks are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum DeviceName {
    /// The processor.
    Cpu,
    /// The first CUDA device; an error where there is none.
    Cuda,
}

/// The play network; what the encodings do not fix of [`NetConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the tower.
    pub channels: usize,
    /// Channels inside the policy head.
    pub policy_channels: usize,
    /// Channels that the value head pools.
    pub value_channels: usize,
    /// Width of the value head's hidden layer.
    pub value_hidden: usize,
    /// Share of the newest batch in the running statistics.
    pub batch_norm_momentum: f64,
}

/// How games are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// Worker threads, each with its own games.
    pub workers: u32,
    /// Games played at the same time, over all workers.
    pub slots: u32,
    /// Plies that every slot plays in a round.
    pub plies_per_slot: u32,
    /// The numbers that networks are evaluated with on a GPU; single on a CPU.
    pub precision: Precision,
}

impl SelfPlayConfig {
    /// Leaves that a worker has evaluated at once: one for each of its slots.
    #[must_use]
    pub fn batch(&self) -> u32 {
        self.slots.div_ceil(self.workers.max(1))
    }

    /// Plies of a round.
    #[must_use]
    pub fn plies(&self) -> u64 {
        u64::from(self.slots) * u64::from(self.plies_per_slot)
    }

    /// An evaluator for each worker.
    #[must_use]
    pub fn evaluators(&self, net: &Net, rules: &Arc<Rules>) -> Vec<NetEvaluator> {
        let (workers, slots) = (self.workers as usize, self.slots as usize);
        NetEvaluator::for_workers(net, rules, workers, self.precision, slots)
    }
}

/// What the run ends with: games of the new network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// Games against the random player, and as many against the untrained
    /// network: an even number, 0 for none.
    pub games: u32,
    /// The agent of both matches: the policy settings of its search.
    pub policy: cyvasse_selfplay::search::PolicySettings,
}

/// A config that cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A file is no config.
    #[error("{}: {reason}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what would be right.
        reason: String,
    },
    /// A number is outside its range.
    #[error("{}: `{key}` is {value}, expected {expected}", path.display())]
    Range {
        /// The file.
        path: PathBuf,
        /// The key's full name.
        key: &'static str,
        /// What it is.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// The rules file is refused.
    #[error("{}: {source}", path.display())]
    Rules {
        /// The rules file.
        path: PathBuf,
        /// Why.
        source: cyvasse_env::RulesError,
    },
}

impl Config {
    /// Reads and checks a config file and the rules that it names.
    ///
    /// # Errors
    /// A file that cannot be read, an unknown, missing or unfitting key, rules
    /// that are refused.
    pub fn load(path: &Path) -> Result<(Config, Arc<Rules>), ConfigError> {
        Config::built_in(path, &read(path)?)
    }

    /// Checks a config that is built into the program from the file `path`.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn built_in(path: &Path, text: &str) -> Result<(Config, Arc<Rules>), ConfigError> {
        let config = Config::parse(path, text)?;
        let rules = load_rules(path, &config.run.rules)?;
        Ok((config, Arc::new(rules)))
    }

    /// Reads and checks the text of a config file.
    ///
    /// # Errors
    /// As [`Config::load`], the rules aside.
    pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
        let refuse = |reason| ConfigError::Parse { path: path.to_path_buf(), reason };
        let deserializer = toml::Deserializer::parse(text)
            .map_err(|error| refuse(one_line::flattened(&error.to_string())))?;
        let config: Config = serde_path_to_error::deserialize(deserializer)
            .map_err(|error| refuse(explain(&error.path().to_string(), error.inner())))?;
        config.check(path)?;
        Ok(config)
    }

    /// The whole config as TOML, for the run directory.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a config is a table of plain values")
    }

    /// The keys that have other values in another config, each with both values:
    /// "`run.rounds` (4, there 3)".
    #[must_use]
    pub fn differences(&self, other: &Config) -> Vec<String> {
        let [ours, theirs] = [self, other].map(|config| {
            let table = toml::Value::try_from(config).expect("a config is a table");
            let mut values = BTreeMap::new();
            collect_values(String::new(), table, &mut values);
            values
        });
        let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        let shown = |value: Option<&toml::Value>| {
            value.map_or_else(|| "absent".to_string(), ToString::to_string)
        };
        let different = keys.into_iter().filter(|&key| ours.get(key) != theirs.get(key));
        different
            .map(|key| {
                let (own, there) = (shown(ours.get(key)), shown(theirs.get(key)));
                format!("`{key}` ({own}, there {there})")
            })
            .collect()
    }

    /// The architecture of the play network.
    #[must_use]
    pub fn net(&self) -> NetConfig {
        NetConfig {
            input_planes: PLANES,
            policy_planes: ACTION_PLANES,
            blocks: self.network.blocks,
            channels: self.network.channels,
            policy_channels: self.network.policy_channels,
            value_channels: self.network.value_channels,
            value_hidden: self.network.value_hidden,
            batch_norm_epsilon: 1e-5,
            batch_norm_momentum: self.network.batch_norm_momentum,
            output_init_std: 0.01,
        }
    }

    /// Checks that every number is within its range.
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let out_of_range = self.bounds().into_iter().find(|bound| !bound.holds);
        if let Some(Bound { key, value, expected, .. }) = out_of_range {
            return Err(ConfigError::Range { path: path.to_path_buf(), key, value, expected });
        }
        let within = |table: &str, error: &dyn std::fmt::Display| ConfigError::Parse {
            path: path.to_path_buf(),
            reason: format!("[{table}] {error}"),
        };
        self.games.validate().map_err(|error| within("games", &error))?;
        self.search.validate().map_err(|error| within("search", &error))?;
        self.evaluation.policy.validate().map_err(|error| within("evaluation", &error))?;
        self.training.optimizer.validate().map_err(|error| within("training.optimizer", &error))?;
        if let SetupsConfig::Learned(setups) = &self.setups {
            setups.optimizer.validate().map_err(|error| within("setups.optimizer", &error))?;
            setups.net().validate().map_err(|error| within("setups.network", &error))?;
        }
        self.net().validate().map_err(|error| within("network", &error))
    }

    fn bounds(&self) -> Vec<Bound> {
        let Config { run, selfplay, training, setups, evaluation, .. } = self;
        let mut bounds = vec![
            Bound::count("run.rounds", run.rounds, 1, 1_000_000),
            Bound::count("selfplay.workers", selfplay.workers, 1, 256),
            Bound::count("selfplay.slots", selfplay.slots, 1, MOST_SLOTS),
            Bound::new(
                selfplay.slots >= selfplay.workers,
                "selfplay.slots",
                selfplay.slots,
                "at least as many as `selfplay.workers`",
            ),
            Bound::new(
                run.device == DeviceName::Cuda || selfplay.precision == Precision::Single,
                "selfplay.precision",
                "\"half\"",
                "\"single\" where `run.device` is \"cpu\"",
            ),
            Bound::count("selfplay.plies_per_slot", selfplay.plies_per_slot, 1, 1_000_000),
            Bound::new(
                evaluation.games.is_multiple_of(2) && evaluation.games <= 1_000_000,
                "evaluation.games",
                evaluation.games,
                "an even number up to a million, so that every opening is played from both seats",
            ),
        ];
        if let SetupsConfig::Learned(setups) = setups {
            bounds.extend(setups.bounds(run.rounds));
        }
        bounds.extend(training.bounds());
        bounds.extend(self.gate.bounds());
        bounds
    }
}

/// What a number of the config must hold to.
pub(crate) struct Bound {
    holds: bool,
    key: &'static str,
    value: String,
    expected: String,
}

impl Bound {
    pub(crate) fn new(
        holds: bool,
        key: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Bound {
        Bound { holds, key, value: value.to_string(), expected: expected.into() }
    }

    pub(crate) fn count(key: &'static str, value: u32, least: u32, most: u32) -> Bound {
        let expected = format!("a whole number from {least} to {most}");
        Bound::new((least..=most).contains(&value), key, value, expected)
    }

    pub(crate) fn real(key: &'static str, value: f64, most: f64) -> Bound {
        let expected = format!("a number above 0, at most {most}");
        Bound::new(value > 0.0 && value <= most, key, value, expected)
    }

    pub(crate) fn not_negative(key: &'static str, value: f64) -> Bound {
        Bound::new((0.0..=1e6).contains(&value), key, value, "a number from 0 to 1000000")
    }

    pub(crate) fn share(key: &'static str, value: f64) -> Bound {
        Bound::new((0.0..=1.0).contains(&value), key, value, "a number from 0 to 1")
    }

    /// What an exponential moving average keeps of itself.
    pub(crate) fn decay(key: &'static str, value: f64) -> Bound {
        Bound::new(
            (0.0..1.0).contains(&value),
            key,
            value,
            "a number from 0 to less than 1, where it would never learn",
        )
    }
}

/// Reads the rules that a config file names.
///
/// # Errors
/// A rules file that cannot be read or is refused.
pub fn load_rules(config: &Path, rules: &str) -> Result<Rules, ConfigError> {
    if rules == "iron-throne" {
        return Ok(Rules::iron_throne());
    }
    let folder = config.parent().unwrap_or(Path::new(""));
    read_rules(&folder.join(rules)).map_err(|error| ConfigError::Parse {
        path: config.to_path_buf(),
        reason: format!("`run.rules`: {error}"),
    })
}

/// Reads a rules file.
///
/// # Errors
/// A file that cannot be read or is refused.
pub fn read_rules(path: &Path) -> Result<Rules, ConfigError> {
    Rules::from_toml(&read(path)?)
        .map_err(|source| ConfigError::Rules { path: path.to_path_buf(), source })
}

fn read(path: &Path) -> Result<String, ConfigError> {
    fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })
}

/// The plain values in a table by their whole keys.
fn collect_values(key: String, value: toml::Value, into: &mut BTreeMap<String, toml::Value>) {
    let toml::Value::Table(table) = value else {
        into.insert(key, value);
        return;
    };
    for (name, value) in table {
        let key = if key.is_empty() { name } else { format!("{key}.{name}") };
        collect_values(key, value, into);
    }
}

/// One line for an error in the config, with the nearest key for an unknown one.
fn explain(path: &str, error: &toml::de::Error) -> String {
    let message = one_line::flattened(error.message());
    let place = if path == "." { String::new() } else { format!("`{path}`: ") };
    let nearest = unknown_key(&message).and_then(|(unknown, known)| nearest(unknown, &known));
    match nearest {
        Some(nearest) => format!("{place}{message}; did you mean `{nearest}`?"),
        None => format!("{place}{message}"),
    }
}

/// The unknown key of serde's message, and the keys that it expected.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let (_, rest) = message.split_once("unknown field `")?;
    let mut quoted = rest.split('`');
    let unknown = quoted.next()?;
    Some((unknown, quoted.skip(1).step_by(2).collect()))
}
