//! Golden trees: what searches found when their results were stored must be
//! what they find now, so that work on speed or memory changes nothing.
//!
//! A change that is meant to change searches stores them anew:
//! `cargo test --release --workspace --test golden_trees -- --ignored`

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use common::standin::StandIn;
use cyvasse_env::{Action, Game as Played, Position, Rules};
use cyvasse_selfplay::Proven;
use cyvasse_selfplay::search::{Cyvasse, PolicySettings, Search, SearchSettings};
use serde::{Deserialize, Serialize};

/// A game to search from, and the searches there.
#[derive(Debug, Serialize, Deserialize)]
struct GoldenGame {
    /// The text form of the first position.
    start: String,
    /// The actions that lead from there to the root.
    actions: Vec<String>,
    trees: Vec<GoldenTree>,
}

/// What a search found.
#[derive(Debug, Serialize, Deserialize)]
struct GoldenTree {
    /// A name among [`SETTINGS`].
    settings: String,
    best: String,
    value: f32,
    /// Such as `Win(3)`.
    proven: Option<String>,
    simulations: u32,
    evaluations: u32,
    /// Each legal action with its visits and its share of the target.
    root: Vec<(String, u32, f32)>,
}

/// How searches are done: a name, and how many leaves may be in flight.
const SETTINGS: [(&str, usize); 8] = [
    ("gumbel 16, 4 considered", 1),
    ("gumbel 64, noise", 1),
    ("gumbel 400", 1),
    ("gumbel 200, 8 in flight", 8),
    ("gumbel 300, uneven prior", 1),
    ("puct 64, noise", 1),
    ("puct 400", 1),
    ("puct 200, 8 in flight", 8),
];

/// The settings of a name, and the sharpness of the stand-in network.
fn settings(name: &str) -> (SearchSettings, f32) {
    match name {
        "gumbel 16, 4 considered" => (gumbel(16, 4, 1.0, 1.0), 2.0),
        "gumbel 64, noise" => (gumbel(64, 16, 1.0, 1.0), 2.0),
        "gumbel 400" => (gumbel(400, 16, 1.0, 0.0), 2.0),
        "gumbel 200, 8 in flight" => (gumbel(200, 16, 0.1, 0.0), 2.0),
        "gumbel 300, uneven prior" => (gumbel(300, 32, 0.1, 1.0), 6.0),
        "puct 64, noise" => (puct(64, 0.25), 2.0),
        "puct 400" => (puct(400, 0.0), 4.0),
        "puct 200, 8 in flight" => (puct(200, 0.0), 2.0),
        _ => panic!("no settings of the name {name}"),
    }
}

fn gumbel(simulations: u32, considered: u32, c_scale: f32, noise: f32) -> SearchSettings {
    let mut settings = common::gumbel(simulations);
    if let PolicySettings::Gumbel(policy) = &mut settings.policy {
        (policy.max_considered, policy.c_scale, policy.noise) = (considered, c_scale, noise);
    }
    settings
}

fn puct(simulations: u32, noise_share: f32) -> SearchSettings {
    let mut settings = common::puct(simulations);
    if let PolicySettings::Puct(policy) = &mut settings.policy {
        policy.noise_share = noise_share;
    }
    settings
}

fn tree(played: &Played, name: &str, in_flight: usize, seed: u64) -> GoldenTree {
    let (settings, sharpness) = settings(name);
    let game = Cyvasse { rules: played.rules().clone() };
    let mut search = Search::new(game, settings, played.position().clone(), played.earlier(), seed);
    common::run_with(&mut search, &mut StandIn { sharpness }, in_flight);
    let result = search.result(played.position().plies());
    let root = result.visits.iter().zip(&result.policy);
    GoldenTree {
        settings: name.to_owned(),
        best: result.best.to_string(),
        value: result.value.get(),
        proven: result.proven.map(|proven: Proven| format!("{proven:?}")),
        simulations: result.simulations,
        evaluations: result.evaluations,
        root: root.map(|(&(action, n), &(_, share))| (action.to_string(), n, share)).collect(),
    }
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden_trees.json")
}

#[test]
fn searches_find_what_they_found_before() {
    let rules = Arc::new(Rules::iron_throne());
    let games: Vec<GoldenGame> = serde_json::from_slice(&fs::read(file()).unwrap()).unwrap();
    assert!(games.len() >= 12);
    for (seed, game) in games.iter().enumerate() {
        let start = Position::parse(&game.start, &rules).unwrap();
        let mut played = Played::new(rules.clone(), start);
        game.actions.iter().for_each(|text| played.play(Action::parse(text).unwrap()).unwrap());
        assert_eq!(game.trees.len(), SETTINGS.len());
        for (golden, (name, in_flight)) in game.trees.iter().zip(SETTINGS) {
            let found = tree(&played, name, in_flight, seed as u64);
            assert_same(golden, &found, &format!("{name} in {}", played.position()));
        }
    }
}

