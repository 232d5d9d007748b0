//! Helpers that several tests share.
#![allow(dead_code)] // not every test uses all of them

pub(crate) mod brute_force;
pub(crate) mod connect_four;
pub(crate) mod standin;

use std::sync::Arc;

use cyvasse_env::{Action, Game as Played, Position, Rules, SetupSpace};
use cyvasse_selfplay::search::{
    Game, GumbelSettings, PolicySettings, PuctSettings, Search, SearchResult, SearchSettings,
};
use cyvasse_selfplay::{Evaluation, Evaluator, Uniform};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Gumbel with the paper's constants.
pub(crate) fn gumbel(simulations: u32) -> SearchSettings {
    let policy = GumbelSettings { max_considered: 16, c_visit: 50.0, c_scale: 1.0, noise: 1.0 };
    settings(simulations, PolicySettings::Gumbel(policy))
}

/// PUCT without noise.
pub(crate) fn puct(simulations: u32) -> SearchSettings {
    let policy = PuctSettings {
        c_init: 1.25,
        c_base: 19652.0,
        fpu_reduction: 0.2,
        noise_share: 0.0,
        noise_concentration: 10.83,
        temperature: 1.0,
        temperature_plies: 0,
    };
    settings(simulations, PolicySettings::Puct(policy))
}

fn settings(simulations: u32, policy: PolicySettings) -> SearchSettings {
    SearchSettings { simulations, max_nodes: 1 << 20, policy }
}

/// Searches with the uniform evaluator, a leaf at a time.
pub(crate) fn search<G: Game>(
    game: G,
    settings: SearchSettings,
    state: G::State,
    earlier: &[u64],
    seed: u64,
) -> SearchResult<G::Action> {
    let mut search = Search::new(game, settings, state, earlier, seed);
    run(&mut search, 1);
    search.result(0)
}

/// Runs a search to its end with up to `batch` leaves in flight.
pub(crate) fn run<G: Game>(search: &mut Search<G>, batch: usize) {
    run_with(search, &mut Uniform::<G>::new(), batch);
}

/// The same with an evaluator of choice.
pub(crate) fn run_with<G: Game>(
    search: &mut Search<G>,
    evaluator: &mut impl Evaluator<G>,
    batch: usize,
) {
    use cyvasse_selfplay::search::Gathered;
    loop {
        let mut gathered = search.gather();
        while gathered == Gathered::Leaf && search.requests().len() < batch {
            gathered = search.gather();
        }
        if gathered == Gathered::Done {
            return;
        }
        answers(search, evaluator).iter().for_each(|answer| search.apply(answer));
    }
}

/// What an evaluator says of the leaves in flight.
pub(crate) fn answers<G: Game>(
    search: &Search<G>,
    evaluator: &mut impl Evaluator<G>,
) -> Vec<Evaluation> {
    let requests: Vec<_> = search.requests().collect();
    let mut answers = vec![Evaluation::blank(); requests.len()];
    evaluator.evaluate(&requests, &mut answers).unwrap();
    answers
}

/// A game some random plies from its start, still going on.
pub(crate) fn random_game(rules: &Arc<Rules>, plies: usize, seed: u64) -> Played {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    loop {
        let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
        let mut game = Played::new(rules.clone(), Position::start(&white, &black));
        let mut actions = Vec::new();
        for _ in 0..plies {
            if game.outcome().is_some() {
                break;
            }
            game.legal_actions(&mut actions);
            game.play_unchecked(actions[rng.random_range(0..actions.len())]);
        }
        if game.outcome().is_none() {
            return game;
        }
    }
}

/// The start of a game from two random setups.
pub(crate) fn random_start(rules: &Rules, seed: u64) -> Position {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Position::start(&space.sample(&mut rng), &space.sample(&mut rng))
}

/// Up to so many random actions from a position that do not end the game;
/// fewer where nothing else is left.
pub(crate) fn random_line(
    rules: &Arc<Rules>,
    start: Position,
    plies: usize,
    seed: u64,
) -> Vec<Action> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut game = Played::new(rules.clone(), start);
    let (mut line, mut actions) = (Vec::new(), Vec::new());
    for _ in 0..plies {
        game.legal_actions(&mut actions);
        actions.retain(|&action| {
            let mut next = game.clone();
            next.play_unchecked(action);
            next.outcome().is_none()
        });
        if actions.is_empty() {
            break;
        }
        let action = actions[rng.random_range(0..actions.len())];
        game.play_unchecked(action);
        line.push(action);
    }
    line
}
