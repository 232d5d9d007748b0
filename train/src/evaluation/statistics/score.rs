//! Games won, drawn and lost.

use std::fmt;

use cyvasse_env::{Outcome, Side};
use serde::Serialize;

/// Games from the first player's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl Score {
    /// Games played.
    #[must_use]
    pub fn games(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Counts a game in which the first player had the seat `first`.
    pub fn count(&mut self, outcome: Outcome, first: Side) {
        match outcome.winner() {
            None => self.draws += 1,
            Some(winner) if winner == first => self.wins += 1,
            Some(_) => self.losses += 1,
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} ={} -{}", self.wins, self.draws, self.losses)
    }
}
