//! `cyvasse selfplay`: a process that plays games for a run which another process
//! learns from.
//!
//! Worker and learner share nothing but the run directory. The worker plays each
//! stint with the newest network there and leaves its games in a folder of its own;
//! the learner takes them. Either may be started and stopped at any time.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use cyvasse_env::Rules;
use cyvasse_models::Net;
use cyvasse_selfplay::play::SelfPlay;
use cyvasse_selfplay::replay::{Shard, ShardHeader, write_shard};
use cyvasse_selfplay::{GameRecord, MoverValue, SetupPool};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::files::{io_error, remove_partial, try_lock, write_folder};
use super::games::{self, Table};
use super::progress::Reporter;
use super::progress_file::{ProgressNote, WorkEnd};
use super::run_dir::RunDir;
use super::sealed::{self, SealedError};
use super::state::ForWorkers;
use super::stints::{GAMES, UNFINISHED, stint_folder, stints_of, worker_folder, workers_folder};
use super::train::RunEnd;
use super::unfinished::GameText;
use super::{gate, setups, start};
use crate::config::{Config, MOST_SLOTS};
use crate::{device, one_line};

/// How a worker is to be started.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The run directory.
    pub run_dir: PathBuf,
    /// Threads that play; as many as the config says if absent.
    pub threads: Option<u32>,
}

/// Stints that the learner has not taken yet, when a worker waits for it: more would be
/// by ever older networks. But for their sake the learner must not lack a round's plies.
const MOST_STINTS: usize = 2;

/// The most workers at the same time.
const MOST_WORKERS: u32 = 9999;

/// How often a waiting worker looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A worker between two stints.
struct Worker<'a> {
    config: Config,
    rules: Arc<Rules>,
    run: RunDir,
    number: u32,
    folder: PathBuf,
    /// Nobody else is this worker.
    _lock: File,
    reporter: Reporter,
    pool: ThreadPool,
    stop: &'a AtomicBool,
    selfplay: SelfPlay,
    /// The newest stint; 0 before the first.
    stint: u32,
    /// Plies of the finished games of each stint that the learner has not taken yet.
    waiting: BTreeMap<u32, u64>,
    guide: Option<Guide>,
    /// Whether it waits for the learner, and has said so.
    waits: bool,
}

/// What a stint is played by.
struct Guide {
    /// The round that all of it was learned in.
    round: u32,
    net: Net,
    step: u64,
    setups: SetupPool,
    resign_below: MoverValue,
}

/// Plays games for a run until it has all its rounds or `stop` is set. What the worker
/// has not handed over when it is stopped or killed is played again, from the start of
/// the stint.
///
/// # Errors
/// A run directory that cannot be used, a failure of self-play, a refusal of the
/// system.
pub fn selfplay(options: &WorkerOptions, stop: &AtomicBool) -> anyhow::Result<RunEnd> {
    // Workers have one thread each; more would get into each other's way.
    tch::set_num_threads(1);
    let (path, shown) = (&options.run_dir, options.run_dir.display());
    ensure!(!path.is_file(), "{shown} is a file; a run is a folder");
    let to_start = format!("`cyvasse train CONFIG --run-dir {shown} --learner` starts one");
    let reporter = Reporter::new();
    let what = format!("waiting for a run in {shown}; {to_start}");
    let there = wait(&reporter, stop, &what, || Ok(RunDir::look_at(path).ok()))?;
    let Some(run) = there else { return Ok(RunEnd::Stopped) };
    let mut worker = Worker::begin(options, run, stop)?;
    let end = worker.work();
    worker.reporter.say(match &end {
        Ok(RunEnd::Finished) => "the run has all its rounds; the worker ends",
        Ok(RunEnd::Stopped) => "stopped; start the worker again to go on with its games",
        Err(_) => "the worker fails",
    });
    worker.reporter.end(WorkEnd::of(&end));
    end
}

