//! What the search needs to know of a game.
//!
//! Small on purpose: games with known answers implement it in the tests, so
//! that the search is checked where the truth is known.

use std::fmt::Debug;
use std::sync::Arc;

use cyvasse_env::{Action, Outcome, Position, Rules, Side};

use crate::seeds::mix;
use crate::value::{MoverValue, Proven, WhiteValue};

/// A two-player game with perfect information and alternate moves or passes.
pub trait Game {
    /// A state of the game without its history.
    type State: Clone + Debug;
    /// What a player does.
    type Action: Copy + PartialEq + Debug;

    /// The side to move.
    fn turn(&self, state: &Self::State) -> Side;

    /// Clears the list and fills it with the legal actions; at least one in a
    /// state whose game goes on.
    fn legal_actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Plays a legal action.
    fn play(&self, state: &mut Self::State, action: Self::Action);

    /// Whether a legal action wins at once. A search that knows this asks no
    /// network about the state; `false` is always allowed.
    fn wins_at_once(&self, state: &Self::State, action: Self::Action) -> bool;

    /// A number that states share when they count as repetitions of each other.
    fn repetition_key(&self, state: &Self::State) -> u64;

    /// How many plies back a state may have a repetition.
    fn reversible_plies(&self, state: &Self::State) -> usize;

    /// How the game ended in `state`, which has occurred `occurrences` times
    /// in its history, now included; `None` while it goes on.
    fn outcome(&self, state: &Self::State, occurrences: usize) -> Option<Outcome>;

    /// The result of a finished game for the side to move.
    fn result(&self, state: &Self::State, outcome: Outcome) -> Proven {
        let value = WhiteValue::of(outcome).for_mover(self.turn(state));
        if value == MoverValue::WIN {
            Proven::Win(0)
        } else if value == MoverValue::LOSS {
            Proven::Loss(0)
        } else {
            Proven::Draw(0)
        }
    }
}

/// A game whose evaluations can be remembered.
pub trait KeyedGame: Game {
    /// A number that tells apart all that evaluators see differently: the state
    /// and how often it has occurred in its game, now included.
    fn evaluation_key(state: &Self::State, occurrences: usize) -> u64;
}

/// Cyvasse under a rules file.
#[derive(Clone, Debug)]
pub struct Cyvasse {
    /// The rules.
    pub rules: Arc<Rules>,
}

impl Game for Cyvasse {
    type State = Position;
    type Action = Action;

    #[inline]
    fn turn(&self, state: &Position) -> Side {
        state.turn()
    }

    #[inline]
    fn legal_actions(&self, state: &Position, actions: &mut Vec<Action>) {
        state.legal_actions(&self.rules, actions);
    }

    #[inline]
    fn play(&self, state: &mut Position, action: Action) {
        state.play_unchecked(action);
    }

    #[inline]
    fn wins_at_once(&self, state: &Position, action: Action) -> bool {
        state.captures_king(action)
    }

    #[inline]
    fn repetition_key(&self, state: &Position) -> u64 {
        state.hash()
    }

    #[inline]
    fn reversible_plies(&self, state: &Position) -> usize {
        state.quiet_plies().into()
    }

    #[inline]
    fn outcome(&self, state: &Position, occurrences: usize) -> Option<Outcome> {
        state.outcome(&self.rules, || occurrences)
    }
}

impl KeyedGame for Cyvasse {
    #[inline]
    fn evaluation_key(state: &Position, occurrences: usize) -> u64 {
        // All that `cyvasse_env::encode` looks at.
        let counters = [state.quiet_plies(), state.plies(), occurrences as u16];
        counters.into_iter().fold(state.hash(), |key, count| mix(key ^ mix(u64::from(count))))
    }
}
