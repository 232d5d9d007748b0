//! A game: a position and what led to it.

use super::position::Reference;

/// How a game has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ending {
    /// The side that won, `w` or `b`.
    Win(char),
    Repetition,
    NoProgress,
    Length,
}

/// A position with the identities of all positions up to it.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceGame {
    pub(crate) position: Reference,
    history: Vec<String>,
}

impl ReferenceGame {
    /// A game that starts with a position: its history is empty before that.
    pub(crate) fn new(position: Reference) -> ReferenceGame {
        ReferenceGame { history: vec![position.identity()], position }
    }

    pub(crate) fn play(&mut self, action: &str) {
        self.position = self.position.apply(action);
        self.history.push(self.position.identity());
    }

    /// How often the current position has occurred, now included.
    pub(crate) fn occurrences(&self) -> usize {
        let now = self.position.identity();
        self.history.iter().filter(|&then| *then == now).count()
    }

    /// All draws whose number is reached, in the order of their precedence.
    pub(crate) fn draws(&self) -> Vec<Ending> {
        let rules = &self.position.rules;
        let mut draws = Vec::new();
        if self.occurrences() >= rules.repetitions {
            draws.push(Ending::Repetition);
        }
        if self.position.quiet_plies >= rules.no_progress_plies {
            draws.push(Ending::NoProgress);
        }
        if self.position.plies >= rules.max_plies {
            draws.push(Ending::Length);
        }
        draws
    }

    /// How the game has ended, if it has.
    pub(crate) fn ending(&self) -> Option<Ending> {
        match self.position.winner() {
            Some(side) => Some(Ending::Win(side)),
            None => self.draws().first().copied(),
        }
    }
}
