//! What a run is doing and whether something is wrong, read from its directory
//! alone: while it runs, and after it ended in whatever way.

mod page;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::config::{Config, ConfigError, read_rules};
use crate::evaluation::LadderReport;
use crate::evaluation::ladder::ResultsError;
use crate::pipeline::{
    FINAL_FILE, LADDER_FILE, ProgressNote, RunDir, RunDirError, WorkEnd, read_metrics, seconds_now,
};
use crate::setups::SetupsConfig;
use crate::{machine, one_line};

pub use page::in_words;

/// Seconds without any progress after which work counts as stalled.
const STALLED: f64 = 300.0;

/// Free disk space under which a run is likely to end early, in bytes.
const LEAST_DISK_FREE: u64 = 2 << 30;

/// Rounds that are told of.
const RECENT: usize = 6;

/// What a run is doing.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The run directory.
    pub run: String,
    /// The name of the rules.
    pub rules: String,
    /// How the training process is.
    pub state: State,
    /// What it was doing when it last said so; `null` where it never did.
    pub now: Option<ProgressNote>,
    /// Seconds since it last said so.
    pub silent_seconds: Option<f64>,
    /// Seconds until the phase is done, at its rate.
    pub phase_seconds_left: Option<f64>,
    /// Processes that play for the run, by the names of their folders.
    pub workers: Vec<Worker>,
    /// Rounds that lie behind.
    pub rounds_done: u32,
    /// Rounds that the run is to have; `null` where the config is of another version.
    pub rounds: Option<u32>,
    /// The metrics of the newest rounds, oldest first.
    pub recent: Vec<Value>,
    /// The scores of the matches at the end; `null` before they are played.
    pub final_matches: Option<Value>,
    /// The ratings of the ladder; `null` before `cyvasse evaluate ladder`.
    pub ladder: Option<LadderReport>,
    /// Bytes of the files of the run.
    pub disk_used_bytes: u64,
    /// Bytes that are free on its disk.
    pub disk_free_bytes: Option<u64>,
    /// What is wrong, each in one line; empty where nothing is.
    pub problems: Vec<String>,
}

/// A process that plays for the run.
#[derive(Clone, Debug, Serialize)]
pub struct Worker {
    /// The name of its folder.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What it was doing when it last said so.
    pub now: ProgressNote,
}

/// How a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is at work.
    Running,
    /// It is there, but nothing gets on.
    Stalled,
    /// It runs on another machine, or did, and has said nothing for long.
    Silent,
    /// All is done.
    Finished,
    /// It was told to stop.
    Stopped,
    /// It ended with an error.
    Failed,
    /// It is gone without a word: killed, or the machine went down.
    Killed,
    /// It never said what it does.
    Unknown,
}

