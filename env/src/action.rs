//! Actions and their text form.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::square::Square;

/// One action of a player: what a turn consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A move, capturing or not: `e2e4`.
    Move {
        /// The unit's square.
        from: Square,
        /// Where it goes.
        to: Square,
    },
    /// A shot: `e2xe4`. At an occupied fortress it ruins the fortress.
    Shot {
        /// The shooter's square.
        from: Square,
        /// The target's square.
        to: Square,
    },
    /// An assault on an occupied fortress: `e2e4@e3`.
    Assault {
        /// The attacker's square.
        from: Square,
        /// The fortress.
        to: Square,
        /// Where the attacker comes to rest; `from` when it stays.
        rest: Square,
    },
    /// Nothing, when there is nothing to do: `pass`.
    Pass,
}

/// A text that is no action.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no action; expected a move `e2e4`, a shot `e2xe4`, an assault `e2e4@e3` or `pass`"
)]
pub struct ActionParseError(String);

impl Action {
    /// Reads the text form. Whether the action is legal is not asked.
    ///
    /// # Errors
    /// A text that is not of one of the four forms.
    pub fn parse(text: &str) -> Result<Action, ActionParseError> {
        let action = match *text.as_bytes() {
            [a, b, c, d] if text != "pass" => {
                squares([a, b], [c, d]).map(|(from, to)| Action::Move { from, to })
            }
            [a, b, b'x', c, d] => {
                squares([a, b], [c, d]).map(|(from, to)| Action::Shot { from, to })
            }
            [a, b, c, d, b'@', e, f] => squares([a, b], [c, d])
                .zip(Square::from_text(e, f))
                .map(|((from, to), rest)| Action::Assault { from, to, rest }),
            _ => (text == "pass").then_some(Action::Pass),
        };
        action.ok_or_else(|| ActionParseError(text.chars().take(40).collect()))
    }

    /// The same action on the board mirrored left to right.
    #[must_use]
    pub fn mirror(self) -> Action {
        self.map(Square::mirror)
    }

    /// The same action on the board flipped top to bottom.
    #[must_use]
    pub fn flip(self) -> Action {
        self.map(Square::flip)
    }

    fn map(self, change: impl Fn(Square) -> Square) -> Action {
        match self {
            Action::Move { from, to } => Action::Move { from: change(from), to: change(to) },
            Action::Shot { from, to } => Action::Shot { from: change(from), to: change(to) },
            Action::Assault { from, to, rest } => {
                Action::Assault { from: change(from), to: change(to), rest: change(rest) }
            }
            Action::Pass => Action::Pass,
        }
    }
}

fn squares(from: [u8; 2], to: [u8; 2]) -> Option<(Square, Square)> {
    Square::from_text(from[0], from[1]).zip(Square::from_text(to[0], to[1]))
}

impl FromStr for Action {
    type Err = ActionParseError;

    fn from_str(text: &str) -> Result<Action, ActionParseError> {
        Action::parse(text)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Move { from, to } => write!(f, "{from}{to}"),
            Action::Shot { from, to } => write!(f, "{from}x{to}"),
            Action::Assault { from, to, rest } => write!(f, "{from}{to}@{rest}"),
            Action::Pass => f.write_str("pass"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["a1h8", "e2xe4", "e2e4@e3", "e2e4@e2", "pass"] {
            assert_eq!(Action::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in ["", "e2", "e2e9", "E2E4", "e2-e4", "e2xe4@e3", "pas", "e2e4 ", "é2e4", "e2e4@"]
        {
            assert!(Action::parse(text).is_err(), "{text}");
        }
    }
}
