//! How a run begins, and how one goes on that was stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, anyhow, bail};
use cyvasse_env::Rules;
use cyvasse_models::checkpoint::{self, CheckpointError};
use cyvasse_models::optim::Optimizer;
use cyvasse_models::{Net, TensorFileError};
use cyvasse_selfplay::play::{Resignation, SelfPlay};
use rayon::ThreadPoolBuilder;
use tch::Device;

use super::data::{self, Data};
use super::files::io_error;
use super::gate::{self, Champion};
use super::inbox::Inbox;
use super::progress::Reporter;
use super::run_dir::RunDir;
use super::sealed::SealedError;
use super::state::State;
use super::train::{Run, RunOptions};
use super::{metrics, setups};
use crate::checkpoints::{PLAY_NET, made_for};
use crate::config::{Config, load_rules, read_rules};
use crate::learning::Trainer;
use crate::setups::SetupLearner;
use crate::{device, one_line};

fn run_path(options: &RunOptions) -> PathBuf {
    let name = options.config.file_stem().unwrap_or_default();
    options.run_dir.clone().unwrap_or_else(|| Path::new("runs").join(name))
}

/// Starts a new run.
pub(super) fn start<'a>(options: &RunOptions, stop: &'a AtomicBool) -> anyhow::Result<Run<'a>> {
    let (config, rules) = Config::load(&options.config)?;
    device::find(config.run.device)?;
    let (config_text, rules_text) = (config.to_toml(), rules.to_toml());
    let fixed = setups::fixed_file(&config, &options.config, &rules)?;
    let mut files = vec![
        ("config.toml", config_text.as_str()),
        ("rules.toml", rules_text.as_str()),
        ("version.txt", concat!(env!("CARGO_PKG_VERSION"), "\n")),
    ];
    files.extend(fixed.as_ref().map(|(name, text)| (*name, text.as_str())));
    let dir = RunDir::create(&run_path(options), &files)?;
    begin(options, config, rules, dir, stop)
}

/// Makes the untrained network and the first games of a run, and saves them.
fn begin<'a>(
    options: &RunOptions,
    config: Config,
    rules: Arc<Rules>,
    dir: RunDir,
    stop: &'a AtomicBool,
) -> anyhow::Result<Run<'a>> {
    let device = device::find(config.run.device)?;
    let trainer = Trainer::untrained(&config, &rules, device)?;
    let (search, games) = (config.search.clone(), config.games.clone());
    let (slots, seed) = (config.selfplay.slots, config.run.seed);
    let selfplay = SelfPlay::new(rules.clone(), search, games, 0..slots, seed);
    let setups = setups::begin(&config, &dir, &rules, device)?;
    let champion = gate::begin(&config.gate, &trainer.average);
    let saved = Saved {
        round: 0,
        trainer,
        selfplay,
        champion,
        setups,
        shards: Vec::new(),
        lost: BTreeSet::new(),
        oldest: 0,
        taken: BTreeMap::new(),
    };
    let mut run = assemble(options, config, rules, dir, stop, saved)?;
    run.save()?;
    Ok(run)
}

