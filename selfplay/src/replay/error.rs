//! Why a shard cannot be written or read.

use std::io;
use std::path::{Path, PathBuf};

use cyvasse_env::{Outcome, SetupError, Side};
use thiserror::Error;

/// Why a shard cannot be written or read. Each prints as one line.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// A file is in the way of a new shard.
    #[error("`{path}` is there already; a shard is never overwritten")]
    Exists {
        /// The shard to be written.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {attempt} `{path}`: {reason}")]
    Io {
        /// What was to be done.
        attempt: &'static str,
        /// The shard.
        path: PathBuf,
        /// The refusal.
        reason: io::Error,
    },
    /// The HDF5 library refused.
    #[error("cannot {attempt} in `{path}`: {reason}")]
    Hdf5 {
        /// What was to be done.
        attempt: String,
        /// The shard.
        path: PathBuf,
        /// The refusal.
        reason: String,
    },
    /// Something else than a shard.
    #[error("`{path}` is no replay shard; one begins with the words `cyvasse replay shard`")]
    NotAShard {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are not those that were written.
    #[error("`{path}` is damaged: {found} follow its seal, which is for {sealed}")]
    Damaged {
        /// The shard.
        path: PathBuf,
        /// Number and checksum of the bytes that are there.
        found: String,
        /// The same of the bytes that were written.
        sealed: String,
    },
    /// A dataset or attribute of the wrong type or shape, or with a wrong value.
    #[error("`{place}` in `{path}` is {found}; it must be {expected}")]
    Misfit {
        /// The shard.
        path: PathBuf,
        /// The dataset, with an index where there is one, or the attribute.
        place: String,
        /// What stands there.
        found: String,
        /// What must stand there.
        expected: String,
    },
    /// Games of another set of rules.
    #[error(
        "`{path}` holds games by the rules `{found_name}` (fingerprint {found:016x}); \
         they must be by `{expected_name}` (fingerprint {expected:016x})"
    )]
    OtherRules {
        /// The shard.
        path: PathBuf,
        /// The name of its rules.
        found_name: String,
        /// The fingerprint of its rules.
        found: u64,
        /// The name of the reader's rules.
        expected_name: String,
        /// The fingerprint of the reader's rules.
        expected: u64,
    },
    /// A game that does not follow the rules.
    #[error("game {game} in `{path}`, ply {ply}: {problem}")]
    Game {
        /// The shard.
        path: PathBuf,
        /// The game, from 0.
        game: usize,
        /// The ply, from 0; the number of plies where the end of the game is wrong.
        ply: usize,
        /// What is wrong.
        problem: GameProblem,
    },
}

impl ReplayError {
    /// Whether the file has been lost or damaged since it was written, so that
    /// nothing in it can be used. A file of another version or rules is sound.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            ReplayError::NotAShard { .. } | ReplayError::Damaged { .. } => true,
            ReplayError::Io { reason, .. } => reason.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    /// The shard that it is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            ReplayError::Exists { path }
            | ReplayError::Io { path, .. }
            | ReplayError::Hdf5 { path, .. }
            | ReplayError::NotAShard { path }
            | ReplayError::Damaged { path, .. }
            | ReplayError::Misfit { path, .. }
            | ReplayError::OtherRules { path, .. }
            | ReplayError::Game { path, .. } => path,
        }
    }
}

/// What does not follow the rules in a game.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GameProblem {
    /// An illegal setup.
    #[error("the setup of {side} is not legal: {reason}")]
    Setup {
        /// Whose it is.
        side: Side,
        /// Why it is not legal.
        reason: SetupError,
    },
    /// An illegal action was played.
    #[error("the played action has the index {index}, which no legal action of `{position}` has")]
    Action {
        /// Its action index.
        index: u16,
        /// The position before it.
        position: String,
    },
    /// The policy target has an illegal action.
    #[error(
        "the policy has a share on the index {index}, which no legal action of `{position}` has"
    )]
    Policy {
        /// Its action index.
        index: u16,
        /// The position.
        position: String,
    },
    /// The policy target has an action twice.
    #[error("the policy has the index {index} twice; it must be there once")]
    PolicyTwice {
        /// The action index.
        index: u16,
    },
    /// The game goes on after its end.
    #[error("the game is over ({outcome}) and must have no more plies")]
    Over {
        /// How it ended.
        outcome: Outcome,
    },
    /// The game ended in another way, or did not end.
    #[error("the outcome is `{stored}`, but the plies lead to {replayed}")]
    Outcome {
        /// The outcome that is stored.
        stored: Outcome,
        /// The outcome of the plies, in words.
        replayed: String,
    },
    /// A record that cannot be stored so that it is read back the same.
    #[error("the record has an action that is not legal; all must be")]
    Unfaithful,
}
