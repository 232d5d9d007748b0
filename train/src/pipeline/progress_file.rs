//! `progress.json`: what a process is doing, for others to see from outside.
//!
//! It is replaced about once a second while the work goes on. A file that cannot
//! be written is no reason to stop the work.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::train::RunEnd;
use crate::one_line;

/// The file's name in the directory of a run.
pub const PROGRESS_FILE: &str = "progress.json";

/// How often it is written at most, unless something begins or ends.
const INTERVAL: Duration = Duration::from_secs(1);

/// What stands in `progress.json`. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressNote {
    /// The name of the machine.
    pub host: String,
    /// The number of the process on it.
    pub pid: u32,
    /// When that process started, in the system's own count: another process may
    /// get the same number later. `None` where the system does not tell.
    pub process_start: Option<u64>,
    /// When the work began.
    pub started: f64,
    /// When this was written.
    pub updated: f64,
    /// When `done` or `phase` last changed.
    pub advanced: f64,
    /// What is being done, such as `self-play`.
    pub phase: String,
    /// Steps of the phase that are done.
    pub done: u64,
    /// Steps that it has.
    pub total: u64,
    /// Steps a second since the phase began.
    pub rate: f64,
    /// Rates and losses, in words.
    pub detail: String,
    /// Whether the process takes games that workers have played.
    #[serde(default)]
    pub takes_games: bool,
    /// How the work ended; `None` while it goes on, or when it was killed.
    pub end: Option<WorkEnd>,
}

/// How work ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEnd {
    /// All is done.
    Finished,
    /// It was told to stop.
    Stopped,
    /// It failed, with this error.
    Failed(String),
}

impl WorkEnd {
    /// How the work of a run or of one of its workers ended.
    pub(super) fn of(end: &anyhow::Result<RunEnd>) -> WorkEnd {
        match end {
            Ok(RunEnd::Finished) => WorkEnd::Finished,
            Ok(RunEnd::Stopped) => WorkEnd::Stopped,
            Err(error) => WorkEnd::Failed(one_line::told(error)),
        }
    }
}

/// The file, kept up to date.
#[derive(Debug)]
pub(super) struct ProgressFile {
    path: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    note: ProgressNote,
    written: Option<Instant>,
}

impl ProgressNote {
    /// Reads the note in a directory; `None` where there is none that can be read.
    #[must_use]
    pub fn read(folder: &Path) -> Option<ProgressNote> {
        serde_json::from_str(&fs::read_to_string(folder.join(PROGRESS_FILE)).ok()?).ok()
    }

    /// Whether the process of the note is there; `None` if that cannot be known
    /// here, for it ran on another machine or the system does not tell.
    #[must_use]
    pub fn is_alive(&self) -> Option<bool> {
        if self.host != host() || !Path::new("/proc/self/stat").exists() {
            return None;
        }
        let start = process_start(self.pid);
        Some(start.is_some() && start == self.process_start)
    }

    /// Seconds that the phase will take at its rate.
    #[must_use]
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.total.saturating_sub(self.done) as f64;
        (self.rate > 0.0).then(|| left / self.rate)
    }
}

impl ProgressFile {
    pub(super) fn begin(folder: &Path, takes_games: bool) -> ProgressFile {
        let (pid, now) = (std::process::id(), seconds_now());
        let note = ProgressNote {
            host: host(),
            pid,
            process_start: process_start(pid),
            started: now,
            updated: now,
            advanced: now,
            phase: "starting".into(),
            done: 0,
            total: 0,
            rate: 0.0,
            detail: String::new(),
            takes_games,
            end: None,
        };
        let kept = Mutex::new(Kept { note, written: None });
        let file = ProgressFile { path: folder.join(PROGRESS_FILE), kept };
        file.change(|_| true);
        file
    }

    /// Notes how far a phase is.
    pub(super) fn step(&self, phase: &str, (done, total): (u64, u64), seconds: f64, detail: &str) {
        self.change(|note| {
            let begins = note.phase != phase || done < note.done;
            if begins || done != note.done {
                note.advanced = seconds_now();
            }
            if begins {
                note.phase = phase.into();
            }
            (note.done, note.total) = (done, total);
            note.rate = done as f64 / seconds.max(1e-3);
            note.detail = detail.into();
            begins
        });
    }

    pub(super) fn end(&self, end: WorkEnd) {
        self.change(|note| {
            note.end = Some(end);
            true
        });
    }

    /// Changes the note, and writes it if it is time, or at once if `change` says so.
    fn change(&self, change: impl FnOnce(&mut ProgressNote) -> bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let urgent = change(&mut kept.note);
        if !urgent && kept.written.is_some_and(|written| written.elapsed() < INTERVAL) {
            return;
        }
        kept.written = Some(Instant::now());
        kept.note.updated = seconds_now();
        let _ = self.write(&kept.note);
    }

    fn write(&self, note: &ProgressNote) -> std::io::Result<()> {
        let partial = self.path.with_extension("json.partial");
        fs::write(&partial, serde_json::to_string(note)? + "\n")?;
        fs::rename(partial, &self.path)
    }
}

impl Drop for ProgressFile {
    /// Work that ends without a word failed before it was under way, or panicked.
    fn drop(&mut self) {
        self.change(|note| {
            let open = note.end.is_none();
            if open {
                note.end = Some(WorkEnd::Failed("it gave up; it said why where it ran".into()));
            }
            open
        });
    }
}

/// Seconds since 1970.
pub(crate) fn seconds_now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The name of this machine, as Linux tells it.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().into()
}

/// When a process started, in ticks since the machine did: the 22nd field of
/// `/proc/PID/stat`, whose second one ends with the last bracket.
fn process_start(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_tells_how_far_its_process_is_and_whether_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProgressFile::begin(folder.path(), false);
        assert_eq!(ProgressNote::read(folder.path()).unwrap().phase, "starting");
        file.step("self-play", (30, 120), 2.0, "fast");
        let note = ProgressNote::read(folder.path()).unwrap();
        assert_eq!((note.phase.as_str(), note.done, note.total), ("self-play", 30, 120));
        assert_eq!((note.rate, note.seconds_left()), (15.0, Some(6.0)));
        // Not written within a second, but for an end.
        file.step("self-play", (31, 120), 2.0, "fast");
        assert_eq!(ProgressNote::read(folder.path()).unwrap().done, 30);
        file.end(WorkEnd::Failed("no disk".into()));
        let note = ProgressNote::read(folder.path()).unwrap();
        assert_eq!((note.done, &note.end), (31, &Some(WorkEnd::Failed("no disk".into()))));
        assert_eq!(note.is_alive(), Some(true));
        let process_start = note.process_start.map(|start| start + 1);
        let other = ProgressNote { process_start, ..note.clone() };
        assert_eq!(other.is_alive(), Some(false));
        assert_eq!(ProgressNote { host: "elsewhere".into(), ..other }.is_alive(), None);
        drop(file);
        assert_eq!(ProgressNote::read(folder.path()).unwrap().end, note.end);
        drop(ProgressFile::begin(folder.path(), false));
        let end = ProgressNote::read(folder.path()).unwrap().end;
        assert!(matches!(end, Some(WorkEnd::Failed(_))), "{end:?}");
    }
}
