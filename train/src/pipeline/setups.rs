//! The setups' part of a round: the pool before the games, learning after them,
//! and what of it is kept.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use cyvasse_env::Rules;
use cyvasse_models::optim::Optimizer;
use cyvasse_models::{SetupNet, TensorFile, checkpoint};
use cyvasse_selfplay::{GameRecord, Purpose, SetupPool, Wdl, derive};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tch::Device;

use super::files::io_error;
use super::run_dir::RunDir;
use super::start::is_damage;
use super::train::Run;
use crate::checkpoints::{SETUP_NET, made_for};
use crate::config::Config;
use crate::setups::{
    Critic, LearnedSetups, NetCritic, Played, SetupLearner, SetupLosses, SetupTrainer,
    SetupsConfig, SourceStatistics, Start, Watcher, by_source, parse_setups, read_setups,
};

/// The run's own copy of the file of fixed setups.
pub(super) const FIXED: &str = "setups.txt";

/// The optimiser, in the folder of the state. Beside it lies the network that is
/// in training, under the name that the averaged one has in the checkpoint.
const OPTIMIZER: &str = "setup-optimizer.safetensors";

/// What a round's setups were like.
pub(super) struct SetupsReport {
    /// White's chances at the starts of the games, by the play network before it
    /// learned from them.
    chances: Vec<Wdl>,
    sources: Vec<SourceStatistics>,
    /// `None` where nothing was to be learned.
    losses: Option<SetupLosses>,
}

/// The file of fixed setups that a config asks for, as a file of the run
/// directory.
pub(super) fn fixed_file(
    config: &Config,
    config_path: &Path,
    rules: &Rules,
) -> anyhow::Result<Option<(&'static str, String)>> {
    let SetupsConfig::Learned(settings) = &config.setups else { return Ok(None) };
    if settings.fixed_file.is_empty() {
        return Ok(None);
    }
    let path = fixed_path(settings, config_path);
    let text = std::fs::read_to_string(&path).map_err(io_error("read", &path))?;
    parse_setups(&path, &text, rules)?;
    Ok(Some((FIXED, text)))
}

fn fixed_path(settings: &LearnedSetups, config_path: &Path) -> PathBuf {
    config_path.parent().unwrap_or(Path::new("")).join(&settings.fixed_file)
}

/// The file of fixed setups that a config names, if it says something else than the
/// run's own copy. It may be gone: the run has its copy.
pub(super) fn edited_fixed_file(
    config: &Config,
    config_path: &Path,
    dir: &RunDir,
    rules: &Rules,
) -> anyhow::Result<Option<PathBuf>> {
    let SetupsConfig::Learned(settings) = &config.setups else { return Ok(None) };
    if settings.fixed_file.is_empty() {
        return Ok(None);
    }
    let path = fixed_path(settings, config_path);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let own = read_setups(&dir.file(FIXED), rules)?;
    let same = parse_setups(&path, &text, rules).is_ok_and(|named| named == own);
    Ok((!same).then_some(path))
}

/// The learner of a new run; `None` where the config asks for uniform setups.
pub(super) fn begin(
    config: &Config,
    dir: &RunDir,
    rules: &Rules,
    device: Device,
) -> anyhow::Result<Option<SetupLearner>> {
    let SetupsConfig::Learned(settings) = &config.setups else { return Ok(None) };
    let seed = derive(config.run.seed, Purpose::SetupWeights, &[]);
    let net = SetupNet::new(&settings.net(), seed, device)?;
    let optimizer = Optimizer::new(&settings.optimizer, net.variables())?;
    let average = net.copy();
    let trainer = SetupTrainer::new(net, average, optimizer, (**settings).clone());
    learner(trainer, settings, config, dir, rules).map(Some)
}

