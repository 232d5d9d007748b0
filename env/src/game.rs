//! A game in progress: a position with the history that draws depend on.

use std::fmt;
use std::sync::Arc;

use crate::action::Action;
use crate::position::{IllegalAction, Position};
use crate::rules::Rules;
use crate::square::Side;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This side captured the enemy king.
    Win(Side),
    /// Nobody won.
    Draw(DrawReason),
}

/// Why a game is drawn; where several reasons coincide, the first of them here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DrawReason {
    /// The same position for the last time that the rules allow.
    Repetition,
    /// Too many plies without a capture or a ruined fortress.
    NoProgress,
    /// Too many plies.
    Length,
}

impl Outcome {
    /// The winner, if there is one.
    #[must_use]
    pub fn winner(self) -> Option<Side> {
        match self {
            Outcome::Win(side) => Some(side),
            Outcome::Draw(_) => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Win(side) => write!(f, "{side} wins"),
            Outcome::Draw(reason) => write!(f, "draw by {reason}"),
        }
    }
}

impl fmt::Display for DrawReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DrawReason::Repetition => "repetition",
            DrawReason::NoProgress => "no progress",
            DrawReason::Length => "length",
        })
    }
}

/// A game in progress.
///
/// ```
/// use std::sync::Arc;
/// use cyvasse_env::{Action, Game, Outcome, Position, Rules, Side};
///
/// let rules = Arc::new(Rules::iron_throne());
/// let text = "8/8/8/8/8/8/8/8 3k4/3R4/8/8/8/8/8/3K4 w - 0 0";
/// let mut game = Game::new(rules.clone(), Position::parse(text, &rules)?);
/// game.play(Action::parse("d7d8")?)?;
/// assert_eq!(game.outcome(), Some(Outcome::Win(Side::White)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    rules: Arc<Rules>,
    position: Position,
    /// Hashes of the positions before this one, back to the last capture or
    /// ruin: none further back can occur again.
    earlier: Vec<u64>,
}

impl Game {
    /// A game that goes on from a position, with a history that begins there.
    #[must_use]
    pub fn new(rules: Arc<Rules>, position: Position) -> Game {
        Game { rules, position, earlier: Vec::new() }
    }

    /// The rules that the game is played by.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The position now.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Hashes of the earlier positions that may still recur, oldest first.
    #[must_use]
    pub fn earlier(&self) -> &[u64] {
        &self.earlier
    }

    /// How often the position has occurred in this game, now included.
    #[must_use]
    pub fn occurrences(&self) -> usize {
        let hash = self.position.hash();
        1 + self.earlier.iter().filter(|&&earlier| earlier == hash).count()
    }

    /// How the game ended; `None` while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        let occurrences = || self.occurrences();
        self.position.outcome(&self.rules, occurrences)
    }

    /// Clears `actions` and fills it with the legal actions; none when the
    /// game has been won. A drawn position keeps its list (as rules say).
    pub fn legal_actions(&self, actions: &mut Vec<Action>) {
        self.position.legal_actions(&self.rules, actions);
    }

    /// Plays a legal action.
    ///
    /// # Errors
    /// An action that is not legal; the game stays as it is. A game that was
    /// drawn may be played on.
    pub fn play(&mut self, action: Action) -> Result<(), IllegalAction> {
        let next = self.position.play(action, &self.rules)?;
        self.advance(next);
        Ok(())
    }

    /// Plays an action that is known to be legal (see
    /// [`Position::play_unchecked`]).
    pub fn play_unchecked(&mut self, action: Action) {
        let mut next = self.position.clone();
        next.play_unchecked(action);
        self.advance(next);
    }

    fn advance(&mut self, next: Position) {
        if next.quiet_plies() == 0 {
            self.earlier.clear();
        } else {
            self.earlier.push(self.position.hash());
        }
        self.position = next;
    }
}

impl Position {
    /// How the game ends in this position; `None` when it goes on.
    /// `occurrences` tells how often the position has occurred, now included;
    /// it is asked only when the king's capture has not decided.
    #[must_use]
    pub fn outcome(&self, rules: &Rules, occurrences: impl FnOnce() -> usize) -> Option<Outcome> {
        if let Some(winner) = self.winner() {
            return Some(Outcome::Win(winner));
        }
        let draws = &rules.draws;
        let reason = if occurrences() >= usize::from(draws.repetitions) {
            DrawReason::Repetition
        } else if self.quiet_plies() >= draws.no_progress_plies {
            DrawReason::NoProgress
        } else if self.plies() >= draws.max_plies {
            DrawReason::Length
        } else {
            return None;
        };
        Some(Outcome::Draw(reason))
    }
}
