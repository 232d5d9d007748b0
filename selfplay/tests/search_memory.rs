//! A search that is used again and again needs no more and no more memory.
//!
//! Alone in its file: it counts the bytes of the whole process.

mod common;

use std::sync::Arc;

use cyvasse_env::{Game as Played, Rules};
use cyvasse_selfplay::Uniform;
use cyvasse_selfplay::search::{Cyvasse, Search, SearchSettings};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// 1,000 searches, some of which go on from the tree of the one before, and
/// one in ten given up with leaves in flight.
fn thousand_searches(search: &mut Search<Cyvasse>, games: &[Played]) {
    for seed in 0..500 {
        let played = &games[seed as usize % games.len()];
        search.restart(played.position().clone(), played.earlier(), seed);
        if seed % 10 == 0 {
            let answers = common::answers(search, &mut Uniform::new());
            answers.iter().for_each(|answer| search.apply(answer));
            for _ in 0..seed % 16 {
                search.gather();
            }
            search.restart(played.position().clone(), played.earlier(), seed + 1);
        }
        common::run(search, 1 + seed as usize % 4);
        let best = search.result(0).best;
        let mut next = played.clone();
        next.play_unchecked(best);
        if next.outcome().is_none() {
            search.advance(best, next.position().clone(), next.earlier(), seed);
        } else {
            search.restart(played.position().clone(), played.earlier(), seed + 2);
        }
        common::run(search, 1);
    }
}

/// Bytes in use after each thousand of 10,000 searches with one `Search`.
fn bytes_in_use(settings: SearchSettings, games: &[Played]) -> Vec<usize> {
    let first = games[0].position().clone();
    let game = Cyvasse { rules: games[0].rules().clone() };
    let mut search = Search::new(game, settings, first, &[], 0);
    let mut bytes = Vec::with_capacity(10);
    for _ in 0..10 {
        thousand_searches(&mut search, games);
        bytes.push(MEMORY.current_usage());
    }
    bytes
}

#[test]
fn ten_thousand_searches_need_no_more_memory_than_the_first() {
    let rules = Arc::new(Rules::iron_throne());
    let games: Vec<Played> =
        (0..50).map(|seed| common::random_game(&rules, seed as usize, seed)).collect();
    for settings in [common::gumbel(16), common::puct(16)] {
        let before = MEMORY.current_usage();
        let bytes = bytes_in_use(settings, &games);
        assert!(bytes[0] > before, "nothing is counted");
        // Two trees take turns when a search goes on from the last one: it takes
        // some turns until both have been through the largest.
        let (early, late) = bytes.split_at(5);
        assert!(late.iter().all(|&bytes| bytes == late[0]), "{before}, then {bytes:?}");
        assert!(late[0] - early[0] < early[0] / 100, "{before}, then {bytes:?}");
        drop(bytes);
        // And none is left when the search is dropped.
        assert_eq!(MEMORY.current_usage(), before);
    }
}
