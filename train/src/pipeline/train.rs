//! The loop: self-play, a shard, learning, a checkpoint, round after round.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::bail;
use cyvasse_env::Rules;
use cyvasse_models::optim::Optimizer;
use cyvasse_models::{Net, checkpoint};
use cyvasse_selfplay::play::{Resignation, SelfPlay};
use cyvasse_selfplay::replay::{Shard, ShardHeader, write_shard};
use cyvasse_selfplay::{GameRecord, Purpose, derive};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tch::Device;

use super::gate::{self, Champion};
use super::progress::Reporter;
use super::progress_file::WorkEnd;
use super::run_dir::{RunDir, io_error};
use super::state::State;
use super::{finale, games, metrics, setups};
use crate::checkpoints::{PLAY_NET, made_for};
use crate::config::{Config, load_rules, read_rules};
use crate::learning::{Losses, Trainer, TrainingRound, Window, samples_of};
use crate::setups::SetupLearner;
use crate::{device, one_line};

/// How a run is to be started.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The config file.
    pub config: PathBuf,
    /// The run directory; `runs/NAME` for a config file `NAME.toml` if absent.
    pub run_dir: Option<PathBuf>,
    /// Whether to go on with a run that is there.
    pub resume: bool,
}

/// How a call of [`train`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All rounds and the matches at the end are played.
    Finished,
    /// It was told to stop.
    Stopped,
}

/// A run between two rounds.
pub(super) struct Run<'a> {
    pub(super) config: Config,
    pub(super) rules: Arc<Rules>,
    pub(super) dir: RunDir,
    pub(super) reporter: Reporter,
    pub(super) pool: ThreadPool,
    pub(super) stop: &'a AtomicBool,
    pub(super) trainer: Trainer,
    pub(super) selfplay: SelfPlay,
    /// Who plays instead of the newest network, where there is a gate.
    pub(super) champion: Option<Champion>,
    pub(super) resignation: Resignation,
    /// `None` where all setups are uniform.
    pub(super) setups: Option<SetupLearner>,
    pub(super) window: Window,
    /// The shards so far, oldest first: their rounds and positions.
    pub(super) shards: Vec<(u32, u64)>,
    /// For the metrics.
    pub(super) numbers: metrics::Numbers,
    /// Rounds that lie behind.
    pub(super) round: u32,
}

/// Trains as the options say, until the rounds are played or `stop` is set.
/// A stopped run is consistent: its last whole round is saved, and a resumed
/// run equals one that was never stopped.
///
/// # Errors
/// A config, a run directory or a file of the run that cannot be used; a
/// failure of training or self-play.
pub fn train(options: &RunOptions, stop: &AtomicBool) -> anyhow::Result<RunEnd> {
    // Workers have one thread each; more would get into each other's way.
    tch::set_num_threads(1);
    let mut run = if options.resume { resume(options, stop)? } else { start(options, stop)? };
    let end = to_the_end(&mut run, options);
    run.reporter.end(match &end {
        Ok(RunEnd::Finished) => WorkEnd::Finished,
        Ok(RunEnd::Stopped) => WorkEnd::Stopped,
        Err(error) => WorkEnd::Failed(one_line::told(error)),
    });
    end
}

fn to_the_end(run: &mut Run<'_>, options: &RunOptions) -> anyhow::Result<RunEnd> {
    while run.round < run.config.run.rounds {
        if !run.play_round()? {
            run.reporter.say(&format!(
                "stopped after round {}; go on with `cyvasse train {} --run-dir {} --resume`",
                run.round,
                options.config.display(),
                run.dir.path().display()
            ));
            return Ok(RunEnd::Stopped);
        }
    }
    finale::evaluate(run)
}

fn run_path(options: &RunOptions) -> PathBuf {
    let name = options.config.file_stem().unwrap_or_default();
    options.run_dir.clone().unwrap_or_else(|| Path::new("runs").join(name))
}

/// Starts a new run.
fn start<'a>(options: &RunOptions, stop: &'a AtomicBool) -> anyhow::Result<Run<'a>> {
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
    begin(config, rules, dir, stop)
}