/// Goes on with a run after its last whole round, or after the one before if what
/// was saved of that is damaged.
pub(super) fn resume<'a>(options: &RunOptions, stop: &'a AtomicBool) -> anyhow::Result<Run<'a>> {
    let dir = RunDir::open(&run_path(options))?;
    let (config, rules) = stored_config(&dir)?;
    check_unchanged(options, &dir, &config, &rules)?;
    if dir.states()?.is_empty() {
        // Killed before anything was saved: there is nothing to lose.
        dir.check_that_nothing_is_there()?;
        dir.settle(None)?;
        dir.settle_metrics(0)?;
        return begin(options, config, rules, dir, stop);
    }
    // Everything is read before anything is moved or removed.
    let (saved, damaged) = newest_sound(&config, &rules, &dir)?;
    let (round, oldest) = (saved.round, saved.oldest);
    let mut run = assemble(options, config, rules, dir, stop, saved)?;
    for (of, error) in damaged {
        for folder in [run.dir.state(of), run.dir.checkpoint(of)] {
            if folder.exists() {
                run.dir.set_aside(&folder)?;
            }
        }
        run.reporter.say(&format!(
            "what was saved of round {of} is set aside, and the round done again: {}",
            one_line::told(&error)
        ));
    }
    for path in run.dir.strangers(round)? {
        let aside = run.dir.set_aside(&path)?;
        run.reporter.say(&format!("{} is no part of this run; it is {aside}", path.display()));
    }
    data::reload(&mut run, oldest)?;
    data::reload_resignation(&mut run)?;
    run.dir.settle(Some(round))?;
    run.dir.remove_leftovers()?;
    run.dir.settle_metrics(round)?;
    run.reporter.say(&format!("resuming after round {round}"));
    Ok(run)
}

/// A round as it was saved.
struct Saved {
    round: u32,
    trainer: Trainer,
    selfplay: SelfPlay,
    champion: Option<Champion>,
    setups: Option<SetupLearner>,
    shards: Vec<(u32, u64)>,
    lost: BTreeSet<u32>,
    oldest: u32,
    taken: BTreeMap<u32, u32>,
}

/// The newest round of which all is sound that was saved, and newer ones that are
/// damaged. What is wrong in another way than by damage is an error.
fn newest_sound(
    config: &Config,
    rules: &Arc<Rules>,
    dir: &RunDir,
) -> anyhow::Result<(Saved, Vec<(u32, anyhow::Error)>)> {
    let mut damaged = Vec::new();
    for round in dir.states()? {
        match load(config, rules, dir, round) {
            Ok(saved) => return Ok((saved, damaged)),
            Err(error) if is_damage(&error) => damaged.push((round, error)),
            Err(error) => return Err(error),
        }
    }
    let newest = damaged.into_iter().next().map(|(_, error)| error);
    let newest = newest.unwrap_or_else(|| anyhow!("{} has no state", dir.path().display()));
    Err(newest.context("no round of the run is saved undamaged, so that it cannot go on"))
}

/// Whether a file is missing or not as it was written.
pub(super) fn is_damage(error: &anyhow::Error) -> bool {
    let of_tensors = |error: &TensorFileError| {
        matches!(error, TensorFileError::Malformed { .. } | TensorFileError::Checksum { .. })
    };
    error.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(SealedError::Damaged(_)))
            || cause.downcast_ref::<TensorFileError>().is_some_and(of_tensors)
            || cause.downcast_ref::<CheckpointError>().is_some_and(
                |error| matches!(error, CheckpointError::File(error) if of_tensors(error)),
            )
            || cause
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    })
}

/// Reads a round as it was saved.
fn load(config: &Config, rules: &Arc<Rules>, dir: &RunDir, round: u32) -> anyhow::Result<Saved> {
    let State { optimizer, shards, lost, oldest, taken, games, .. } =
        State::load(&dir.state(round), rules)?;
    let device = device::find(config.run.device)?;
    let (average, of_average) = play_net(&dir.checkpoint(round), rules, device)?;
    let (net, of_net) = play_net(&dir.state(round), rules, device)?;
    let saved_optimizer = optimizer;
    let mut optimizer = Optimizer::new(&config.training.optimizer, net.trainable_variables())?;
    optimizer.restore(&saved_optimizer)?;
    let expected = optimizer.steps();
    for (folder, found) in [(dir.checkpoint(round), of_average), (dir.state(round), of_net)] {
        if found != expected {
            let path = folder.join(PLAY_NET);
            bail!("{} is of step {found}, the run's state of step {expected}", path.display());
        }
    }
    let slots: Vec<u32> = games.iter().map(|game| game.id.slot).collect();
    if !slots.iter().copied().eq(0..config.selfplay.slots) {
        bail!("{} does not have one game for each slot", dir.state(round).display());
    }
    let (search, settings) = (config.search.clone(), config.games.clone());
    let selfplay = SelfPlay::resume(rules.clone(), search, settings, games, config.run.seed)?;
    let setups = setups::resume(config, dir, round, rules, device)?;
    let champion = gate::resume(&config.gate, dir, round, |best| {
        play_net(&dir.checkpoint(best), rules, device)
    })?;
    let trainer = Trainer::new(net, average, optimizer, config.training.clone(), rules.clone());
    Ok(Saved { round, trainer, selfplay, champion, setups, shards, lost, oldest, taken })
}