/// The learner of a run that goes on after a round.
pub(super) fn resume(
    config: &Config,
    dir: &RunDir,
    round: u32,
    rules: &Rules,
    device: Device,
) -> anyhow::Result<Option<SetupLearner>> {
    let SetupsConfig::Learned(settings) = &config.setups else { return Ok(None) };
    let (average, of_average) = load(&dir.checkpoint(round), rules, device)?;
    let (net, of_net) = load(&dir.state(round), rules, device)?;
    let mut optimizer = Optimizer::new(&settings.optimizer, net.variables())?;
    optimizer.restore(&TensorFile::load(&dir.state(round).join(OPTIMIZER))?)?;
    let expected = optimizer.steps();
    let loaded = [(dir.checkpoint(round), &average, of_average), (dir.state(round), &net, of_net)];
    for (folder, net, step) in loaded {
        let path = folder.join(SETUP_NET);
        if step != expected {
            bail!("{} is of step {step}, the run's state of step {expected}", path.display());
        }
        let (found, asked) = (net.config(), settings.net());
        if *found != asked {
            bail!(
                "{} is a network of another shape than `setups.network` in the run's config.toml: \
                 {found:?}, not {asked:?}",
                path.display()
            );
        }
    }
    let trainer = SetupTrainer::new(net, average, optimizer, (**settings).clone());
    learner(trainer, settings, config, dir, rules).map(Some)
}

fn learner(
    trainer: SetupTrainer,
    settings: &LearnedSetups,
    config: &Config,
    dir: &RunDir,
    rules: &Rules,
) -> anyhow::Result<SetupLearner> {
    let fixed = if settings.fixed_file.is_empty() {
        Vec::new()
    } else {
        read_setups(&dir.file(FIXED), rules)?
    };
    Ok(SetupLearner::new(trainer, settings.clone(), rules, fixed, config.run.seed))
}

/// A setup network and the optimiser steps that made it.
fn load(folder: &Path, rules: &Rules, device: Device) -> anyhow::Result<(SetupNet, u64)> {
    let (net, header) =
        checkpoint::load::<SetupNet>(&folder.join(SETUP_NET), &made_for(rules), device)?;
    Ok((net, header.step))
}

/// The setups that the games of a round draw from.
pub(super) fn pool(run: &mut Run<'_>, round: u32) -> anyhow::Result<SetupPool> {
    supply(run.setups.as_mut(), &run.config, &run.dir, &run.rules, round)
}

/// The setups that the games of a round draw from, by a learner as it is after the
/// round before.
pub(super) fn supply(
    learner: Option<&mut SetupLearner>,
    config: &Config,
    dir: &RunDir,
    rules: &Rules,
    round: u32,
) -> anyhow::Result<SetupPool> {
    let Some(learner) = learner else { return Ok(SetupPool::uniform(rules)) };
    let device = learner.trainer.net.device();
    let seed = derive(config.run.seed, Purpose::SetupSupply, &[u64::from(round)]);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Those before the first lesson are there too: the untrained network, which is uniform.
    let mut rounds: Vec<u32> = (0..round).collect();
    let mut past = Vec::new();
    while past.len() < learner.past_networks(round) as usize && !rounds.is_empty() {
        let place = rng.random_range(0..rounds.len());
        match load(&dir.checkpoint(rounds[place]), rules, device) {
            Ok((net, _)) => past.push(net),
            // Old checkpoints may be gone, to save room; another one will do.
            Err(error) if is_damage(&error) => drop(rounds.swap_remove(place)),
            Err(error) => return Err(error),
        }
    }
    if past.is_empty() {
        past.push(learner.trainer.average.copy());
    }
    Ok(learner.pool(round, &past)?)
}

/// How the setups of each source fared in games that the play network has not
/// learned from yet.
pub(super) fn observe(run: &Run<'_>, games: &[GameRecord]) -> anyhow::Result<SetupsReport> {
    let starts: Vec<Start> = games.iter().map(|game| game.setups).collect();
    let chances = critic(run).chances(&starts)?;
    let sources = by_source(games, &chances);
    Ok(SetupsReport { chances, sources, losses: None })
}

fn critic<'a>(run: &'a Run<'_>) -> NetCritic<'a> {
    NetCritic::new(&run.trainer.average, run.rules.clone(), &run.pool)
}

