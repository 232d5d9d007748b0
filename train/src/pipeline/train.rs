//! The loop: self-play, a shard, learning, a checkpoint, round after round.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cyvasse_env::Rules;
use cyvasse_models::checkpoint;
use cyvasse_selfplay::play::{Resignation, SelfPlay};
use rayon::ThreadPool;

use super::data::{self, Data};
use super::files::write_folder;
use super::gate::{self, Champion};
use super::inbox::{self, Inbox};
use super::progress::Reporter;
use super::progress_file::WorkEnd;
use super::run_dir::RunDir;
use super::state::State;
use super::{finale, games, learning, metrics, setups, start};
use crate::checkpoints::{PLAY_NET, made_for};
use crate::config::Config;
use crate::learning::Trainer;
use crate::setups::SetupLearner;

/// How a run is to be started.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The config file.
    pub config: PathBuf,
    /// The run directory; `runs/NAME` for a config file `NAME.toml` if absent.
    pub run_dir: Option<PathBuf>,
    /// Whether to go on with a run that is there.
    pub resume: bool,
    /// Whether to play no games but to learn from those of workers
    /// (see [`super::selfplay`]).
    pub learner: bool,
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
    pub(super) data: Data,
    /// Where games come from that workers have played; `None` where the run plays
    /// its own.
    pub(super) inbox: Option<Inbox>,
    /// The newest stint of each worker whose games are in the shards.
    pub(super) taken: BTreeMap<u32, u32>,
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
    let mut run =
        if options.resume { start::resume(options, stop)? } else { start::start(options, stop)? };
    let end = to_the_end(&mut run, options);
    run.reporter.end(WorkEnd::of(&end));
    end
}

fn to_the_end(run: &mut Run<'_>, options: &RunOptions) -> anyhow::Result<RunEnd> {
    while run.round < run.config.run.rounds {
        if !run.play_round()? {
            run.reporter.say(&format!(
                "stopped after round {}; go on with `cyvasse train {} --run-dir {} --resume{}`",
                run.round,
                options.config.display(),
                run.dir.path().display(),
                if options.learner { " --learner" } else { "" }
            ));
            return Ok(RunEnd::Stopped);
        }
    }
    finale::evaluate(run)
}

impl Run<'_> {
    /// Plays and learns for a round; `false` when it was stopped. What a
    /// stopped round has written is removed when the run is resumed.
    fn play_round(&mut self) -> anyhow::Result<bool> {
        let started = Instant::now();
        let round = self.round + 1;
        let pool = setups::pool(self, round)?;
        let games = games::of_round(self, round, &pool)?;
        if self.stopped() {
            return Ok(false);
        }
        let mut report = setups::observe(self, &games)?;
        let duplicates = data::add(self, round, &games)?;
        self.resignation.learn(&games);
        let learned = learning::learn(self, round, duplicates)?;
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
        metrics::write(self, &games, &learned, &report, gate.as_ref(), started.elapsed())?;
        self.save()?;
        Ok(true)
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Share of the rounds before the last that lie behind when a round begins.
    pub(super) fn run_share(&self, round: u32) -> f64 {
        f64::from(round - 1) / f64::from((self.config.run.rounds - 1).max(1))
    }

    /// Saves the checkpoint and then the state of the round that lies behind.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        let (dir, round) = (&self.dir, self.round);
        let step = self.trainer.optimizer.steps();
        write_folder::<anyhow::Error>(&dir.checkpoint(round), |folder| {
            let made_for = made_for(&self.rules);
            checkpoint::save(&folder.join(PLAY_NET), &self.trainer.average, &made_for, step)?;
            setups::save_checkpoint(self, folder)
        })?;
        let state = State {
            optimizer: self.trainer.optimizer.state(),
            shards: self.data.shards.clone(),
            lost: self.data.lost.clone(),
            oldest: self.data.window.oldest().unwrap_or(0),
            resign_below: self.resignation.threshold().get(),
            taken: self.taken.clone(),
            games: self.selfplay.unfinished(),
        };
        write_folder::<anyhow::Error>(&dir.state(round), |folder| {
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
        dir.settle(Some(round))?;
        inbox::settle(self)
    }
}
