//! The run directory: where everything of a run lies, and in what order it
//! gets there.
//!
//! ```text
//! RUN/
//!   config.toml             the config, every key with its value
//!   rules.toml              the rules file, in full
//!   setups.txt              the file of fixed setups, where the config names one
//!   version.txt             the program that started the run
//!   log.txt                 what the run said, with times
//!   metrics.jsonl           one line of numbers a round
//!   tensorboard/            the same as event files, one for each process
//!   progress.json           what the process does, about once a second
//!   lock                    held while a process trains the run
//!   shards/round-0001.h5    the games that ended in the round
//!   checkpoints/round-0001/ play.safetensors, setup.safetensors
//!   state/round-0001/       what a resumed run needs beside: the optimisers,
//!                           the setup network before averaging, the unfinished
//!                           games, the counters; of the last two rounds
//!   workers/worker-0001/    of a `cyvasse selfplay` process: its lock and log, and
//!     stint-000001/         games that ended in a stint (games.h5) and that did
//!                           not (unfinished.json)
//!   set-aside/              files that were damaged
//!   failed-batch-000012.safetensors
//!                           what the step after so many could not learn from
//!   report.html             what `cyvasse report` made
//!   evaluation/final.json   scores of the matches at the end
//!   evaluation/ladder.jsonl results of `cyvasse evaluate ladder`
//! ```
//!
//! A round writes its shard, then its checkpoint, then its state, each under a
//! temporary name that is renamed when it is whole. The state comes last: a
//! round without one did not happen, and what it left is removed when the run
//! is resumed. The state before the newest is kept for the case that the newest is
//! damaged.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::files::{entries, io_error, try_lock, write_file, write_folder};

/// The results of a run's ladder, from the run directory.
pub const LADDER_FILE: &str = "evaluation/ladder.jsonl";

/// The folder of a run.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Locked while this process trains the run.
    _lock: Option<File>,
}

/// Why a run directory cannot be used.
#[derive(Debug, Error)]
pub enum RunDirError {
    /// There is something at the path of a new run.
    #[error(
        "{} exists already; continue it with `--resume`, or start another run with \
         `--run-dir DIR`", .0.display()
    )]
    Exists(PathBuf),
    /// Rounds, but no state to go on from.
    #[error(
        "{}: no round of the run is saved there, but {what} is; put back what was in the folder \
         `state`, or start another run with `--run-dir DIR`", run.display()
    )]
    Stateless {
        /// The run.
        run: PathBuf,
        /// What would be lost.
        what: String,
    },
    /// A path that HDF5 takes no files at.
    #[error("{}: the path of a run directory must be UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// There is no run to be resumed.
    #[error("{} is no run directory (it has no config.toml); start a run without `--resume`", .0.display())]
    NotThere(PathBuf),
    /// Another process works on the run.
    #[error("another process is training the run {}; wait for it or stop it first", .0.display())]
    Locked(PathBuf),
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl RunDir {
    /// Makes the directory of a new run. It appears only once its config,
    /// rules and version are in it.
    ///
    /// # Errors
    /// A path where something lies already, or a system that refuses.
    pub fn create(path: &Path, files: &[(&str, &str)]) -> Result<RunDir, RunDirError> {
        // Without dots and slashes at the end, where nothing can be renamed to.
        let path: &Path = &path.components().collect::<PathBuf>();
        check_utf8(path)?;
        // A link that leads nowhere is there too.
        if path.symlink_metadata().is_ok() {
            return Err(RunDirError::Exists(path.to_path_buf()));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            fs::create_dir_all(parent).map_err(io_error("create", parent))?;
        }
        let made = write_folder(path, |temporary| {
            for folder in ["shards", "checkpoints", "state"] {
                let folder = temporary.join(folder);
                fs::create_dir(&folder).map_err(io_error("create", &folder))?;
            }
            files.iter().try_for_each(|(name, text)| write_file(&temporary.join(name), text))
        });
        match made {
            Err(_) if path.exists() => Err(RunDirError::Exists(path.to_path_buf())),
            made => made.and_then(|()| RunDir::lock(path)),
        }
    }

    /// Opens the directory of a run to go on with it.
    ///
    /// # Errors
    /// A path that holds no run, a run that another process works on, a system
    /// that refuses.
    pub fn open(path: &Path) -> Result<RunDir, RunDirError> {
        if !path.join("config.toml").is_file() {
            return Err(RunDirError::NotThere(path.to_path_buf()));
        }
        check_utf8(path)?;
        RunDir::lock(path)
    }

    /// The directory of a run that another process may be training: for whoever
    /// only reads.
    ///
    /// # Errors
    /// A path that holds no run.
    pub fn look_at(path: &Path) -> Result<RunDir, RunDirError> {
        if !path.join("config.toml").is_file() {
            return Err(RunDirError::NotThere(path.to_path_buf()));
        }
        Ok(RunDir { path: path.to_path_buf(), _lock: None })
    }

    fn lock(path: &Path) -> Result<RunDir, RunDirError> {
        match try_lock(&path.join("lock"))? {
            Some(lock) => Ok(RunDir { path: path.to_path_buf(), _lock: Some(lock) }),
            None => Err(RunDirError::Locked(path.to_path_buf())),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of the run.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The shard of a round.
    #[must_use]
    pub fn shard(&self, round: u32) -> PathBuf {
        self.path.join("shards").join(format!("round-{round:04}.h5"))
    }

    /// The checkpoint of a round; round 0 is the untrained network.
    #[must_use]
    pub fn checkpoint(&self, round: u32) -> PathBuf {
        checkpoint_of(&self.path, round)
    }

    /// The state after a round.
    #[must_use]
    pub fn state(&self, round: u32) -> PathBuf {
        self.path.join("state").join(round_name(round))
    }

    /// The rounds with a whole state, the newest first.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn states(&self) -> Result<Vec<u32>, RunDirError> {
        let mut rounds = self.rounds("state")?;
        rounds.sort_unstable_by(|one, other| other.cmp(one));
        Ok(rounds)
    }

    /// Makes sure that no round would be lost if the run began anew.
    ///
    /// # Errors
    /// The shard or checkpoint of a round; a system that refuses.
    pub fn check_that_nothing_is_there(&self) -> Result<(), RunDirError> {
        for folder in ["shards", "checkpoints"] {
            if let Some(round) = self.rounds(folder)?.into_iter().filter(|&round| round > 0).max() {
                let what = format!("`{folder}/{}`", round_name(round));
                return Err(RunDirError::Stateless { run: self.path.clone(), what });
            }
        }
        Ok(())
    }

    /// The rounds that have something in a folder of the run.
    pub(super) fn rounds(&self, folder: &str) -> Result<Vec<u32>, RunDirError> {
        rounds(&self.path, folder)
    }
}

/// The rounds with a checkpoint of the run in a folder, in their order; the run
/// may be going on.
///
/// # Errors
/// A system that refuses.
pub fn checkpoints_of(run: &Path) -> Result<Vec<u32>, RunDirError> {
    let mut rounds = rounds(run, "checkpoints")?;
    rounds.sort_unstable();
    Ok(rounds)
}

/// The checkpoint of a round in the folder of a run.
#[must_use]
pub fn checkpoint_of(run: &Path, round: u32) -> PathBuf {
    run.join("checkpoints").join(round_name(round))
}

fn rounds(run: &Path, folder: &str) -> Result<Vec<u32>, RunDirError> {
    let ending = if folder == "shards" { ".h5" } else { "" };
    let round = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        let round = name.strip_prefix("round-")?.strip_suffix(ending)?.parse().ok()?;
        // Whatever else lies there is somebody's own.
        (name == round_name(round) + ending && path.is_file() == (folder == "shards"))
            .then_some(round)
    };
    Ok(entries(&run.join(folder))?.iter().filter_map(round).collect())
}