/// Learns from a round's games and samples, after the play network has.
pub(super) fn learn(
    run: &mut Run<'_>,
    games: &[GameRecord],
    pool: &SetupPool,
    round: u32,
    report: &mut SetupsReport,
) -> anyhow::Result<()> {
    let run_share = run.run_share(round);
    let Run { setups: Some(learner), trainer, rules, pool: threads, stop, reporter, .. } = run
    else {
        return Ok(());
    };
    let started = Instant::now();
    let mut stage = reporter.stage("setups", 1);
    let mut tell = |what: &str, done, all| {
        stage.turn_to(what, all);
        stage.update(done, "setups of the round");
    };
    let mut watcher = Watcher::new(stop, &mut tell);
    let mut critic = NetCritic::new(&trainer.average, rules.clone(), threads);
    let played = Played { games, chances: &report.chances };
    report.losses = learner.learn(&mut critic, played, pool, round, run_share, &mut watcher)?;
    drop(watcher);
    stage.clear();
    let seconds = started.elapsed().as_secs_f64();
    reporter.say(&format!("round {round}: setups in {seconds:.0} s, {report}"));
    Ok(())
}

/// Saves the averaged network into the folder of a checkpoint.
pub(super) fn save_checkpoint(run: &Run<'_>, folder: &Path) -> anyhow::Result<()> {
    let Some(SetupLearner { trainer, .. }) = &run.setups else { return Ok(()) };
    save(&trainer.average, trainer, run, folder)
}

/// Saves what a resumed run needs beside into the folder of a state.
pub(super) fn save_state(run: &Run<'_>, folder: &Path) -> anyhow::Result<()> {
    let Some(SetupLearner { trainer, .. }) = &run.setups else { return Ok(()) };
    save(&trainer.net, trainer, run, folder)?;
    Ok(trainer.optimizer.state().save(&folder.join(OPTIMIZER))?)
}

fn save(
    net: &SetupNet,
    trainer: &SetupTrainer,
    run: &Run<'_>,
    folder: &Path,
) -> anyhow::Result<()> {
    let steps = trainer.optimizer.steps();
    Ok(checkpoint::save(&folder.join(SETUP_NET), net, &made_for(&run.rules), steps)?)
}

impl std::fmt::Display for SetupsReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut separator = "";
        if let Some(losses) = &self.losses {
            let [white, black] = losses.entropies;
            let [of_white, of_black] = losses.entropy_shares.map(|share| 100.0 * share);
            write!(f, "entropy {white:.1} and {black:.1} ({of_white:.0}% and {of_black:.0}% of ")?;
            write!(f, "uniform)")?;
            separator = "; ";
        }
        for of in &self.sources {
            write!(
                f,
                "{separator}{} {:.0}% of {}, {:.0} plies, value loss {:.2}",
                of.source.name(),
                100.0 * of.score,
                of.setups,
                of.plies,
                of.value_loss
            )?;
            separator = "; ";
        }
        Ok(())
    }
}

impl SetupsReport {
    /// The numbers for the metrics.
    pub(super) fn to_json(&self) -> Value {
        let sources = self.sources.iter().map(|of| {
            let numbers = json!({
                "setups": of.setups,
                "score": of.score,
                "plies": of.plies,
                "value_loss": of.value_loss,
            });
            (of.source.name().to_string(), numbers)
        });
        let learning = self.losses.as_ref().map(|losses| {
            json!({
                "setups": losses.setups,
                "entropies": by_seat(losses.entropies),
                "entropy_shares": by_seat(losses.entropy_shares),
                "entropy_bonuses": by_seat(losses.bonuses),
                "kl": losses.kl,
                "clipped": losses.clipped,
                "targets": by_seat(losses.targets),
                "target_deviation": losses.deviation,
            })
        });
        json!({ "sources": sources.collect::<serde_json::Map<_, _>>(), "learning": learning })
    }
}

/// Numbers for white and for black.
fn by_seat([white, black]: [f64; 2]) -> Value {
    json!({ "white": white, "black": black })
}
