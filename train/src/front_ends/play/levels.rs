//! How strong an opponent is to be.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use cyvasse_selfplay::players::alphabeta::Limit;
use thiserror::Error;

use crate::evaluation::{AgentSearch, PlayerKind, PlayerSpec, SetupChoice};

/// A level, from 1 (for somebody who has just read the rules) to 8 (as strong as it
/// gets within some seconds a move).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

/// A text that is no level.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no level: expected 1 (or `beginner`) to {most} (or `full`)", most = Level::FULL.0)]
pub struct LevelError(String);

impl Level {
    /// The weakest.
    pub const BEGINNER: Level = Level(1);
    /// The strongest.
    pub const FULL: Level = Level(8);

    /// All levels, the weakest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (Level::BEGINNER.0..=Level::FULL.0).map(Level)
    }

    /// The player of this level: one with the checkpoint's networks, or one that needs
    /// none.
    #[must_use]
    pub fn player(self, checkpoint: Option<&Path>) -> PlayerSpec {
        let (kind, errors) = match checkpoint {
            Some(path) => {
                let (search, errors) = self.of_agent();
                (PlayerKind::Agent { path: path.into(), search }, errors)
            }
            None => self.without_network(),
        };
        PlayerSpec { kind, setups: SetupChoice::Usual, errors }
    }

    /// How an agent searches, and how often in a hundred turns it plays at random.
    fn of_agent(self) -> (AgentSearch, u8) {
        match self.0 {
            1 => (AgentSearch::Policy, 70),
            2 => (AgentSearch::Policy, 40),
            3 => (AgentSearch::Policy, 15),
            4 => (AgentSearch::Policy, 0),
            5 => (AgentSearch::Gumbel(16), 0),
            6 => (AgentSearch::Gumbel(100), 0),
            7 => (AgentSearch::Puct(800), 0),
            _ => (AgentSearch::Puct(6400), 0),
        }
    }

    fn without_network(self) -> (PlayerKind, u8) {
        let depth = |depth| PlayerKind::AlphaBeta(Limit::Depth(depth));
        match self.0 {
            1 => (PlayerKind::Random, 0),
            2 => (PlayerKind::Greedy, 40),
            3 => (PlayerKind::Greedy, 0),
            4 => (depth(1), 20),
            5 => (depth(2), 0),
            6 => (depth(3), 0),
            7 => (depth(4), 0),
            _ => (PlayerKind::AlphaBeta(Limit::Time(Duration::from_secs(3))), 0),
        }
    }

    /// The level's number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Level, LevelError> {
        match text {
            "beginner" => return Ok(Level::BEGINNER),
            "full" => return Ok(Level::FULL),
            _ => {}
        }
        let number = text.parse().ok().map(Level).filter(|level| Level::all().any(|l| l == *level));
        number.ok_or_else(|| LevelError(text.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_another_player_with_a_text_form() {
        assert_eq!(Level::all().count(), 8);
        for checkpoint in [None, Some(Path::new("runs/quick"))] {
            let texts: Vec<String> =
                Level::all().map(|level| level.player(checkpoint).to_string()).collect();
            for (place, text) in texts.iter().enumerate() {
                assert!(!texts[..place].contains(text), "{text}");
                assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), *text);
            }
        }
        assert_eq!("full".parse(), Ok(Level::FULL));
        assert_eq!("1".parse(), Ok(Level::BEGINNER));
        let error = "9".parse::<Level>().unwrap_err().to_string();
        assert!(error.contains("`9` is no level: expected 1"), "{error}");
    }
}
