//! Speed of the tree search on one thread, in simulations a second.
//!
//! The evaluator knows nothing and costs next to nothing, so that what is
//! measured is the search itself and the rules below it. The positions are
//! middlegames: 20 to 40 random plies from setups drawn uniformly, all from
//! one seed.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cyvasse_env::{Game, Position, Rules, SetupSpace};
use cyvasse_selfplay::search::{
    Cyvasse, Gathered, GumbelSettings, PolicySettings, PuctSettings, Search, SearchSettings,
};
use cyvasse_selfplay::{Evaluation, Evaluator, Uniform};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn gumbel() -> PolicySettings {
    PolicySettings::Gumbel(GumbelSettings {
        max_considered: 16,
        c_visit: 50.0,
        c_scale: 1.0,
        noise: 1.0,
    })
}

fn puct() -> PolicySettings {
    PolicySettings::Puct(PuctSettings {
        c_init: 1.25,
        c_base: 19652.0,
        fpu_reduction: 0.2,
        noise_share: 0.25,
        noise_concentration: 10.83,
        temperature: 1.0,
        temperature_plies: 30,
    })
}

/// Positions after 20 to 40 random plies whose games go on and whose mover
/// cannot win at once.
fn middlegames(rules: &Arc<Rules>, count: usize) -> Vec<Position> {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut positions = Vec::new();
    let mut actions = Vec::new();
    while positions.len() < count {
        let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
        let mut game = Game::new(rules.clone(), Position::start(&white, &black));
        for _ in 0..rng.random_range(20..=40) {
            game.legal_actions(&mut actions);
            if game.outcome().is_some() {
                break;
            }
            game.play_unchecked(actions[rng.random_range(0..actions.len())]);
        }
        game.legal_actions(&mut actions);
        let position = game.position();
        if game.outcome().is_none() && !actions.iter().any(|&action| position.captures_king(action))
        {
            positions.push(position.clone());
        }
    }
    positions
}

/// Searches a position to the end and returns the simulations.
fn search(search: &mut Search<Cyvasse>, position: &Position, answer: &mut Evaluation) -> u32 {
    search.restart(position.clone(), &[], 1);
    loop {
        match search.gather() {
            Gathered::Leaf | Gathered::Waiting => {
                let request = search.requests().next().expect("a leaf in flight");
                let answers = std::slice::from_mut(answer);
                Uniform::new().evaluate(&[request], answers).expect("an answer");
                search.apply(answer);
            }
            Gathered::Done => return search.result(0).simulations,
        }
    }
}

fn search_benches(criterion: &mut Criterion) {
    let rules = Arc::new(Rules::iron_throne());
    let positions = middlegames(&rules, 20);
    for (name, policy) in [("gumbel", gumbel()), ("puct", puct())] {
        let mut group = criterion.benchmark_group(format!("search/{name}"));
        for simulations in [32, 800] {
            let settings = SearchSettings { simulations, max_nodes: 4096, policy: policy.clone() };
            let game = Cyvasse { rules: rules.clone() };
            let mut tree = Search::new(game, settings, positions[0].clone(), &[], 1);
            let mut answer = Evaluation::blank();
            let mut run = || {
                positions
                    .iter()
                    .map(|position| search(&mut tree, position, &mut answer))
                    .sum::<u32>()
            };
            group.throughput(Throughput::Elements(u64::from(run())));
            group.bench_function(format!("{simulations}"), |bencher| {
                bencher.iter(|| black_box(run()));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, search_benches);
criterion_main!(benches);
