//! Speed of the tree search on one thread, in simulations a second.
//!
//! The evaluator knows nothing and costs next to nothing, so that what is
//! measured is the search itself and the rules below it.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cyvasse_env::{Position, Rules};
use cyvasse_selfplay::search::{
    Cyvasse, Gathered, GumbelSettings, PolicySettings, PuctSettings, Search, SearchSettings,
};
use cyvasse_selfplay::{Evaluation, Evaluator, Uniform, middlegames};

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
    let positions = middlegames(&rules, 20, 1);
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
