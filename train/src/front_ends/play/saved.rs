//! A game against the program in a file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{Action, Position, Rules, Setup, SetupError, Side};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::front_ends::course::{Course, CourseError};

const FORMAT: &str = "cyvasse-play";
const VERSION: u32 = 1;

/// A game as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    version: u32,
    /// Fingerprint of the rules.
    rules: String,
    /// The person's seat: `white` or `black`.
    seat: String,
    /// The opponent in its text form.
    opponent: String,
    /// The opponent's level, where it was chosen by one.
    level: Option<u8>,
    /// Where the opponent's choices come from.
    seed: u64,
    /// White's setup and black's.
    setups: [String; 2],
    /// All actions, with spaces between them.
    actions: String,
    /// Whether the person has resigned.
    resigned: bool,
}

/// A game to be saved, or loaded.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) seat: Side,
    pub(super) opponent: String,
    pub(super) level: Option<u8>,
    pub(super) seed: u64,
    pub(super) setups: [Setup; 2],
    pub(super) course: Course,
    pub(super) resigned: bool,
}

/// A game that cannot be saved or loaded.
#[derive(Debug, Error)]
pub enum SavedError {
    /// There is something already.
    #[error("{} exists already; choose another name, nothing is overwritten", .0.display())]
    Exists(PathBuf),
    /// The system refuses.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        reason: io::Error,
    },
    /// It is no saved game.
    #[error("{} is no saved game: {reason}", path.display())]
    NoGame {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It was played under other rules.
    #[error("{} was played under other rules ({found}) than `{name}` ({expected})", path.display())]
    OtherRules {
        /// The file.
        path: PathBuf,
        /// The fingerprint of its rules.
        found: String,
        /// The name of the rules here.
        name: String,
        /// Their fingerprint.
        expected: String,
    },
}

impl Saved {
    /// Writes the game into a file that is whole or not there. `own` is a file that may
    /// be replaced: the one that this game was saved in before.
    pub(super) fn write(&self, path: &Path, own: bool) -> Result<(), SavedError> {
        let actions: Vec<String> = self.course.actions().iter().map(Action::to_string).collect();
        let written = Written {
            format: FORMAT.into(),
            version: VERSION,
            rules: format!("{:016x}", self.course.game().rules().fingerprint()),
            seat: self.seat.to_string(),
            opponent: self.opponent.clone(),
            level: self.level,
            seed: self.seed,
            setups: self.setups.map(|setup| setup.to_string()),
            actions: actions.join(" "),
            resigned: self.resigned,
        };
        let text = serde_json::to_string_pretty(&written).expect("a game is plain values") + "\n";
        write_whole(path, &text, own)
    }

    /// Reads a game.
    pub(super) fn read(path: &Path, rules: &Arc<Rules>) -> Result<Saved, SavedError> {
        let text = fs::read_to_string(path).map_err(|reason| SavedError::Io {
            action: "read",
            path: path.into(),
            reason,
        })?;
        let wrong = |reason: String| SavedError::NoGame { path: path.into(), reason };
        let written: Written =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if (written.format.as_str(), written.version) != (FORMAT, VERSION) {
            let found = format!("{} version {}", written.format, written.version);
            return Err(wrong(format!("found {found}, expected {FORMAT} version {VERSION}")));
        }
        let fingerprint = format!("{:016x}", rules.fingerprint());
        if written.rules != fingerprint {
            return Err(SavedError::OtherRules {
                path: path.into(),
                found: written.rules,
                name: rules.name.clone(),
                expected: fingerprint,
            });
        }
        let seat = Side::ALL.into_iter().find(|side| side.to_string() == written.seat);
        let seat = seat.ok_or_else(|| wrong(format!("`{}` is no seat", written.seat)))?;
        let setup = |text: &String| {
            Setup::parse(text, rules).map_err(|error: SetupError| wrong(error.to_string()))
        };
        let setups = [setup(&written.setups[0])?, setup(&written.setups[1])?];
        let start = Position::start(&setups[0], &setups[1]);
        let actions = written.actions.split_whitespace();
        let course = Course::replay(rules.clone(), start, actions)
            .map_err(|error: CourseError| wrong(error.to_string()))?;
        let Written { opponent, level, seed, resigned, .. } = written;
        Ok(Saved { seat, opponent, level, seed, setups, course, resigned })
    }
}

/// Writes a text into a file that is whole or not there.
pub(super) fn write_whole(path: &Path, text: &str, replace: bool) -> Result<(), SavedError> {
    let refused = |reason: io::Error| match reason.kind() {
        io::ErrorKind::AlreadyExists => SavedError::Exists(path.into()),
        _ => SavedError::Io { action: "write", path: path.into(), reason },
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(refused)?;
    file.write_all(text.as_bytes()).map_err(refused)?;
    let kept = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    kept.map(drop).map_err(|error| refused(error.error))
}
