//! Values with their point of view in the type.
//!
//! A sign slip between "good for the side to move" and "good for white" is
//! the classic silent bug of a search; here it does not compile.

use cyvasse_env::{Outcome, Side};

/// An expected result for the side to move: 1 is a win, 0 a draw, -1 a loss.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct MoverValue(f32);

/// An expected result for white: 1 is a win, 0 a draw, -1 a loss.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct WhiteValue(f32);

impl MoverValue {
    /// A sure win for the side to move.
    pub const WIN: MoverValue = MoverValue(1.0);
    /// A draw.
    pub const DRAW: MoverValue = MoverValue(0.0);
    /// A sure loss for the side to move.
    pub const LOSS: MoverValue = MoverValue(-1.0);

    /// A value for the side to move, from -1 to 1.
    #[must_use]
    pub const fn new(value: f32) -> MoverValue {
        MoverValue(value)
    }

    /// The bare number, -1 to 1.
    #[must_use]
    pub const fn get(self) -> f32 {
        self.0
    }

    /// The same value as the other player sees it.
    #[must_use]
    pub const fn for_opponent(self) -> MoverValue {
        MoverValue(-self.0)
    }

    /// The same value for white, when `turn` is to move.
    #[must_use]
    pub const fn for_white(self, turn: Side) -> WhiteValue {
        match turn {
            Side::White => WhiteValue(self.0),
            Side::Black => WhiteValue(-self.0),
        }
    }
}

impl WhiteValue {
    /// The result of a finished game.
    #[must_use]
    pub const fn of(outcome: Outcome) -> WhiteValue {
        match outcome {
            Outcome::Win(Side::White) => WhiteValue(1.0),
            Outcome::Win(Side::Black) => WhiteValue(-1.0),
            Outcome::Draw(_) => WhiteValue(0.0),
        }
    }

    /// The bare number, -1 to 1.
    #[must_use]
    pub const fn get(self) -> f32 {
        self.0
    }

    /// The same value for `turn`, the side to move.
    #[must_use]
    pub const fn for_mover(self, turn: Side) -> MoverValue {
        match turn {
            Side::White => MoverValue(self.0),
            Side::Black => MoverValue(-self.0),
        }
    }
}

/// How a game ended, for the side to move in one of its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoverOutcome {
    /// The side to move won.
    Win,
    /// Nobody won.
    Draw,
    /// The side to move lost.
    Loss,
}

impl MoverOutcome {
    /// What the end of a game is for `turn`, the side to move.
    #[must_use]
    pub fn of(outcome: Outcome, turn: Side) -> MoverOutcome {
        match outcome.winner() {
            Some(winner) if winner == turn => MoverOutcome::Win,
            Some(_) => MoverOutcome::Loss,
            None => MoverOutcome::Draw,
        }
    }

    /// The result as a number.
    #[must_use]
    pub const fn value(self) -> MoverValue {
        match self {
            MoverOutcome::Win => MoverValue::WIN,
            MoverOutcome::Draw => MoverValue::DRAW,
            MoverOutcome::Loss => MoverValue::LOSS,
        }
    }
}

/// Chances of a win, a draw and a loss for the side to move; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wdl {
    /// Chance that the side to move wins.
    pub win: f32,
    /// Chance of a draw.
    pub draw: f32,
    /// Chance that the side to move loses.
    pub loss: f32,
}

impl Wdl {
    /// The softmax of the logits of win, draw and loss.
    #[must_use]
    pub fn from_logits(logits: [f32; 3]) -> Wdl {
        let highest = logits.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let [win, draw, loss] = logits.map(|logit| (logit - highest).exp());
        let sum = win + draw + loss;
        Wdl { win: win / sum, draw: draw / sum, loss: loss / sum }
    }

    /// The expected result for the side to move.
    #[must_use]
    pub const fn value(self) -> MoverValue {
        MoverValue::new(self.win - self.loss)
    }
}

/// A result that is certain, for the side to move, with the number of plies
/// that it takes (against the longest resistance found so far).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proven {
    /// The side to move wins.
    Win(u16),
    /// The game is drawn.
    Draw(u16),
    /// The side to move loses.
    Loss(u16),
}

impl Proven {
    /// The exact value.
    #[must_use]
    pub const fn value(self) -> MoverValue {
        match self {
            Proven::Win(_) => MoverValue::WIN,
            Proven::Draw(_) => MoverValue::DRAW,
            Proven::Loss(_) => MoverValue::LOSS,
        }
    }

    /// Plies to the end of the game.
    #[must_use]
    pub const fn plies(self) -> u16 {
        match self {
            Proven::Win(plies) | Proven::Draw(plies) | Proven::Loss(plies) => plies,
        }
    }

    /// What this result of a position is for the player who moved into it:
    /// the other way round, and one ply further off.
    #[must_use]
    pub const fn before_move(self) -> Proven {
        match self {
            Proven::Win(plies) => Proven::Loss(plies.saturating_add(1)),
            Proven::Draw(plies) => Proven::Draw(plies.saturating_add(1)),
            Proven::Loss(plies) => Proven::Win(plies.saturating_add(1)),
        }
    }

    /// A number that is greater for what the side to move prefers: wins before
    /// draws before losses, short wins, long losses.
    #[must_use]
    pub const fn preference(self) -> i32 {
        match self {
            Proven::Win(plies) => 200_000 - plies as i32,
            Proven::Draw(_) => 0,
            Proven::Loss(plies) => -200_000 + plies as i32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_view_round_trip() {
        let value = MoverValue::new(0.25);
        assert_eq!(value.for_white(Side::Black).get(), -0.25);
        assert_eq!(value.for_white(Side::Black).for_mover(Side::Black), value);
        assert_eq!(value.for_white(Side::White).for_mover(Side::Black), value.for_opponent());
    }

    #[test]
    fn outcomes_are_seen_by_the_mover() {
        use cyvasse_env::DrawReason;

        let outcomes = [
            Outcome::Win(Side::White),
            Outcome::Win(Side::Black),
            Outcome::Draw(DrawReason::Length),
        ];
        for outcome in outcomes {
            for turn in Side::ALL {
                let value = WhiteValue::of(outcome).for_mover(turn);
                assert_eq!(MoverOutcome::of(outcome, turn).value().get(), value.get());
            }
        }
    }

    #[test]
    fn preference_orders_results() {
        let order =
            [Proven::Loss(2), Proven::Loss(4), Proven::Draw(9), Proven::Win(5), Proven::Win(1)];
        assert!(order.is_sorted_by_key(|proven| proven.preference()));
        assert_eq!(Proven::Loss(2).before_move(), Proven::Win(3));
    }
}