/// Makes the untrained network and the first games of a run, and saves them.
fn begin(
    config: Config,
    rules: Arc<Rules>,
    dir: RunDir,
    stop: &AtomicBool,
) -> anyhow::Result<Run<'_>> {
    let seed = derive(config.run.seed, Purpose::Weights, &[]);
    let device = device::find(config.run.device)?;
    let net = Net::new(&config.net(), seed, device)?;
    let average = net.copy();
    let optimizer = Optimizer::new(&config.training.optimizer, net.trainable_variables())?;
    let (search, games) = (config.search.clone(), config.games.clone());
    let (slots, seed) = (config.selfplay.slots, config.run.seed);
    let selfplay = SelfPlay::new(rules.clone(), search, games, slots, seed);
    let setups = setups::begin(&config, &dir, &rules, device)?;
    let trainer = Trainer::new(net, average, optimizer, config.training.clone(), rules.clone());
    let mut run = assemble(config, rules, dir, stop, trainer, selfplay)?;
    run.setups = setups;
    run.champion = gate::begin(&run.config.gate, &run.trainer.average);
    run.save()?;
    Ok(run)
}

/// Goes on with a run after its last whole round.
fn resume<'a>(options: &RunOptions, stop: &'a AtomicBool) -> anyhow::Result<Run<'a>> {
    let dir = RunDir::open(&run_path(options))?;
    let (config, rules) = stored_config(&dir)?;
    check_unchanged(options, &dir, &config, &rules)?;
    let Some(round) = dir.newest_state()? else {
        dir.settle(None)?;
        return begin(config, rules, dir, stop);
    };
    // Everything is read before anything is removed.
    let state = State::load(&dir.state(round), &rules)?;
    let device = device::find(config.run.device)?;
    let (average, of_average) = play_net(&dir.checkpoint(round), &rules, device)?;
    let (net, of_net) = play_net(&dir.state(round), &rules, device)?;
    let mut optimizer = Optimizer::new(&config.training.optimizer, net.trainable_variables())?;
    optimizer.restore(&state.optimizer)?;
    let expected = optimizer.steps();
    for (folder, found) in [(dir.checkpoint(round), of_average), (dir.state(round), of_net)] {
        if found != expected {
            let path = folder.join(PLAY_NET);
            bail!("{} is of step {found}, the run's state of step {expected}", path.display());
        }
    }
    let slots: Vec<u32> = state.games.iter().map(|game| game.id.slot).collect();
    if !slots.iter().copied().eq(0..config.selfplay.slots) {
        bail!("{} does not have one game for each slot", dir.state(round).display());
    }
    let (search, games) = (config.search.clone(), config.games.clone());
    let selfplay = SelfPlay::resume(rules.clone(), search, games, state.games, config.run.seed)?;
    let setups = setups::resume(&config, &dir, round, &rules, device)?;
    let trainer = Trainer::new(net, average, optimizer, config.training.clone(), rules.clone());
    let mut run = assemble(config, rules, dir, stop, trainer, selfplay)?;
    run.setups = setups;
    run.champion = gate::resume(&run.config.gate, &run.dir, round, |best| {
        play_net(&run.dir.checkpoint(best), &run.rules, device)
    })?;
    (run.round, run.shards) = (round, state.shards);
    run.reload_window()?;
    run.reload_resignation()?;
    run.dir.settle(Some(round))?;
    run.dir.settle_metrics(round)?;
    run.reporter.say(&format!("resuming after round {round}"));
    Ok(run)
}

/// A play network in a folder and the optimiser steps that made it.
fn play_net(folder: &Path, rules: &Rules, device: Device) -> anyhow::Result<(Net, u64)> {
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
    let differs = |file: &Path, own: &str| -> anyhow::Result<()> {
        let (file, own) = (file.display(), dir.file(own));
        bail!(
            "{file} differs from {}: a run goes on as it began; undo the change or start a new run",
            own.display()
        )
    };
    let path = &options.config;
    let text = fs::read_to_string(path).map_err(io_error("read", path))?;
    if Config::parse(path, &text)? != *config {
        return differs(path, "config.toml");
    }
    // The run has its own copy of the rules: the named file may be gone.
    match load_rules(path, &config.run.rules) {
        Ok(named) if named.fingerprint() != rules.fingerprint() => {
            return differs(Path::new(&config.run.rules), "rules.toml");
        }
        _ => {}
    }
    match setups::edited_fixed_file(config, path, dir, rules)? {
        Some(edited) => differs(&edited, setups::FIXED),
        None => Ok(()),
    }
}

