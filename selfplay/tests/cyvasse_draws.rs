//! Draws that depend on the path: the search against brute force with history,
//! on small random positions close to a draw by repetition, for want of
//! progress or by length.

mod common;

use std::sync::Arc;

use common::brute_force::{KingHunt, Verdict, exhaust};
use cyvasse_env::{Action, Game as Played, Position, Rules};
use cyvasse_selfplay::Proven;
use cyvasse_selfplay::search::{Cyvasse, PolicySettings, Search, SearchSettings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Plies that brute force looks ahead.
const PLIES: u16 = 4;

/// A small random position with these counters: kings, two other units a side,
/// some tiles.
fn small_position(rules: &Rules, quiet: u16, plies: u16, rng: &mut ChaCha8Rng) -> Position {
    loop {
        let mut tiles = ['1'; 64];
        let mut units = ['1'; 64];
        for kind in ['m', 'w', 'f'] {
            (0..6).for_each(|_| tiles[rng.random_range(0..64)] = kind);
        }
        // Close together, so that there is something to fight for.
        let corner = rng.random_range(0..4) * 8 + rng.random_range(0..4);
        for unit in ['K', 'k', kind(rng), kind(rng), lower(kind(rng)), lower(kind(rng))] {
            units[corner + rng.random_range(0..5) * 8 + rng.random_range(0..5)] = unit;
        }
        let turn = if rng.random() { 'w' } else { 'b' };
        let text = format!("{} {} {turn} - {quiet} {plies}", rows(tiles), rows(units));
        // Refused when a king was overwritten or stands on a mountain.
        if let Ok(position) = Position::parse(&text, rules)
            && position.winner().is_none()
        {
            return position;
        }
    }
}

fn kind(rng: &mut ChaCha8Rng) -> char {
    ['R', 'S', 'X', 'L', 'H', 'C', 'T', 'D'][rng.random_range(0..8)]
}

fn lower(unit: char) -> char {
    unit.to_ascii_lowercase()
}

/// The text form of a board whose empty squares are ones.
fn rows(cells: [char; 64]) -> String {
    let row = |cells: &[char]| {
        let row: String = cells.iter().collect();
        (2..=8).rev().fold(row, |row, run| row.replace(&"1".repeat(run), &run.to_string()))
    };
    cells.chunks(8).map(row).collect::<Vec<String>>().join("/")
}

/// A game in which both sides have shuttled to and fro, so that the next
/// positions may be the third of their kind; `None` if these sides cannot.
fn shuttled(start: Played, rng: &mut ChaCha8Rng) -> Option<Played> {
    let mut game = start;
    let mut there = Vec::new();
    for _ in 0..2 {
        let mut actions = Vec::new();
        game.legal_actions(&mut actions);
        if actions.is_empty() {
            return None; // a king has been captured
        }
        let action = actions[rng.random_range(0..actions.len())];
        game.play_unchecked(action);
        there.push(action);
    }
    let back = there.iter().map(|&action| match action {
        Action::Move { from, to } => Some(Action::Move { from: to, to: from }),
        _ => None,
    });
    let back = back.collect::<Option<Vec<Action>>>()?;
    let cycle = [back, there].concat();
    // The eighth ply makes the start occur for the third time.
    for ply in 0..rng.random_range(4..6) {
        game.play(cycle[ply % 4]).ok()?;
    }
    game.outcome().is_none().then_some(game)
}

/// A game whose end is near in one of three ways.
fn game(rules: &Arc<Rules>, seed: u64) -> Option<Played> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rng = &mut rng;
    let left = rng.random_range(1..PLIES);
    let (quiet, plies) = match seed % 3 {
        0 => (rules.draws.no_progress_plies - left, 200),
        1 => (5, rules.draws.max_plies - left),
        _ => (5, 100),
    };
    let game = Played::new(rules.clone(), small_position(rules, quiet, plies, rng));
    if seed % 3 == 2 { shuttled(game, rng) } else { Some(game) }
}

