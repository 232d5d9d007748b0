//! The player that takes what it can get and does not think further.

use cyvasse_env::{Action, Position};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::alphabeta::unit_value;
use super::{Player, PlayerError, Turn};

/// Looks one ply ahead: takes the king, or else the most valuable unit that it
/// can take, or else ruins a fortress, or else plays any action. Lots are
/// drawn among equals.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl Player for Greedy {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        let mut actions = Vec::new();
        let choice = turns.iter().map(|turn| {
            let position = turn.game.position();
            turn.game.legal_actions(&mut actions);
            let best = actions.iter().map(|&action| gain(position, action)).max();
            actions.retain(|&action| Some(gain(position, action)) == best);
            let mut rng = ChaCha8Rng::seed_from_u64(turn.own_seed());
            actions[rng.random_range(0..actions.len())]
        });
        Ok(choice.collect())
    }
}

/// What a legal action takes from the opponent.
fn gain(position: &Position, action: Action) -> i32 {
    match action {
        _ if position.captures_king(action) => i32::MAX,
        Action::Assault { .. } => 1,
        Action::Shot { to, .. } if position.fortresses().contains(to) => 1,
        Action::Move { to, .. } | Action::Shot { to, .. } => {
            position.unit(to).map_or(0, |(_, unit)| 1 + unit_value(unit))
        }
        Action::Pass => 0,
    }
}