/// Waits until `look` finds something, saying what is waited for; `None` if it was
/// told to stop.
fn wait<T>(
    reporter: &Reporter,
    stop: &AtomicBool,
    what: &str,
    mut look: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<Option<T>> {
    let mut told = false;
    while !stop.load(Ordering::Relaxed) {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        if !std::mem::replace(&mut told, true) {
            reporter.say(what);
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(None)
}

impl<'a> Worker<'a> {
    /// The first worker of the run that no other process is.
    fn begin(
        options: &WorkerOptions,
        run: RunDir,
        stop: &'a AtomicBool,
    ) -> anyhow::Result<Worker<'a>> {
        let (mut config, rules) = start::stored_config(&run)?;
        config.selfplay.workers = options.threads.unwrap_or(config.selfplay.workers);
        let Place { number, lock, stint, selfplay, passed_over } =
            take_place(&run, &config, &rules)?;
        let folder = worker_folder(run.path(), number);
        let threads = config.selfplay.workers as usize;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let reporter = Reporter::with_log(&folder.join("log.txt"), false)?;
        for (number, error) in passed_over {
            let error = one_line::told(&error);
            reporter
                .say(&format!("worker {number} is left as it is, for it cannot go on: {error}"));
        }
        let shown = run.path().display();
        reporter
            .say(&format!("worker {number} of {shown}: threads: {threads}, stint {}", stint + 1));
        let waiting = plies_of_stints(&folder, &rules)?;
        Ok(Worker {
            config,
            rules,
            run,
            number,
            folder,
            _lock: lock,
            reporter,
            pool,
            stop,
            selfplay,
            stint,
            waiting,
            guide: None,
            waits: false,
        })
    }

    /// Plays stint after stint.
    fn work(&mut self) -> anyhow::Result<RunEnd> {
        while let Some(round) = self.newest_round()? {
            if round >= self.config.run.rounds {
                return Ok(RunEnd::Finished);
            }
            self.check_that_games_are_taken()?;
            match self.is_ready(round) {
                Ok(true) => self.play()?,
                Ok(false) => thread::sleep(LOOK_AGAIN),
                // The learner went on, and removed what was being read.
                Err(_) if self.run.states()?.first() != Some(&round) => {}
                // The learner will do the round again when it is resumed.
                Err(error) if start::is_damage(&error) => self.wait_for_mending(&error),
                Err(error) => return Err(error),
            }
        }
        Ok(RunEnd::Stopped)
    }

    /// Refuses to play for a trainer that plays its own games.
    fn check_that_games_are_taken(&self) -> anyhow::Result<()> {
        let path = self.run.path();
        let Some(trainer) = ProgressNote::read(path) else { return Ok(()) };
        let is_at_work = trainer.end.is_none() && trainer.is_alive() == Some(true);
        ensure!(
            trainer.takes_games || !is_at_work,
            "process {} trains the run in {run} on games that it plays itself and takes no others; \
             stop it and go on with `cyvasse train CONFIG --run-dir {run} --resume --learner`",
            trainer.pid,
            run = path.display()
        );
        Ok(())
    }

    fn wait_for_mending(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.waits, true) {
            let error = one_line::told(error);
            self.reporter.say(&format!("waiting for the learner to save a sound round: {error}"));
        }
        thread::sleep(LOOK_AGAIN);
    }

    /// The newest round that is saved; `None` if the worker was told to stop.
    fn newest_round(&self) -> anyhow::Result<Option<u32>> {
        let what = "waiting for the learner to save its first network";
        wait(&self.reporter, self.stop, what, || Ok(self.run.states()?.first().copied()))
    }

    /// Prepares a stint, if the learner has taken enough of what was played.
    fn is_ready(&mut self, round: u32) -> anyhow::Result<bool> {
        let ForWorkers { resign_below, taken } = ForWorkers::load(&self.run.state(round))?;
        let taken = taken.get(&self.number).copied().unwrap_or(0);
        self.waiting.retain(|&stint, _| stint > taken);
        let (stints, plies) = (self.waiting.len(), self.waiting.values().sum::<u64>());
        let ready = stints < MOST_STINTS || plies < self.config.selfplay.plies();
        if !ready && !self.waits {
            let folder = self.folder.display();
            self.reporter.say(&format!(
                "waiting for the learner to take {stints} stints of games that lie in {folder}"
            ));
        }
        self.waits = !ready;
        if ready {
            self.follow(round, MoverValue::new(resign_below))?;
        }
        Ok(ready)
    }

    /// Reads what the next stint is played by, if it is not what the last one was
    /// played by.
    fn follow(&mut self, round: u32, resign_below: MoverValue) -> anyhow::Result<()> {
        if self.guide.as_ref().is_some_and(|guide| guide.round == round) {
            return Ok(());
        }
        let (config, run, rules) = (&self.config, &self.run, &self.rules);
        let device = device::find(config.run.device)?;
        let load = |round: u32| start::play_net(&run.checkpoint(round), rules, device);
        let (net, step) = match gate::resume(&config.gate, run, round, load)? {
            Some(champion) => (champion.net, champion.step),
            None => load(round)?,
        };
        let mut learner = setups::resume(config, run, round, rules, device)?;
        let setups = setups::supply(learner.as_mut(), config, run, rules, round + 1)?;
        self.guide = Some(Guide { round, net, step, setups, resign_below });
        Ok(())
    }

    /// Plays a stint and hands it over, unless it was told to stop.
    fn play(&mut self) -> anyhow::Result<()> {
        let Some(guide) = &self.guide else { return Ok(()) };
        let stint = self.stint + 1;
        let table = Table {
            config: &self.config,
            rules: &self.rules,
            reporter: &self.reporter,
            pool: &self.pool,
            stop: self.stop,
            net: &guide.net,
            step: guide.step,
            resign_below: guide.resign_below,
            name: format!("stint {stint} (network of round {})", guide.round),
        };
        let (games, _) = games::play(table, &mut self.selfplay, &guide.setups)?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.hand_over(stint, &games)?;
        self.waiting.insert(stint, games.iter().map(|game| game.plies.len() as u64).sum());
        self.stint = stint;
        Ok(())
    }

    fn hand_over(&self, stint: u32, games: &[GameRecord]) -> anyhow::Result<()> {
        let unfinished = self.selfplay.unfinished();
        let unfinished: Vec<GameText> = unfinished.iter().map(GameText::from).collect();
        write_folder::<anyhow::Error>(&stint_folder(&self.folder, stint), |folder| {
            if !games.is_empty() {
                let header = ShardHeader::new(&self.rules, self.config.run.seed, stint);
                write_shard(folder.join(GAMES), &header, games)?;
            }
            sealed::save(&folder.join(UNFINISHED), &unfinished)
        })
    }
}

/// A worker's place in the run.
struct Place {
    number: u32,
    /// Nobody else has it.
    lock: File,
    /// Its newest stint; 0 before the first.
    stint: u32,
    /// Its games.
    selfplay: SelfPlay,
    /// Workers of whom no process is left, but who cannot go on.
    passed_over: Vec<(u32, anyhow::Error)>,
}

/// The lowest place that no other process has, and whose games can be gone on with.
fn take_place(run: &RunDir, config: &Config, rules: &Arc<Rules>) -> anyhow::Result<Place> {
    let mut passed_over = Vec::new();
    for number in 1..=MOST_WORKERS {
        let folder = worker_folder(run.path(), number);
        std::fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
        let Some(lock) = try_lock(&folder.join("lock"))? else { continue };
        remove_partial(&folder, |_| true).context("cannot remove what an earlier process left")?;
        let stint = stints_of(&folder)?.last().copied().unwrap_or(0);
        match games_of(number, stint, &folder, config, rules) {
            Ok(selfplay) => return Ok(Place { number, lock, stint, selfplay, passed_over }),
            Err(error) if start::is_damage(&error) => passed_over.push((number, error)),
            Err(error) => return Err(error),
        }
    }
    let folder = workers_folder(run.path());
    anyhow::bail!(
        "{MOST_WORKERS} workers are at work in {}, the most there can be",
        folder.display()
    )
}

/// The plies of the finished games of each stint that lies in a worker's folder; none of
/// a stint whose games the learner will not take.
fn plies_of_stints(folder: &Path, rules: &Rules) -> anyhow::Result<BTreeMap<u32, u64>> {
    let plies = |stint: u32| {
        let shard = Shard::open(stint_folder(folder, stint).join(GAMES), rules);
        (stint, shard.map_or(0, |shard| shard.ply_count() as u64))
    };
    Ok(stints_of(folder)?.into_iter().map(plies).collect())
}

/// The games of a worker after a stint.
fn games_of(
    number: u32,
    stint: u32,
    folder: &Path,
    config: &Config,
    rules: &Arc<Rules>,
) -> anyhow::Result<SelfPlay> {
    let (search, games) = (config.search.clone(), config.games.clone());
    let seed = config.run.seed;
    if stint == 0 {
        let first = number * MOST_SLOTS;
        let slots = first..first + config.selfplay.slots;
        return Ok(SelfPlay::new(rules.clone(), search, games, slots, seed));
    }
    let path = stint_folder(folder, stint).join(UNFINISHED);
    let unfinished: Vec<GameText> = sealed::load(&path)?;
    let unfinished = unfinished.into_iter().map(|game| game.read(rules));
    let unfinished = unfinished
        .collect::<Result<Vec<_>, String>>()
        .map_err(|reason| SealedError::foreign(&path, reason))?;
    Ok(SelfPlay::resume(rules.clone(), search, games, unfinished, seed)?)
}
