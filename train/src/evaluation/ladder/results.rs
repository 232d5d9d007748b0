//! The file of a ladder's results: JSON lines, only ever added to.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use cyvasse_env::Rules;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::evaluation::statistics::Pairs;

/// Pairs of games between two players: a line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Their names.
    pub players: [String; 2],
    /// The number of the first pair.
    pub from: u64,
    /// One more than the number of the last pair.
    pub to: u64,
    /// The seed of the ladder.
    pub seed: u64,
    /// What the first player scored; pairs that repeat earlier ones do not
    /// count, so that there may be fewer than numbers.
    pub pairs: Pairs,
    /// Whence the result comes.
    #[serde(flatten)]
    pub origin: Origin,
    /// Fingerprints of the games, by which a later repeat is known.
    #[serde(default)]
    pub games: Vec<u64>,
}

/// What a result was played with: only results of the same origin are of the
/// same players.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Fingerprint of the rules; empty in results of versions that did not
    /// write it.
    #[serde(default)]
    pub rules: String,
    /// The version of the program.
    #[serde(default)]
    pub producer: String,
}

impl Origin {
    /// What this program plays by these rules.
    #[must_use]
    pub fn here(rules: &Rules) -> Origin {
        Origin {
            rules: format!("{:016x}", rules.fingerprint()),
            producer: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// A file of results, held by this process alone.
#[derive(Debug)]
pub struct ResultsFile {
    path: PathBuf,
    file: File,
    batches: Vec<Batch>,
    left_out: usize,
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
    /// Opens a file, or begins one where there is none; results of another
    /// origin are left alone.
    ///
    /// # Errors
    /// A file that cannot be used or that another process uses.
    pub fn open(path: PathBuf, origin: &Origin) -> Result<ResultsFile, ResultsError> {
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
        let mut batches = read(&path)?;
        let all = batches.len();
        batches.retain(|batch| batch.origin == *origin);
        let left_out = all - batches.len();
        let text = fs::read(&path).map_err(refused("read", &path))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        file.set_len(whole as u64).map_err(refused("write", &path))?;
        Ok(ResultsFile { path, file, batches, left_out })
    }

    /// All results of the origin so far.
    #[must_use]
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Results of other origins, which stay in the file and do not count.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The number of the next pair between two players, whoever is named first.
    #[must_use]
    pub fn begun(&self, players: [&String; 2]) -> u64 {
        self.between(players).map(|batch| batch.to).max().unwrap_or(0)
    }

    /// Fingerprints of the games between two players, in the order in which
    /// they are named here.
    pub fn games<'a>(&'a self, players: [&'a String; 2]) -> impl Iterator<Item = u64> + 'a {
        let between = self.between(players);
        let same_order = between.filter(move |batch| batch.players[0] == *players[0]);
        same_order.flat_map(|batch| batch.games.iter().copied())
    }

    /// The results between two players, the oldest first.
    pub(super) fn between<'a>(
        &'a self,
        players: [&'a String; 2],
    ) -> impl Iterator<Item = &'a Batch> {
        let [first, second] = players;
        self.batches.iter().filter(move |batch| {
            let [one, other] = &batch.players;
            (one, other) == (first, second) || (one, other) == (second, first)
        })
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
            origin: Origin { rules: "12".into(), producer: "1.0".into() },
            games: vec![u64::MAX, 2],
        };
        let origin = &batch.origin;
        let mut file = ResultsFile::open(path.clone(), origin).unwrap();
        assert!(matches!(ResultsFile::open(path.clone(), origin), Err(ResultsError::Locked(_))));
        file.add(&batch).unwrap();
        drop(file);
        let mut torn = fs::read_to_string(&path).unwrap();
        torn += "{\"players\":[";
        fs::write(&path, torn).unwrap();
        let mut file = ResultsFile::open(path.clone(), origin).unwrap();
        assert_eq!(file.batches(), std::slice::from_ref(&batch));
        assert_eq!(file.games([&"a".into(), &"b".into()]).collect::<Vec<_>>(), batch.games);
        assert_eq!(file.games([&"b".into(), &"a".into()]).count(), 0);
        assert_eq!(file.begun([&"b".into(), &"a".into()]), 3);
        file.add(&batch).unwrap();
        assert_eq!(read(&path).unwrap(), [batch.clone(), batch.clone()]);
        drop(file);
        // Results of other rules, and of a version that did not tell, stay and
        // do not count.
        let old = r#"{"players":["a","b"],"from":3,"to":9,"seed":1,"pairs":[6,0,0,0,0]}"#;
        let text = fs::read_to_string(&path).unwrap().replacen("12", "13", 1) + old + "\n";
        fs::write(&path, &text).unwrap();
        let file = ResultsFile::open(path.clone(), origin).unwrap();
        assert_eq!((file.batches(), file.left_out()), (&[batch][..], 2));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        drop(file);
        fs::write(&path, "{}\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("line 1: missing field"));
    }
}