fn stored_config(dir: &RunDir) -> anyhow::Result<(Config, Arc<Rules>)> {
    let path = dir.file("config.toml");
    let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
    let config = Config::parse(&path, &text)?;
    let rules = read_rules(&dir.file("rules.toml"))?;
    Ok((config, Arc::new(rules)))
}

fn assemble(
    config: Config,
    rules: Arc<Rules>,
    dir: RunDir,
    stop: &AtomicBool,
    trainer: Trainer,
    selfplay: SelfPlay,
) -> anyhow::Result<Run<'_>> {
    let reporter = Reporter::with_log(&dir.file("log.txt"))?;
    let workers = config.selfplay.workers as usize;
    // The threads live as long as the run: libtorch keeps memory for each.
    let pool = ThreadPoolBuilder::new().num_threads(workers).build()?;
    let window = Window::new(config.training.window_positions as usize);
    let resignation = Resignation::new(config.games.resignation.clone(), config.run.seed);
    reporter.say(&format!(
        "run {}: {} rounds, rules `{}`, {} weights, {workers} workers",
        dir.path().display(),
        config.run.rounds,
        rules.name,
        trainer.net.weight_count()
    ));
    Ok(Run {
        config,
        rules,
        dir,
        reporter,
        pool,
        stop,
        trainer,
        selfplay,
        champion: None,
        resignation,
        setups: None,
        window,
        shards: Vec::new(),
        numbers: metrics::Numbers::default(),
        round: 0,
    })
}

