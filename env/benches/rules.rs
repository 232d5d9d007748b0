//! Speed of the rules on one thread, beside the public chess crate
//! `cozy-chess` in the same run.
//!
//! The Cyvasse positions are middlegames: 20 to 40 random plies from setups
//! drawn uniformly, all from one seed. Chess is counted from the "kiwipete"
//! position. Throughput is in nodes, positions or plies a second.

use std::hint::black_box;
use std::sync::Arc;

use cozy_chess::Board;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cyvasse_env::{
    ENCODED_LEN, Game, Position, Rules, SetupSpace, encode, perft, perft_by_playing,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Positions after 20 to 40 random plies whose games go on.
fn middlegames(rules: &Arc<Rules>, count: usize, seed: u64) -> Vec<Position> {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
        let mut game = Game::new(rules.clone(), Position::start(&white, &black));
        let plies = rng.random_range(20..=40);
        if play_randomly(&mut game, plies, &mut rng) == plies && game.outcome().is_none() {
            positions.push(game.position().clone());
        }
    }
    positions
}

/// Plays up to `plies` random plies; returns how many were played.
fn play_randomly(game: &mut Game, plies: usize, rng: &mut ChaCha8Rng) -> usize {
    let mut actions = Vec::with_capacity(128);
    for ply in 0..plies {
        if game.outcome().is_some() {
            return ply;
        }
        game.legal_actions(&mut actions);
        game.play_unchecked(actions[rng.random_range(0..actions.len())]);
    }
    plies
}

fn chess_perft(board: &Board, depth: u32, bulk: bool) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut nodes = 0;
    board.generate_moves(|moves| {
        if bulk && depth == 1 {
            nodes += moves.len() as u64;
            return false;
        }
        for chess_move in moves {
            let mut next = board.clone();
            next.play_unchecked(chess_move);
            nodes += chess_perft(&next, depth - 1, bulk);
        }
        false
    });
    nodes
}

/// Positions of whose perft(4) the benchmark takes the sum: few, since each
/// has about two million sequences.
const PERFT_POSITIONS: usize = 8;

fn perft_benches(criterion: &mut Criterion) {
    let rules = Arc::new(Rules::iron_throne());
    let positions = middlegames(&rules, PERFT_POSITIONS, 1);
    let chess: Board = KIWIPETE.parse().expect("a valid position");
    let count = |depth| positions.iter().map(|p| perft(p, &rules, depth)).sum::<u64>();

    let mut group = criterion.benchmark_group("perft_counting_leaves");
    group.sample_size(10);
    group.throughput(Throughput::Elements(count(4)));
    group.bench_function("cyvasse", |bench| bench.iter(|| black_box(count(4))));
    group.throughput(Throughput::Elements(chess_perft(&chess, 4, true)));
    group.bench_function("cozy-chess", |bench| {
        bench.iter(|| chess_perft(black_box(&chess), 4, true))
    });
    group.finish();

    let play = |depth| positions.iter().map(|p| perft_by_playing(p, &rules, depth)).sum::<u64>();
    let mut group = criterion.benchmark_group("perft_playing_every_move");
    group.sample_size(10);
    group.throughput(Throughput::Elements(count(3)));
    group.bench_function("cyvasse", |bench| bench.iter(|| black_box(play(3))));
    group.throughput(Throughput::Elements(chess_perft(&chess, 4, false)));
    group.bench_function("cozy-chess", |bench| {
        bench.iter(|| chess_perft(black_box(&chess), 4, false))
    });
    group.finish();
}

fn encoding_bench(criterion: &mut Criterion) {
    let rules = Arc::new(Rules::iron_throne());
    let positions = middlegames(&rules, 64, 2);
    let mut planes = vec![0.0; ENCODED_LEN];
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("positions", |bench| {
        bench.iter(|| {
            for position in &positions {
                encode(black_box(position), 1, &rules, &mut planes);
            }
            black_box(planes[0])
        });
    });
    group.finish();
}

fn playout_bench(criterion: &mut Criterion) {
    let rules = Arc::new(Rules::iron_throne());
    let space = SetupSpace::new(&rules);
    let playout = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
        let mut game = Game::new(rules.clone(), Position::start(&white, &black));
        play_randomly(&mut game, usize::MAX, &mut rng) as u64
    };
    let mut group = criterion.benchmark_group("random_playouts");
    group.throughput(Throughput::Elements((0..100).map(playout).sum()));
    group.bench_function("plies", |bench| bench.iter(|| (0..100).map(playout).sum::<u64>()));
    group.finish();
}

criterion_group!(benches, perft_benches, encoding_bench, playout_bench);
criterion_main!(benches);
