//! The file of a ladder's results: JSON lines, only ever added to.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::evaluation::statistics::Pairs;

/// Pairs of games between two players: a line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Their names.
    pub players: [String; 2],
    /// The number of the first pair.
    pub from: u64,
    /// One more than the number of the last pair.
    pub to: u64,
    /// The seed of the ladder.
    pub seed: u64,
    /// What the first player scored.
    pub pairs: Pairs,
}

/// A file of results, held by this process alone.
#[derive(Debug)]
pub struct ResultsFile {
    path: PathBuf,
    file: File,
    batches: Vec<Batch>,
}

/// A file of results that cannot be used.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// Another process adds to it.
    #[error("another process is adding to {}; wait for it or stop it first", .0.display())]
    Locked(PathBuf),
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{}, line {line}: {reason}; remove the line to go on without it", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

fn refused<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl Fn(std::io::Error) -> ResultsError + 'a {
    move |source| ResultsError::Io { action, path: path.into(), source }
}

/// Reads a file of results; none if there is no file. A last line without an
/// end was being written when its process ended, and does not count.
///
/// # Errors
/// A file that cannot be read, or with a line that is no result.
pub fn read(path: &Path) -> Result<Vec<Batch>, ResultsError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(refused("read", path))?;
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let batch = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| ResultsError::Line {
            path: path.into(),
            line: index + 1,
            reason: error.to_string(),
        })
    };
    whole.enumerate().map(batch).collect()
}

impl ResultsFile {
    /// Opens a file, or begins one where there is none.
    ///
    /// # Errors
    /// A file that cannot be used or that another process uses.
    pub fn open(path: PathBuf) -> Result<ResultsFile, ResultsError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(refused("create", folder))?;
        }
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(refused("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(ResultsError::Locked(path)),
            Err(fs::TryLockError::Error(source)) => return Err(refused("lock", &path)(source)),
        }
        let batches = read(&path)?;
        let text = fs::read(&path).map_err(refused("read", &path))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        file.set_len(whole as u64).map_err(refused("write", &path))?;
        Ok(ResultsFile { path, file, batches })
    }

    /// All results so far.
    #[must_use]
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// The number of the next pair between two players, whoever is named first.
    #[must_use]
    pub fn begun(&self, players: [&String; 2]) -> u64 {
        let [first, second] = players;
        let between = |batch: &&Batch| {
            let [one, other] = &batch.players;
            (one, other) == (first, second) || (one, other) == (second, first)
        };
        self.batches.iter().filter(between).map(|batch| batch.to).max().unwrap_or(0)
    }

    /// Adds a result.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn add(&mut self, batch: &Batch) -> Result<(), ResultsError> {
        let line = serde_json::to_string(batch).map_err(std::io::Error::from);
        let written = line.and_then(|line| {
            self.file.write_all((line + "\n").as_bytes())?;
            self.file.sync_data()
        });
        written.map_err(refused("write", &self.path))?;
        self.batches.push(batch.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_added_and_a_torn_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/ladder.jsonl");
        let batch = Batch {
            players: ["a".into(), "b".into()],
            from: 0,
            to: 3,
            seed: 1,
            pairs: Pairs { counts: [1, 0, 1, 0, 1] },
        };
        let mut file = ResultsFile::open(path.clone()).unwrap();
        assert!(matches!(ResultsFile::open(path.clone()), Err(ResultsError::Locked(_))));
        file.add(&batch).unwrap();
        drop(file);
        let mut torn = fs::read_to_string(&path).unwrap();
        torn += "{\"players\":[";
        fs::write(&path, torn).unwrap();
        let mut file = ResultsFile::open(path.clone()).unwrap();
        assert_eq!(file.batches(), std::slice::from_ref(&batch));
        assert_eq!(file.begun([&"b".into(), &"a".into()]), 3);
        file.add(&batch).unwrap();
        assert_eq!(read(&path).unwrap(), [batch.clone(), batch]);
        fs::write(&path, "{}\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("line 1: missing field"));
    }
}