impl Run<'_> {
    /// Plays and learns for a round; `false` when it was stopped. What a
    /// stopped round has written is removed when the run is resumed.
    fn play_round(&mut self) -> anyhow::Result<bool> {
        let started = Instant::now();
        let round = self.round + 1;
        let pool = setups::pool(self, round)?;
        let games = games::play(self, round, &pool)?;
        if self.stopped() {
            return Ok(false);
        }
        let mut report = setups::observe(self, &games)?;
        if !games.is_empty() {
            let header = ShardHeader::new(&self.rules, self.config.run.seed, round);
            write_shard(self.dir.shard(round), &header, &games)?;
            let positions = self.load_shard(round)?;
            self.shards.push((round, positions));
        }
        self.resignation.learn(&games);
        let losses = self.learn(round)?;
        if !self.stopped() {
            setups::learn(self, &games, &pool, round, &mut report)?;
        }
        let gate = if self.stopped() { None } else { gate::test(self, round)? };
        if self.stopped() {
            return Ok(false);
        }
        if gate.as_ref().is_some_and(|gate| gate.promoted) {
            let step = self.trainer.optimizer.steps();
            self.champion = Some(Champion { net: self.trainer.average.copy(), round, step });
        }
        self.round = round;
        metrics::write(self, &games, losses, &report, gate.as_ref(), started.elapsed())?;
        self.save()?;
        Ok(true)
    }

    /// The network that plays in self-play.
    pub(super) fn playing_net(&self) -> &Net {
        self.champion.as_ref().map_or(&self.trainer.average, |champion| &champion.net)
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Share of the rounds before the last that lie behind when a round begins.
    pub(super) fn run_share(&self, round: u32) -> f64 {
        f64::from(round - 1) / f64::from((self.config.run.rounds - 1).max(1))
    }

    /// Adds the games of a round's shard to the window; returns the number of
    /// their positions.
    fn load_shard(&mut self, round: u32) -> anyhow::Result<u64> {
        let shard = Shard::open(self.dir.shard(round), &self.rules)?;
        let samples = samples_of(&shard, self.config.training.value_lambda)?;
        let positions = samples.len() as u64;
        if shard.header().shard != round {
            bail!("{} is the shard of round {}", shard.path().display(), shard.header().shard);
        }
        self.window.extend(samples);
        Ok(positions)
    }

    /// The optimiser steps that the positions so far entitle to, less those
    /// that were taken.
    fn steps_due(&self) -> u64 {
        let training = &self.config.training;
        let positions: u64 = self.shards.iter().map(|&(_, positions)| positions).sum();
        let samples = positions as f64 * training.samples_per_position;
        let steps = (samples / f64::from(training.batch_size)) as u64;
        steps.saturating_sub(self.trainer.optimizer.steps())
    }

    /// Trains on the window, in proportion to its new positions.
    /// `None` where no step is due.
    fn learn(&mut self, round: u32) -> anyhow::Result<Option<Losses>> {
        let steps = self.steps_due();
        if self.window.is_empty() || steps == 0 {
            return Ok(None);
        }
        let training = &self.config.training;
        let plan = TrainingRound {
            steps,
            run_share: self.run_share(round),
            seed: derive(self.config.run.seed, Purpose::Samples, &[u64::from(round)]),
            stop: self.stop,
        };
        let batch_size = f64::from(training.batch_size);
        tch::set_num_threads(training.threads as i32);
        let mut stage = self.reporter.stage("learning", steps);
        let mut step = 0;
        let result = self.trainer.train(&self.window, plan, |losses| {
            step += 1;
            let rate = step as f64 * batch_size / stage.seconds().max(1e-9);
            let Losses { policy, value } = losses;
            let detail = format!("policy {policy:.3}, value {value:.3}, {rate:.0} samples/s");
            stage.update(step, &detail);
        });
        tch::set_num_threads(1);
        let losses = result?;
        if self.stopped() {
            return Ok(Some(losses));
        }
        let seconds = stage.seconds();
        stage.finish(&format!(
            "round {round}: {step} steps in {seconds:.0} s, loss: policy {:.3}, value {:.3}",
            losses.policy, losses.value
        ));
        Ok(Some(losses))
    }

    /// Saves the checkpoint and then the state of the round that lies behind.
    fn save(&self) -> anyhow::Result<()> {
        let (dir, round) = (&self.dir, self.round);
        let step = self.trainer.optimizer.steps();
        dir.write_folder::<anyhow::Error>(&dir.checkpoint(round), |folder| {
            let made_for = made_for(&self.rules);
            checkpoint::save(&folder.join(PLAY_NET), &self.trainer.average, &made_for, step)?;
            setups::save_checkpoint(self, folder)
        })?;
        let state = State {
            optimizer: self.trainer.optimizer.state(),
            shards: self.shards.clone(),
            games: self.selfplay.unfinished(),
        };
        dir.write_folder::<anyhow::Error>(&dir.state(round), |folder| {
            state.save(folder)?;
            checkpoint::save(
                &folder.join(PLAY_NET),
                &self.trainer.net,
                &made_for(&self.rules),
                step,
            )?;
            gate::save(self, folder)?;
            setups::save_state(self, folder)
        })?;
        Ok(dir.settle(Some(round))?)
    }

    /// Fills the window from the shards, from the oldest that it still reaches.
    fn reload_window(&mut self) -> anyhow::Result<()> {
        let shards = self.shards.clone();
        let mut first = shards.len();
        let mut reach = 0;
        while first > 0 && reach < u64::from(self.config.training.window_positions) {
            first -= 1;
            reach += shards[first].1;
        }
        for &(round, expected) in &shards[first..] {
            let positions = self.load_shard(round)?;
            if positions != expected {
                let shard = self.dir.shard(round);
                bail!("{} has {positions} positions, not {expected}", shard.display());
            }
        }
        Ok(())
    }

    /// Learns the threshold of resignation anew, from as many of the newest
    /// games as count for it.
    fn reload_resignation(&mut self) -> anyhow::Result<()> {
        let mut shards = Vec::new();
        let mut players = 0;
        for &(round, _) in self.shards.iter().rev() {
            if self.config.games.resignation.false_positives == 0.0
                || players >= Resignation::REMEMBERED
            {
                break;
            }
            let shard = Shard::open(self.dir.shard(round), &self.rules)?;
            let games = (0..shard.game_count()).map(|game| shard.game(game));
            let games = games.collect::<Result<Vec<GameRecord>, _>>()?;
            players +=
                2 * games.iter().filter(|game| self.resignation.is_played_on(game.id)).count();
            shards.push(games);
        }
        shards.iter().rev().for_each(|games| self.resignation.learn(games));
        Ok(())
    }
}
