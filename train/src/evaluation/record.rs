//! Games of a match in a file, to be looked at and played again.
//!
//! JSON lines: the first tells of the match, every other of a game. Nothing in
//! the file depends on the machine, so that the same match gives the same file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{Action, Game, Position, Rules, Setup, Side};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::matches::{PlayedGame, PlayedPair};

const FORMAT: &str = "cyvasse-games";
const VERSION: u32 = 1;

/// The first line of a file of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameFileHeader {
    format: String,
    version: u32,
    /// Fingerprint of the rules.
    pub rules: String,
    /// The first player and the second, in their text form.
    pub players: [String; 2],
    /// The seed of the match.
    pub seed: u64,
    /// Random plies at the start of each game.
    pub opening_plies: u16,
}

/// A game in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedGame {
    /// The number of its pair.
    pub pair: u64,
    /// The text form of the player with white.
    pub white: String,
    /// The text form of the player with black.
    pub black: String,
    /// White's setup and black's, each in its own view.
    pub setups: [String; 2],
    /// All actions, with spaces between them.
    pub actions: String,
    /// How it ended, in words.
    pub result: String,
}

/// A file of games being written.
#[derive(Debug)]
pub struct GameFile {
    path: PathBuf,
    file: BufWriter<File>,
    players: [String; 2],
}

/// A file of games that cannot be written or read.
#[derive(Debug, Error)]
pub enum RecordError {
    /// There is something already.
    #[error("{} exists already; choose another name, nothing is overwritten", .0.display())]
    Exists(PathBuf),
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
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl GameFile {
    /// Begins a file; what lies there already is left alone.
    ///
    /// # Errors
    /// A path where something lies, or a system that refuses.
    pub fn create(
        path: &Path,
        rules: &Rules,
        players: [String; 2],
        seed: u64,
        opening_plies: u16,
    ) -> Result<GameFile, RecordError> {
        let file = File::create_new(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => RecordError::Exists(path.into()),
            _ => RecordError::Io { action: "create", path: path.into(), source },
        })?;
        let header = GameFileHeader {
            format: FORMAT.into(),
            version: VERSION,
            rules: format!("{:016x}", rules.fingerprint()),
            players: players.clone(),
            seed,
            opening_plies,
        };
        let mut file = GameFile { path: path.into(), file: BufWriter::new(file), players };
        file.line(&header)?;
        Ok(file)
    }

    /// Adds the games of a pair.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn add(&mut self, pair: &PlayedPair) -> Result<(), RecordError> {
        pair.games.iter().try_for_each(|game| {
            let game = recorded(pair.number, game, &self.players);
            self.line(&game)
        })
    }

    /// Ends the file: everything is in it.
    ///
    /// # Errors
    /// A system that refuses.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.file.flush().map_err(|source| self.refused(source))
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), RecordError> {
        let written = serde_json::to_writer(&mut self.file, line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|source| self.refused(source))
    }

    fn refused(&self, source: std::io::Error) -> RecordError {
        RecordError::Io { action: "write", path: self.path.clone(), source }
    }
}

/// A game as it is written down.
pub(super) fn recorded(pair: u64, game: &PlayedGame, players: &[String; 2]) -> RecordedGame {
    let seat = |side: Side| players[usize::from(side != game.first)].clone();
    let actions: Vec<String> = game.actions.iter().map(Action::to_string).collect();
    RecordedGame {
        pair,
        white: seat(Side::White),
        black: seat(Side::Black),
        setups: game.setups.map(|setup| setup.to_string()),
        actions: actions.join(" "),
        result: game.outcome.to_string(),
    }
}

impl RecordedGame {
    /// Plays the game again: its positions from the start to the end.
    ///
    /// # Errors
    /// In words, what does not fit the rules or the recorded result.
    pub fn replay(&self, rules: &Arc<Rules>) -> Result<Vec<Position>, String> {
        let setup = |text: &String| Setup::parse(text, rules).map_err(|error| error.to_string());
        let (white, black) = (setup(&self.setups[0])?, setup(&self.setups[1])?);
        let mut game = Game::new(rules.clone(), Position::start(&white, &black));
        let mut positions = vec![game.position().clone()];
        for (number, action) in self.actions.split_whitespace().enumerate() {
            let wrong = |what: String| format!("ply {}: {what}", number + 1);
            if game.outcome().is_some() {
                return Err(wrong("the game has ended before".into()));
            }
            let action = Action::parse(action).map_err(|error| wrong(error.to_string()))?;
            game.play(action).map_err(|error| wrong(error.to_string()))?;
            positions.push(game.position().clone());
        }
        let result = game.outcome().map_or("no result".into(), |outcome| outcome.to_string());
        if result == self.result {
            Ok(positions)
        } else {
            Err(format!("the game ends with {result}, not with {}", self.result))
        }
    }
}

/// Reads a file of games and plays all of them again.
///
/// # Errors
/// A file that cannot be read, that was written under other rules, or with a
/// line that is no game by the rules.
pub fn read_games(
    path: &Path,
    rules: &Arc<Rules>,
) -> Result<(GameFileHeader, Vec<RecordedGame>), RecordError> {
    let text = std::fs::read_to_string(path).map_err(|source| RecordError::Io {
        action: "read",
        path: path.into(),
        source,
    })?;
    let wrong = |line: usize, reason: String| RecordError::Line { path: path.into(), line, reason };
    let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    let (_, first) = lines.next().unwrap_or_default();
    let header: GameFileHeader = serde_json::from_str(first)
        .map_err(|error| wrong(1, format!("no file of games: {error}")))?;
    if (header.format.as_str(), header.version) != (FORMAT, VERSION) {
        let found = format!("{} version {}", header.format, header.version);
        return Err(wrong(1, format!("found {found}, expected {FORMAT} version {VERSION}")));
    }
    let fingerprint = format!("{:016x}", rules.fingerprint());
    if header.rules != fingerprint {
        let rules = &rules.name;
        let reason =
            format!("played under other rules ({}) than `{rules}` ({fingerprint})", header.rules);
        return Err(wrong(1, reason));
    }
    let games = lines.map(|(number, line)| {
        let game: RecordedGame =
            serde_json::from_str(line).map_err(|error| wrong(number, error.to_string()))?;
        game.replay(rules).map_err(|reason| wrong(number, reason))?;
        Ok(game)
    });
    let games = games.collect::<Result<Vec<RecordedGame>, RecordError>>()?;
    Ok((header, games))
}