/// A directory that tells nothing.
#[derive(Debug, Error)]
pub enum StatusError {
    /// There is no run.
    #[error("{} is no run directory: {source}", path.display())]
    NoRun {
        /// The path.
        path: PathBuf,
        /// Its rules file.
        source: ConfigError,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Files(#[from] RunDirError),
    /// The results of the ladder cannot be used.
    #[error(transparent)]
    Ladder(#[from] ResultsError),
}

impl Status {
    /// Looks at a run.
    ///
    /// # Errors
    /// A directory without a run, or with files that are not sound.
    pub fn read(run: &Path) -> Result<Status, StatusError> {
        let rules = read_rules(&run.join("rules.toml"))
            .map_err(|source| StatusError::NoRun { path: run.into(), source })?;
        let (config, problem_of_config) = read_config(&run.join("config.toml"));
        let now = ProgressNote::read(run);
        let mut recent = read_metrics(run)?;
        // What was saved: a line of numbers comes before that.
        let rounds_done = saved_rounds(run);
        recent.drain(..recent.len().saturating_sub(RECENT));
        let final_matches = fs::read_to_string(run.join(FINAL_FILE));
        let mut status = Status {
            run: run.display().to_string(),
            rules: rules.name,
            state: now.as_ref().map_or(State::Unknown, state_of),
            silent_seconds: now.as_ref().map(|now| seconds_now() - now.updated),
            phase_seconds_left: now.as_ref().and_then(ProgressNote::seconds_left),
            workers: workers(&run.join("workers")),
            rounds_done,
            rounds: config.as_ref().map(|config| config.run.rounds),
            final_matches: final_matches.ok().and_then(|text| serde_json::from_str(&text).ok()),
            ladder: LadderReport::read(&run.join(LADDER_FILE))?,
            disk_used_bytes: machine::disk_used(run),
            disk_free_bytes: machine::disk_free(run).ok(),
            problems: Vec::new(),
            recent,
            now,
        };
        status.problems = status.find_problems(config.as_ref());
        status.problems.extend(problem_of_config);
        Ok(status)
    }

    fn find_problems(&self, config: Option<&Config>) -> Vec<String> {
        let mut problems = Vec::new();
        problems.extend(self.now.as_ref().and_then(|now| problem_of("it", self.state, now)));
        let workers = self.workers.iter();
        problems.extend(workers.filter_map(|one| problem_of(&one.name, one.state, &one.now)));
        if let Some(free) = self.disk_free_bytes.filter(|&free| free < LEAST_DISK_FREE) {
            problems.push(format!("only {} free on its disk", page::bytes(free)));
        }
        let Some(newest) = self.recent.last() else { return problems };
        if newest["games"] == 0 {
            problems.push("no game ended in the newest round".into());
        }
        if let Some(SetupsConfig::Learned(settings)) = config.map(|config| &config.setups) {
            for seat in ["white", "black"] {
                let share = newest["setups"]["learning"]["entropy_shares"][seat].as_f64();
                if let Some(share) = share.filter(|&share| share < settings.entropy_floor) {
                    problems.push(format!(
                        "{seat}'s setups have {:.0}% of the uniform entropy; the floor is {:.0}%",
                        100.0 * share,
                        100.0 * settings.entropy_floor
                    ));
                }
            }
        }
        problems
    }
}

/// Rounds that a run can go on after.
fn saved_rounds(run: &Path) -> u32 {
    let states = RunDir::look_at(run).and_then(|run| run.states());
    states.ok().and_then(|states| states.first().copied()).unwrap_or(0)
}

/// The config of a run, where this version can read it, and what is wrong with the file
/// for any version.
fn read_config(path: &Path) -> (Option<Config>, Option<String>) {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return (None, Some(format!("{} cannot be read: {error}", path.display()))),
    };
    let config = Config::parse(path, &text).ok();
    // One of another version is sound, but not to this program.
    let problem = text.parse::<toml::Table>().err().map(|error| {
        one_line::flattened(&format!("{} is no TOML: {error}", path.display())) //
    });
    (config, problem)
}

fn state_of(note: &ProgressNote) -> State {
    let idle = seconds_now() - note.advanced > STALLED;
    match (&note.end, note.is_alive()) {
        (Some(WorkEnd::Finished), _) => State::Finished,
        (Some(WorkEnd::Stopped), _) => State::Stopped,
        (Some(WorkEnd::Failed(_)), _) => State::Failed,
        (None, Some(false)) => State::Killed,
        (None, Some(true)) if idle => State::Stalled,
        (None, None) if idle => State::Silent,
        (None, _) => State::Running,
    }
}

fn problem_of(who: &str, state: State, note: &ProgressNote) -> Option<String> {
    let idle = page::time(seconds_now() - note.advanced);
    let (phase, pid, host) = (&note.phase, note.pid, &note.host);
    match (state, &note.end) {
        (_, Some(WorkEnd::Failed(error))) => Some(format!("{who} failed in {phase}: {error}")),
        (State::Killed, _) => Some(format!(
            "{who} is gone without a word (killed, or the machine went down) during {phase}"
        )),
        (State::Stalled, _) => Some(format!(
            "{who} has made no progress for {idle}, in {phase}; process {pid} is there"
        )),
        (State::Silent, _) => Some(format!(
            "{who} has made no progress for {idle}, in {phase}; whether process {pid} is there \
             can only be seen on {host}"
        )),
        _ => None,
    }
}

/// The processes that have a folder of their own.
fn workers(folder: &Path) -> Vec<Worker> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let worker = |entry: fs::DirEntry| {
        let now = ProgressNote::read(&entry.path())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Some(Worker { name, state: state_of(&now), now })
    };
    let mut workers: Vec<Worker> = folders.filter_map(worker).collect();
    workers.sort_by(|one, other| one.name.cmp(&other.name));
    workers
}