/// Whether what a search has proven can be, brute force having looked so far.
fn agrees(proven: Proven, verdict: Verdict) -> bool {
    match (proven, verdict) {
        (Proven::Win(plies), Verdict::Win(least)) => plies >= least,
        (Proven::Loss(plies), Verdict::Loss(least)) => plies >= least,
        (Proven::Win(plies) | Proven::Loss(plies), Verdict::Open) => plies > PLIES,
        (Proven::Draw(_), Verdict::Draw | Verdict::Open) => true,
        _ => false,
    }
}

/// Whether an action keeps what brute force says of the position.
fn keeps(game: &Played, action: Action, verdict: Verdict) -> bool {
    let mut next = game.clone();
    next.play_unchecked(action);
    match (verdict, exhaust(&next, PLIES - 1)) {
        (Verdict::Win(_), after) => matches!(after, Verdict::Loss(_)),
        (Verdict::Draw, after) => !matches!(after, Verdict::Win(_)),
        _ => true,
    }
}

/// Games near a draw, 60 of each of the three ways. In a third of them the draw
/// changes what they come to: without it they were won or lost. Of the others
/// with a repetition at hand all are won or lost all the same.
fn games(rules: &Arc<Rules>) -> Vec<(Played, Verdict)> {
    let mut wanted = [[40, 20]; 3];
    let mut hunt = KingHunt::new(rules);
    let mut games = Vec::new();
    for seed in 0.. {
        if wanted.as_flattened().iter().all(|&wanted| wanted == 0) {
            break;
        }
        let Some(game) = game(rules, seed) else { continue };
        let mut actions = Vec::new();
        game.legal_actions(&mut actions);
        let at_once = actions.iter().any(|&action| game.position().captures_king(action));
        if at_once || actions.len() > 16 {
            continue;
        }
        // Without draws.
        let win = hunt.win(game.position(), PLIES).map(Verdict::Win);
        let without = win.or(hunt.loss(game.position(), PLIES).map(Verdict::Loss));
        let wanted = &mut wanted[seed as usize % 3];
        if without.is_none() && (wanted[0] == 0 || seed % 3 == 2) {
            continue;
        }
        let verdict = exhaust(&game, PLIES);
        let wanted = &mut wanted[usize::from(without.is_some_and(|without| without != verdict))];
        if *wanted > 0 {
            *wanted -= 1;
            games.push((game, verdict));
        }
    }
    games
}

#[test]
fn draws_are_seen_where_they_are_and_nowhere_else() {
    let rules = Arc::new(Rules::iron_throne());
    let mut wide = common::gumbel(2_000);
    if let PolicySettings::Gumbel(policy) = &mut wide.policy {
        policy.max_considered = 128;
    }
    let all: [(SearchSettings, usize); 3] =
        [(wide, 1), (common::puct(2_000), 1), (common::puct(2_000), 8)];
    let (mut told, mut decided, mut continued) = (0, 0, 0);
    for (seed, (game, verdict)) in games(&rules).into_iter().enumerate() {
        for (settings, in_flight) in &all {
            let cyvasse = Cyvasse { rules: rules.clone() };
            let position = game.position().clone();
            let (settings, seed) = (settings.clone(), seed as u64);
            let mut search = Search::new(cyvasse, settings, position, game.earlier(), seed);
            common::run(&mut search, *in_flight);
            let result = search.result(0);
            let what = format!("{}: {result:?}, not {verdict:?}", game.position());
            assert!(result.proven.is_none_or(|proven| agrees(proven, verdict)), "{what}");
            assert!(keeps(&game, result.best, verdict), "{what}");
            told += usize::from(verdict != Verdict::Open);
            decided += usize::from(result.proven.is_some());

            // The next search goes on from this tree.
            let mut next = game.clone();
            next.play_unchecked(result.best);
            if next.outcome().is_some() {
                continue;
            }
            search.advance(result.best, next.position().clone(), next.earlier(), seed);
            common::run(&mut search, *in_flight);
            let proven = search.result(0).proven;
            let verdict = exhaust(&next, PLIES);
            let what = format!("then {}: {proven:?}, not {verdict:?}", next.position());
            assert!(proven.is_none_or(|proven| agrees(proven, verdict)), "{what}");
            continued += 1;
        }
    }
    assert!(told >= 400 && decided >= 350, "{decided} decided, {told} could be");
    assert!(continued >= 300, "only {continued} were continued");
}
