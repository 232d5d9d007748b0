//! Random openings of the play phase.

use cyvasse_env::{Action, Game};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::settings::OpeningSettings;
use crate::record::{GameId, PlyKind, PlyRecord};
use crate::seeds::{Purpose, derive};
use crate::value::MoverValue;

/// Plays the random opening of a game, if it is to have one, and returns its
/// plies. No ply of it ends the game or lets the other side take the king.
pub(super) fn play(
    game: &mut Game,
    id: GameId,
    seed: u64,
    settings: &OpeningSettings,
) -> Vec<PlyRecord> {
    let parts = [u64::from(id.slot), u64::from(id.sequence)];
    let mut rng = ChaCha8Rng::seed_from_u64(derive(seed, Purpose::Opening, &parts));
    let mut plies = Vec::new();
    if rng.random::<f32>() >= settings.share {
        return plies;
    }
    let length = rng.random_range(1..=settings.most_plies);
    while plies.len() < usize::from(length) {
        let Some(action) = harmless_action(game, &mut rng) else { break };
        game.play_unchecked(action);
        plies.push(PlyRecord {
            kind: PlyKind::Opening,
            action,
            policy: Vec::new(),
            surprise: 0.0,
            root_value: MoverValue::DRAW,
            proven: false,
            simulations: 0,
            network_step: 0,
        });
    }
    plies
}

/// A random action after which the game goes on and the mover's king cannot be
/// taken at once; `None` if there is none.
fn harmless_action(game: &Game, rng: &mut impl Rng) -> Option<Action> {
    let mut actions = Vec::with_capacity(128);
    game.legal_actions(&mut actions);
    actions.shuffle(rng);
    let mut answers = Vec::with_capacity(128);
    actions.into_iter().find(|&action| {
        let mut next = game.clone();
        next.play_unchecked(action);
        next.legal_actions(&mut answers);
        let position = next.position();
        next.outcome().is_none() && !answers.iter().any(|&answer| position.captures_king(answer))
    })
}
