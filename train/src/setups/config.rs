//! The section `[setups]` of a training config; `configs/quick.toml` explains it.

use cyvasse_models::optim::OptimizerConfig;
use cyvasse_models::{SETUP_ENCODING_VERSION, SetupNetConfig};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::Bound;

/// The most evaluations by the critic that a seat's samples may ask for in a round.
const MAX_EVALUATIONS: u64 = 1 << 24;

/// Where setups come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SetupsConfig {
    /// All setups are drawn uniformly; nothing is learned about them.
    Uniform {},
    /// A setup network learns beside the play network.
    Learned(Box<LearnedSetups>),
}

impl<'de> Deserialize<'de> for SetupsConfig {
    /// By hand, for a derived one does not know where in its section an error is.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SetupsConfig, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Uniform,
            Learned,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Uniform {}

        let mut section = toml::Table::deserialize(deserializer)?;
        let kind = section.remove("kind").ok_or_else(|| D::Error::missing_field("kind"))?;
        match kind.try_into().map_err(D::Error::custom)? {
            Kind::Uniform => rest_of(section).map(|Uniform {}| SetupsConfig::Uniform {}),
            Kind::Learned => rest_of(section).map(SetupsConfig::Learned),
        }
    }
}

/// A section without its kind.
fn rest_of<T: DeserializeOwned, E: Error>(section: toml::Table) -> Result<T, E> {
    serde_path_to_error::deserialize(section).map_err(|error| match error.path().to_string() {
        path if path == "." => E::custom(error.inner()),
        path => E::custom(format!("`{path}`: {}", error.inner())),
    })
}

/// How setups are learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnedSetups {
    /// Rounds at the beginning that are played with uniform setups alone.
    pub uniform_rounds: u32,
    /// Setups sampled from the network before each round, for each seat.
    pub samples_per_seat: u32,
    /// Earlier networks that the `past` source samples, drawn anew each round.
    pub past_networks: u32,
    /// A file of setups for the `fixed` source; empty for none.
    pub fixed_file: String,
    /// What setups are taught by.
    pub targets: Targets,
    /// Opponents that a setup is valued against, from all sources.
    pub opponents: u32,
    /// Weight of the correction by real results, 0 to 1.
    pub result_weight: f64,
    /// Times that a round's setups are gone through.
    pub epochs: u32,
    /// Setups of an optimiser step.
    pub batch_setups: u32,
    /// The highest learning rate.
    pub learning_rate: f64,
    /// What is left of it in the last round.
    pub final_rate_share: f64,
    /// How far from 1 a token's ratio of probabilities is still rewarded.
    pub clip: f64,
    /// Weight of the divergence KL(new||old).
    pub kl_weight: f64,
    /// Weight of the joint entropy in the first round.
    pub entropy_bonus: f64,
    /// Its weight in the last round.
    pub final_entropy_bonus: f64,
    /// Share of the uniform distribution's entropy below which the bonus is
    /// raised.
    pub entropy_floor: f64,
    /// The longest gradient that is not shortened.
    pub gradient_norm: f64,
    /// What the averaged network keeps of itself at each optimiser step.
    pub average_decay: f64,
    /// The network.
    pub network: SetupNetworkConfig,
    /// The sources' shares of setups in self-play.
    pub shares: SourceShares,
    /// The rule by which weights change.
    pub optimizer: OptimizerConfig,
}

/// What setups are taught by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Targets {
    /// The play network's value against sampled opponents, corrected by results.
    Value,
    /// The results of games alone.
    Result,
}

/// Shape of the setup network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupNetworkConfig {
    /// Width of the hidden layers.
    pub width: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Whether a homeland is mirrored by the toss of a coin once it is built.
    pub mirror: bool,
}

/// Shares of the sources of setups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceShares {
    /// Drawn uniformly.
    pub uniform: f64,
    /// From the network as it is.
    pub current: f64,
    /// From networks of earlier rounds.
    pub past: f64,
    /// From a file.
    pub fixed: f64,
}

impl LearnedSetups {
    /// The architecture of the setup network.
    #[must_use]
    pub fn net(&self) -> SetupNetConfig {
        let SetupNetworkConfig { width, blocks, mirror } = self.network;
        SetupNetConfig { encoding: SETUP_ENCODING_VERSION, width, blocks, mirror }
    }

    /// The bounds of the section in a run of so many rounds.
    pub(crate) fn bounds(&self, rounds: u32) -> Vec<Bound> {
        let SourceShares { uniform, current, past, fixed } = self.shares;
        let sum = uniform + current + past + fixed;
        let shares = [uniform, current, past, fixed];
        let evaluations = u64::from(self.samples_per_seat) * u64::from(self.opponents);
        vec![
            Bound::new(
                self.uniform_rounds < rounds,
                "setups.uniform_rounds",
                self.uniform_rounds,
                format!("fewer than the {rounds} of `run.rounds`, or no setup is learned"),
            ),
            Bound::count("setups.samples_per_seat", self.samples_per_seat, 2, 65_536),
            Bound::count("setups.past_networks", self.past_networks, 1, 1000),
            Bound::count("setups.opponents", self.opponents, 1, 65_536),
            Bound::new(
                evaluations <= MAX_EVALUATIONS,
                "setups.opponents",
                self.opponents,
                format!(
                    "at most {MAX_EVALUATIONS} with `setups.samples_per_seat` = {} multiplied",
                    self.samples_per_seat
                ),
            ),
            Bound::share("setups.result_weight", self.result_weight),
            Bound::count("setups.epochs", self.epochs, 1, 1000),
            Bound::count("setups.batch_setups", self.batch_setups, 2, 65_536),
            Bound::not_negative("setups.learning_rate", self.learning_rate),
            Bound::share("setups.final_rate_share", self.final_rate_share),
            Bound::real("setups.clip", self.clip, 1.0),
            Bound::not_negative("setups.kl_weight", self.kl_weight),
            Bound::not_negative("setups.entropy_bonus", self.entropy_bonus),
            Bound::not_negative("setups.final_entropy_bonus", self.final_entropy_bonus),
            Bound::share("setups.entropy_floor", self.entropy_floor),
            Bound::real("setups.gradient_norm", self.gradient_norm, 1e12),
            Bound::decay("setups.average_decay", self.average_decay),
            Bound::new(
                shares.iter().all(|share| (0.0..=1.0).contains(share)) && (sum - 1.0).abs() < 1e-6,
                "setups.shares",
                format!("{uniform} + {current} + {past} + {fixed}"),
                "shares from 0 to 1 with the sum 1",
            ),
            Bound::new(
                self.targets == Targets::Value || current > 0.0,
                "setups.shares.current",
                current,
                "above 0 where `setups.targets` is \"result\": only games with the network's \
                 own setups teach it then",
            ),
            Bound::new(
                (fixed > 0.0) != self.fixed_file.is_empty(),
                "setups.fixed_file",
                format!("{:?} with `setups.shares.fixed` = {fixed}", self.fixed_file),
                "the path of a file of setups where their share is not 0, else \"\"",
            ),
        ]
    }
}