/// A play network in a folder and the optimiser steps that made it.
pub(super) fn play_net(folder: &Path, rules: &Rules, device: Device) -> anyhow::Result<(Net, u64)> {
    let path = folder.join(PLAY_NET);
    let (net, header) = checkpoint::load::<Net>(&path, &made_for(rules), device)?;
    Ok((net, header.step))
}

/// Refuses a config, rules or setups file that says something else than the run's own.
fn check_unchanged(
    options: &RunOptions,
    dir: &RunDir,
    config: &Config,
    rules: &Rules,
) -> anyhow::Result<()> {
    let differs = |file: &Path, own: &str, keys: &str| -> anyhow::Result<()> {
        let (file, own) = (file.display(), dir.file(own));
        bail!(
            "{file} differs from {}{keys}: a run goes on as it began; undo the change or start a new run",
            own.display()
        )
    };
    let path = &options.config;
    let text = fs::read_to_string(path).map_err(io_error("read", path))?;
    let named = Config::parse(path, &text)?;
    if named != *config {
        let keys = named.differences(config).join(", ");
        return differs(path, "config.toml", &format!(" in {keys}"));
    }
    // The run has its own copy of the rules: the named file may be gone.
    match load_rules(path, &config.run.rules) {
        Ok(named) if named.fingerprint() != rules.fingerprint() => {
            return differs(Path::new(&config.run.rules), "rules.toml", "");
        }
        _ => {}
    }
    match setups::edited_fixed_file(config, path, dir, rules)? {
        Some(edited) => differs(&edited, setups::FIXED, ""),
        None => Ok(()),
    }
}

pub(super) fn stored_config(dir: &RunDir) -> anyhow::Result<(Config, Arc<Rules>)> {
    let path = dir.file("config.toml");
    let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
    let config = Config::parse(&path, &text)
        .context("the run's own config is not one of this version of the program")?;
    let rules = read_rules(&dir.file("rules.toml"))?;
    Ok((config, Arc::new(rules)))
}

fn assemble<'a>(
    options: &RunOptions,
    config: Config,
    rules: Arc<Rules>,
    dir: RunDir,
    stop: &'a AtomicBool,
    saved: Saved,
) -> anyhow::Result<Run<'a>> {
    let reporter = Reporter::with_log(&dir.file("log.txt"), options.learner)?;
    let workers = config.selfplay.workers as usize;
    // The threads live as long as the run: libtorch keeps memory for each.
    let pool = ThreadPoolBuilder::new().num_threads(workers).build()?;
    let resignation = Resignation::new(config.games.resignation.clone(), config.run.seed);
    let Saved { round, trainer, selfplay, champion, setups, shards, lost, taken, .. } = saved;
    let mut data = Data::new(&config, &rules);
    (data.shards, data.lost) = (shards, lost);
    reporter.say(&format!(
        "run {}: {} rounds, rules `{}`, {} weights, {workers} workers",
        dir.path().display(),
        config.run.rounds,
        rules.name,
        trainer.net.weight_count()
    ));
    let inbox = options.learner.then(|| Inbox::new(&taken));
    Ok(Run {
        config,
        rules,
        dir,
        reporter,
        pool,
        stop,
        trainer,
        selfplay,
        champion,
        resignation,
        setups,
        data,
        inbox,
        taken,
        numbers: metrics::Numbers::default(),
        round,
    })
}
