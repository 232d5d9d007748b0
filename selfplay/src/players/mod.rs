//! Players: whoever chooses actions in a game that is not for learning.
//!
//! None of them needs a network; [`Searcher`] takes any evaluator, a network's
//! among them.

use cyvasse_env::{Action, Game};
use thiserror::Error;

use crate::evaluator::EvaluatorError;
use crate::seeds::{Purpose, derive};

pub mod alphabeta;
mod errant;
mod greedy;
mod random;
mod raw_policy;
mod rollout;
mod searcher;

pub use alphabeta::AlphaBeta;
pub use errant::Errant;
pub use greedy::Greedy;
pub use random::Random;
pub use raw_policy::RawPolicy;
pub use rollout::Rollouts;
pub use searcher::Searcher;

/// A game in which a player is to move.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The game.
    pub game: &'a Game,
    /// Where the player's choices in this game come from.
    pub seed: u64,
}

impl Turn<'_> {
    /// A seed for this turn of this game.
    fn own_seed(&self) -> u64 {
        derive(self.seed, Purpose::Player, &[u64::from(self.game.position().plies())])
    }
}

/// A player that failed to choose.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct PlayerError(#[from] EvaluatorError);

/// Chooses actions, in several games at a time.
pub trait Player: Send {
    /// An action for each turn, in their order; each game goes on and has a
    /// legal action. The choice depends on nothing but the turn (and on the
    /// clock, for a player that is given time).
    ///
    /// # Errors
    /// A failure of the machinery behind the player.
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError>;
}
