//! The player that everybody should beat.

use cyvasse_env::Action;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Player, PlayerError, Turn};

/// Plays any legal action, each as likely as the others.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl Player for Random {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        let mut actions = Vec::new();
        let choice = turns.iter().map(|turn| {
            turn.game.legal_actions(&mut actions);
            let mut rng = ChaCha8Rng::seed_from_u64(turn.own_seed());
            actions[rng.random_range(0..actions.len())]
        });
        Ok(choice.collect())
    }
}