/// Whole numbers and choices are the same, and shares and values within 1e-6.
fn assert_same(golden: &GoldenTree, found: &GoldenTree, place: &str) {
    let close = |a: f32, b: f32| (a - b).abs() <= 1e-6;
    let whole = |tree: &GoldenTree| {
        let root = tree.root.iter().map(|(action, visits, _)| (action.clone(), *visits));
        let root: Vec<(String, u32)> = root.collect();
        let counts = (tree.simulations, tree.evaluations);
        (tree.settings.clone(), tree.best.clone(), tree.proven.clone(), counts, root)
    };
    assert_eq!(whole(golden), whole(found), "{place}");
    assert!(close(golden.value, found.value), "{place}: {} is {}", golden.value, found.value);
    for (golden, found) in golden.root.iter().zip(&found.root) {
        assert!(close(golden.2, found.2), "{place}: {golden:?} is {found:?}");
    }
}

/// Games whose ends are worth a look: openings, middles, proven roots, roots
/// with a history and with draws in sight.
fn games(rules: &Arc<Rules>) -> Vec<(Position, Vec<Action>)> {
    let random = [(0, 1), (7, 2), (24, 3), (40, 4), (61, 5)]
        .map(|(plies, seed)| (common::random_start(rules, seed), plies, seed));
    let mut games: Vec<(Position, Vec<Action>)> = random
        .into_iter()
        .map(|(start, plies, seed)| (start.clone(), common::random_line(rules, start, plies, seed)))
        .collect();
    let lines = [
        // A win at once, a win in three plies and a loss in two.
        ("8/8/8/8/8/8/8/8 7k/8/5E2/8/8/8/8/K6D w - 0 0", ""),
        ("8/8/8/8/8/8/8/8 k7/8/4E3/8/8/8/8/K7 w - 0 0", ""),
        ("8/8/8/8/8/8/8/8 k7/8/2E5/8/8/8/8/K7 b - 0 1", ""),
        // Few units and much room.
        ("8/3f4/2m5/8/4w3/8/8/8 3k3d/8/8/2X5/8/3R4/8/K2H4 w - 12 60", ""),
        // The third occurrence of some positions is a step away.
        ("8/8/2ww4/8/8/8/8/8 7k/6r1/8/8/8/8/R7/K7 w - 4 20", "a2a3 h8g8 a3a2 g8h8 a2a3 h8g8 a3a2"),
        // Two and four plies to the end for want of progress.
        ("8/8/3c4/8/8/8/8/8 8/6h1/3k4/8/8/8/R7/K7 w - 98 322", ""),
        ("8/8/3c4/8/8/8/8/8 8/6h1/3k4/8/8/8/R7/K7 w - 96 320", ""),
        // Three plies to the longest game.
        ("8/8/8/8/8/8/8/8 7k/6c1/8/8/8/4E3/R7/K7 b - 7 497", ""),
    ];
    for (start, line) in lines {
        let start = Position::parse(start, rules).unwrap();
        let actions = line.split_whitespace().map(|text| Action::parse(text).unwrap());
        games.push((start, actions.collect()));
    }
    games
}

#[test]
#[ignore = "stores the golden trees anew"]
fn store() {
    let rules = Arc::new(Rules::iron_throne());
    let store = |(seed, (start, actions)): (usize, (Position, Vec<Action>))| {
        let mut played = Played::new(rules.clone(), start.clone());
        actions.iter().for_each(|&action| played.play(action).unwrap());
        let trees = SETTINGS.map(|(name, flight)| tree(&played, name, flight, seed as u64));
        let actions = actions.iter().map(Action::to_string).collect();
        GoldenGame { start: start.to_string(), actions, trees: trees.into() }
    };
    let games: Vec<GoldenGame> = games(&rules).into_iter().enumerate().map(store).collect();
    fs::create_dir_all(file().parent().unwrap()).unwrap();
    fs::write(file(), one_tree_a_line(&games)).unwrap();
}

/// JSON that a diff of versions can be read in.
fn one_tree_a_line(games: &[GoldenGame]) -> String {
    let line = |tree: &GoldenTree| serde_json::to_string(tree).unwrap();
    let game = |game: &GoldenGame| {
        let start = serde_json::to_string(&game.start).unwrap();
        let actions = serde_json::to_string(&game.actions).unwrap();
        let trees: Vec<String> = game.trees.iter().map(line).collect();
        let trees = trees.join(",\n");
        format!("{{\"start\":{start},\n\"actions\":{actions},\n\"trees\":[\n{trees}]}}")
    };
    let games: Vec<String> = games.iter().map(game).collect();
    format!("[{}]\n", games.join(",\n"))
}
