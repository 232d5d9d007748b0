//! What becomes of files that a run directory has too many of when the run goes on:
//! of rounds that did not happen, of strangers, of what is damaged.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::{io_error, remove_dir, remove_file, remove_partial, replace_file};
use super::run_dir::{RunDir, RunDirError};

/// Where something is that could not be used; it shows as "set aside as" that place.
#[derive(Debug)]
pub struct SetAside(PathBuf);

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "set aside as {}", self.0.display())
    }
}

impl RunDir {
    /// Shards and checkpoints of rounds that cannot have begun when `round` was the
    /// newest with a state: only the one after it can.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn strangers(&self, round: u32) -> Result<Vec<PathBuf>, RunDirError> {
        let late = |other: &u32| *other > round + 1;
        let checkpoints = self.rounds("checkpoints")?.into_iter().filter(late);
        let shards = self.rounds("shards")?.into_iter().filter(late);
        Ok(checkpoints
            .map(|round| self.checkpoint(round))
            .chain(shards.map(|round| self.shard(round)))
            .collect())
    }

    /// Moves a file or folder that cannot be used out of the way, so that nothing
    /// is lost.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn set_aside(&self, path: &Path) -> Result<SetAside, RunDirError> {
        let folder = self.path().join("set-aside");
        fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
        let name = path.strip_prefix(self.path()).unwrap_or(path).to_string_lossy();
        let name = name.replace('/', "-");
        let free = |number: u32| {
            let name = if number == 0 { name.clone() } else { format!("{name}.{number}") };
            Some(folder.join(name)).filter(|path| !path.exists())
        };
        let target = (0..).find_map(free).unwrap_or(folder);
        fs::rename(path, &target).map_err(io_error("set aside", path))?;
        Ok(SetAside(target))
    }

    /// Removes what rounds after `round` left (all rounds, if there is none with
    /// a state), states before the one before it, and files that were never completed.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn settle(&self, round: Option<u32>) -> Result<(), RunDirError> {
        let later = |other: &u32| round.is_none_or(|round| *other > round);
        for state in self.rounds("state")?.into_iter().filter(|&state| Some(state + 1) < round) {
            remove_dir(&self.state(state))?;
        }
        for state in self.rounds("state")?.into_iter().filter(later) {
            remove_dir(&self.state(state))?;
        }
        for round in self.rounds("checkpoints")?.into_iter().filter(later) {
            remove_dir(&self.checkpoint(round))?;
        }
        for round in self.rounds("shards")?.into_iter().filter(later) {
            remove_file(&self.shard(round))?;
        }
        // Not in the run's own folder, where others may be writing a report or an export.
        ["shards", "checkpoints", "state"]
            .into_iter()
            .try_for_each(|name| remove_partial(&self.path().join(name), |_| true))
    }

    /// Removes what an earlier process of the run was writing into the run's own folder.
    /// What others write there, such as a report, begins with a dot until it is whole.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn remove_leftovers(&self) -> Result<(), RunDirError> {
        let own = |path: &Path| {
            path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
        };
        remove_partial(self.path(), own)
    }

    /// Drops the lines of `metrics.jsonl` that tell of rounds after `round`.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn settle_metrics(&self, round: u32) -> Result<(), RunDirError> {
        let path = self.file("metrics.jsonl");
        if !path.exists() {
            return Ok(());
        }
        let text = fs::read(&path).map_err(io_error("read", &path))?;
        // What is no JSON is no line of this file, whatever else it is.
        let text = String::from_utf8_lossy(&text);
        let told = |line: &&str| {
            let line: Option<serde_json::Value> = serde_json::from_str(line).ok();
            line.and_then(|line| line["round"].as_u64()).is_some_and(|told| told <= round.into())
        };
        let kept: String = text.lines().filter(told).flat_map(|line| [line, "\n"]).collect();
        replace_file(&path, &kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_unfinished_round_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::create(&folder.path().join("run"), &[]).unwrap();
        for round in [1, 2] {
            fs::write(run.shard(round), "games").unwrap();
            fs::create_dir(run.checkpoint(round)).unwrap();
        }
        fs::create_dir(run.state(0)).unwrap();
        fs::create_dir(run.state(1)).unwrap();
        assert_eq!(run.states().unwrap(), [1, 0]);
        fs::create_dir(run.file("state/round-0002.7.partial")).unwrap();
        fs::write(run.file("shards/.x.partial"), "half").unwrap();
        run.settle(Some(1)).unwrap();
        assert!(!run.file("state/round-0002.7.partial").exists());
        assert!(!run.file("shards/.x.partial").exists());
        assert!(run.shard(1).exists() && run.checkpoint(1).exists() && run.state(1).exists());
        assert!(!run.shard(2).exists() && !run.checkpoint(2).exists() && run.state(0).exists());
        fs::create_dir(run.state(2)).unwrap();
        run.settle(Some(2)).unwrap();
        assert!(!run.state(0).exists() && run.state(1).exists());
        run.settle(Some(1)).unwrap();
        assert!(!run.state(2).exists());
        run.settle(None).unwrap();
        assert!(!run.shard(1).exists() && !run.checkpoint(1).exists());
    }

    #[test]
    fn rounds_that_cannot_have_begun_are_strangers() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::create(&folder.path().join("run"), &[]).unwrap();
        fs::write(run.shard(3), "games").unwrap();
        assert_eq!(run.strangers(1).unwrap(), [run.shard(3)]);
        assert!(run.strangers(2).unwrap().is_empty());
    }
}
