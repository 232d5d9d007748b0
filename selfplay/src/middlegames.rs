//! Positions to measure on.

use std::sync::Arc;

use cyvasse_env::{Game, Position, Rules, SetupSpace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random games that are tried for each position.
const TRIES: usize = 1000;

/// Positions after 20 to 40 random plies (fewer where the rules end games
/// early) from setups drawn uniformly, whose games go on and whose mover cannot
/// win at once; always the same for the same arguments. There are fewer than
/// `count` where the rules hardly have such positions.
#[must_use]
pub fn middlegames(rules: &Arc<Rules>, count: usize, seed: u64) -> Vec<Position> {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::with_capacity(count);
    let mut actions = Vec::new();
    let longest = usize::from(rules.draws.max_plies / 2).min(40);
    for _ in 0..count * TRIES {
        if positions.len() == count {
            break;
        }
        let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
        let mut game = Game::new(rules.clone(), Position::start(&white, &black));
        for _ in 0..rng.random_range(longest / 2..=longest) {
            if game.outcome().is_some() {
                break;
            }
            game.legal_actions(&mut actions);
            game.play_unchecked(actions[rng.random_range(0..actions.len())]);
        }
        let position = game.position();
        position.legal_actions(rules, &mut actions);
        let wins_at_once = actions.iter().any(|&action| position.captures_king(action));
        if game.outcome().is_none() && !wins_at_once {
            positions.push(position.clone());
        }
    }
    positions
}
