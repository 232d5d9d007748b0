//! Kings that can be caught, and those that cannot: the search against brute
//! force on sampled positions of Cyvasse.
//!
//! What was measured with the uniform evaluator, 200 wins in 3 plies and 150 in 5:
//!
//! - Gumbel finds all wins in 3 plies within 2,000 simulations if it considers
//!   every action at the root. With 16 considered it finds the wins among those
//!   16 and no more, however long it searches: 30 % without noise, 60 % with it.
//!   A prior that knows nothing leaves it to chance what is considered.
//! - PUCT finds 97 % of them within 2,000 simulations, all within 5,000.
//! - PUCT finds 122 wins in 5 plies within 10,000 simulations, 147 within 200,000
//!   and 149 within 400,000. The last ones lie behind actions whose first few
//!   hundred simulations looked bad.
//! - Gumbel, all actions considered, finds 6 in 10 of those within 30,000 and
//!   hardly more within 100,000, for the reason told in `connect_four.rs`; with a
//!   `c_scale` of 0.1 it is 9 in 10.
//!
//! The positions are sampled anew by
//! `cargo test --release --workspace --test cyvasse_endings -- --ignored`

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use common::brute_force::KingHunt;
use cyvasse_env::{Action, Position, Rules};
use cyvasse_selfplay::Proven;
use cyvasse_selfplay::search::{Cyvasse, PolicySettings, Search, SearchResult, SearchSettings};

/// What brute force says of a position, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    /// It can capture the king in so many plies, and no sooner.
    Win(u16),
    /// It loses its king in so many plies, and no sooner.
    Loss(u16),
    /// It can neither win within 5 plies nor lose within 4.
    Open,
}

/// How many of each are sampled.
const SAMPLES: [(Truth, usize); 5] = [
    (Truth::Win(3), 200),
    (Truth::Win(5), 150),
    (Truth::Loss(2), 80),
    (Truth::Loss(4), 70),
    (Truth::Open, 200),
];

fn truth(position: &Position, hunt: &mut KingHunt) -> Truth {
    match (hunt.win(position, 5), hunt.loss(position, 4)) {
        (Some(plies), _) => Truth::Win(plies),
        (None, Some(plies)) => Truth::Loss(plies),
        (None, None) => Truth::Open,
    }
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/cyvasse_endings.txt")
}

/// The sampled positions.
fn endings(rules: &Rules) -> Vec<(Truth, Position)> {
    let text = fs::read_to_string(file()).unwrap();
    let ending = |line: &str| {
        let (name, position) = line.split_once(": ").unwrap();
        let (truth, _) = SAMPLES.iter().find(|(truth, _)| format!("{truth:?}") == name).unwrap();
        (*truth, Position::parse(position, rules).unwrap())
    };
    text.lines().map(ending).collect()
}

/// The constants of the tests, but for as many actions at the root as there are.
fn wide_gumbel(simulations: u32) -> SearchSettings {
    let mut settings = common::gumbel(simulations);
    if let PolicySettings::Gumbel(policy) = &mut settings.policy {
        policy.max_considered = 128;
    }
    settings
}

/// Searches a position and checks that nothing is proven that is not so.
fn search(
    (truth, position): &(Truth, Position),
    settings: &SearchSettings,
    in_flight: usize,
    hunt: &mut KingHunt,
) -> SearchResult<Action> {
    let game = Cyvasse { rules: hunt.rules().clone() };
    let mut search = Search::new(game, settings.clone(), position.clone(), &[], 5);
    common::run(&mut search, in_flight);
    let result = search.result(0);
    // Plies that are proven are an upper bound of those that it takes.
    let so = match (result.proven, *truth) {
        (None, _) => true,
        (Some(Proven::Win(plies)), Truth::Win(least)) => {
            plies >= least && (plies > 5 || hunt.is_win(position, result.best, plies))
        }
        (Some(Proven::Win(plies)), Truth::Open) => plies > 5,
        (Some(Proven::Loss(plies)), Truth::Loss(least)) => plies >= least,
        (Some(Proven::Loss(plies)), Truth::Open) => plies > 4,
        (Some(Proven::Draw(_)), Truth::Open) => true,
        _ => false,
    };
    assert!(so, "{truth:?}: {position}: {:?} by {}", result.proven, result.best);
    result
}

#[test]
fn the_file_holds_what_brute_force_finds() {
    let rules = Arc::new(Rules::iron_throne());
    let endings = endings(&rules);
    let mut hunt = KingHunt::new(&rules);
    for (kind, count) in SAMPLES {
        assert_eq!(endings.iter().filter(|(truth, _)| *truth == kind).count(), count);
    }
    for (kind, position) in endings.iter().step_by(3) {
        assert_eq!(truth(position, &mut hunt), *kind, "{position}");
    }
}

#[test]
fn nothing_is_proven_that_is_not_so() {
    let rules = Arc::new(Rules::iron_throne());
    let mut hunt = KingHunt::new(&rules);
    let mut decided = 0;
    for ending in endings(&rules) {
        for (settings, in_flight) in
            [(common::gumbel(500), 8), (wide_gumbel(1_000), 1), (common::puct(3_000), 4)]
        {
            let result = search(&ending, &settings, in_flight, &mut hunt);
            decided += usize::from(result.proven.is_some());
        }
    }
    assert!(decided > 700, "only {decided} results were there to be checked");
}

/// How many of the positions that are won in so many plies are found: the
/// action to play is one that wins as fast as can be, or a win is proven.
fn found(plies: u16, settings: &SearchSettings) -> usize {
    let rules = Arc::new(Rules::iron_throne());
    let mut hunt = KingHunt::new(&rules);
    let won = |ending: &(Truth, Position)| ending.0 == Truth::Win(plies);
    let found = |ending: (Truth, Position)| {
        let result = search(&ending, settings, 1, &mut hunt);
        result.proven.is_some() || hunt.is_win(&ending.1, result.best, plies)
    };
    endings(&rules).into_iter().filter(won).map(found).filter(|&found| found).count()
}

#[test]
fn wins_in_three_plies_are_found() {
    assert!(found(3, &wide_gumbel(2_000)) >= 198);
    assert!(found(3, &common::puct(5_000)) >= 198);
}

#[test]
fn wins_in_five_plies_are_found() {
    assert!(found(5, &common::puct(200_000)) >= 147);
}

#[test]
#[ignore = "samples the positions anew"]
fn sample() {
    let rules = Arc::new(Rules::iron_throne());
    let mut hunt = KingHunt::new(&rules);
    let mut left = SAMPLES;
    let mut lines = Vec::new();
    for seed in 0.. {
        if left.iter().all(|(_, left)| *left == 0) {
            break;
        }
        let start = common::random_start(&rules, seed);
        let mut position = start.clone();
        for action in common::random_line(&rules, start, 6 + seed as usize % 60, seed) {
            position.play_unchecked(action);
        }
        let truth = truth(&position, &mut hunt);
        let wanted = left.iter_mut().find(|(kind, left)| *kind == truth && *left > 0);
        if let Some((_, left)) = wanted {
            *left -= 1;
            lines.push(format!("{truth:?}: {position}\n"));
        }
    }
    lines.sort();
    fs::write(file(), lines.concat()).unwrap();
}