/// HDF5 names files by UTF-8.
fn check_utf8(path: &Path) -> Result<(), RunDirError> {
    match path.to_str() {
        Some(_) => Ok(()),
        None => Err(RunDirError::NotUtf8(path.to_path_buf())),
    }
}

fn round_name(round: u32) -> String {
    format!("round-{round:04}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_not_overwritten_and_not_shared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        assert!(matches!(RunDir::open(&path), Err(RunDirError::NotThere(_))));
        let run = RunDir::create(&path, &[("config.toml", "x = 1\n")]).unwrap();
        assert!(matches!(RunDir::create(&path, &[]), Err(RunDirError::Exists(_))));
        assert!(matches!(RunDir::open(&path), Err(RunDirError::Locked(_))));
        drop(run);
        RunDir::open(&path).unwrap();
    }

    #[test]
    fn a_path_that_cannot_be_a_run_leaves_nothing_behind() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(matches!(RunDir::create(&link, &[]), Err(RunDirError::Exists(_))));
        let strange = folder.path().join(std::ffi::OsStr::from_bytes(b"run\xff"));
        assert!(matches!(RunDir::create(&strange, &[]), Err(RunDirError::NotUtf8(_))));
        assert_eq!(entries(folder.path()).unwrap(), [link]);
        let run = RunDir::create(&folder.path().join("run/."), &[]).unwrap();
        assert_eq!(run.path(), folder.path().join("run"));
    }

    #[test]
    fn rounds_without_a_state_are_not_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::create(&folder.path().join("run"), &[]).unwrap();
        fs::create_dir(run.checkpoint(0)).unwrap();
        run.check_that_nothing_is_there().unwrap();
        fs::create_dir(run.checkpoint(1)).unwrap();
        let error = run.check_that_nothing_is_there().unwrap_err().to_string();
        assert!(error.contains("but `checkpoints/round-0001` is; put back"), "{error}");
    }
}
