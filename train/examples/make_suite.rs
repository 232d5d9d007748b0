//! Makes the positions of `cyvasse evaluate suite`:
//!
//! ```text
//! cargo run --release --example make_suite > train/data/suite.jsonl
//! ```
//!
//! Games are played between players that look one ply ahead and often err;
//! their positions are asked, by brute force over every line of play, for king
//! captures that can be forced and for defences that are the only one. Every
//! position is from another game, and its answer is certain.

use std::collections::HashMap;
use std::sync::Arc;

use cyvasse_env::{Action, Game, Position, Rules, SetupSpace, Square, Tile, Unit};
use cyvasse_selfplay::players::alphabeta::{AlphaBeta, Limit, WIN};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

/// Positions of each kind.
const EACH: usize = 20;

/// Positions in all: the rarest kinds have more than a dozen by then.
const ALL: usize = 117;

/// Share of the actions of a game that are drawn by lot.
const ERRORS: f64 = 0.25;

/// Legal actions below which a position asks for too little.
const LEAST_ACTIONS: usize = 15;

fn main() {
    let rules = Arc::new(Rules::iron_throne());
    let mut search =
        Search { rules: rules.clone(), player: AlphaBeta::new(rules.clone(), Limit::Depth(5)) };
    let fingerprint = format!("{:016x}", rules.fingerprint());
    println!("{}", json!({ "format": "cyvasse-suite", "version": 1, "rules": fingerprint }));
    let mut found: HashMap<&str, usize> = HashMap::new();
    for seed in 0.. {
        if found.values().sum::<usize>() == ALL {
            break;
        }
        let wanted = |kind: &str| found.get(kind).is_none_or(|&count| count < EACH);
        if let Some((kind, position, answers)) = search.question(&rules, seed, wanted) {
            let count = found.entry(kind).or_default();
            *count += 1;
            let mut answers: Vec<String> = answers.iter().map(Action::to_string).collect();
            answers.sort();
            let name = format!("{kind} {count}");
            let position = position.to_string();
            println!(
                "{}",
                json!({ "name": name, "kind": kind, "position": position, "answers": answers })
            );
        }
    }
    for kind in KINDS {
        eprintln!("{kind}: {}", found.get(kind).copied().unwrap_or(0));
    }
}

/// The kinds of question, the rarest first.
const KINDS: [&str; 6] =
    ["thaw", "shot over mountains", "assault", "win in 5", "only defence", "win in 3"];

struct Search {
    rules: Arc<Rules>,
    player: AlphaBeta,
}

impl Search {
    /// The question of the rarest kind that a game has, with its answers.
    fn question(
        &mut self,
        rules: &Arc<Rules>,
        seed: u64,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<(&'static str, Position, Vec<Action>)> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let space = SetupSpace::new(rules);
        let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
        let mut game = Game::new(rules.clone(), Position::start(&white, &black));
        let mut quick = AlphaBeta::new(rules.clone(), Limit::Depth(1));
        let mut best: Option<(usize, Position, Vec<Action>)> = None;
        while game.outcome().is_none() {
            let position = game.position().clone();
            for (kind, answers) in self.ask(&position) {
                let rank = KINDS.iter().position(|&other| other == kind).unwrap_or(KINDS.len());
                if wanted(kind) && best.as_ref().is_none_or(|(other, ..)| rank < *other) {
                    best = Some((rank, position.clone(), answers));
                }
            }
            let mut actions = Vec::new();
            game.legal_actions(&mut actions);
            let lot = actions[rng.random_range(0..actions.len())];
            let action = if rng.random_bool(ERRORS) { lot } else { quick.think(&game).best };
            game.play_unchecked(action);
        }
        best.map(|(rank, position, answers)| (KINDS[rank], position, answers))
    }

    /// The questions that a position makes.
    fn ask(&mut self, position: &Position) -> Vec<(&'static str, Vec<Action>)> {
        let actions = self.actions(position);
        if actions.len() < LEAST_ACTIONS {
            return Vec::new();
        }
        let captures = |action: &&Action| position.captures_king(**action);
        let at_once: Vec<Action> = actions.iter().filter(captures).copied().collect();
        if !at_once.is_empty() {
            let over = at_once.iter().all(|&action| over_mountain(position, action));
            return if over { vec![("shot over mountains", at_once)] } else { Vec::new() };
        }
        let mut questions = Vec::new();
        let in_three = self.forcing(position, &actions, 3);
        if !in_three.is_empty() {
            if in_three.len() <= 2 {
                questions
                    .extend(self.special(position, &in_three).map(|kind| (kind, in_three.clone())));
                questions.push(("win in 3", in_three));
            }
            return questions;
        }
        let holds = |action: &&Action| !self.wins(&after(position, **action), 3);
        let defences: Vec<Action> = actions.iter().filter(holds).copied().collect();
        if defences.len() == 1 {
            questions.push(("only defence", defences));
        }
        let thought = self.player.think(&Game::new(self.rules.clone(), position.clone()));
        if thought.value == WIN - 5 {
            let in_five = self.forcing(position, &actions, 5);
            if (1..=2).contains(&in_five.len()) {
                questions.push(("win in 5", in_five));
            }
        }
        questions
    }

    /// What is particular about winning actions.
    fn special(&self, position: &Position, answers: &[Action]) -> Option<&'static str> {
        let frozen = position.frozen();
        if frozen.any() {
            let thawed = without_frost(position, &self.rules);
            let as_before = self.forcing(&thawed, &self.actions(&thawed), 3);
            if as_before != answers {
                return Some("thaw");
            }
        }
        if answers.iter().all(|&action| over_mountain(position, action)) {
            return Some("shot over mountains");
        }
        answers.iter().all(|action| matches!(action, Action::Assault { .. })).then_some("assault")
    }

    fn actions(&self, position: &Position) -> Vec<Action> {
        let mut actions = Vec::new();
        position.legal_actions(&self.rules, &mut actions);
        actions
    }

    /// The actions that force the king's capture within `plies`.
    fn forcing(&self, position: &Position, actions: &[Action], plies: u32) -> Vec<Action> {
        let forces = |action: &&Action| self.loses(&after(position, **action), plies - 1);
        actions.iter().filter(forces).copied().collect()
    }

    /// Whether the side to move can force the king's capture within `plies`.
    fn wins(&self, position: &Position, plies: u32) -> bool {
        let actions = self.actions(position);
        actions.iter().any(|&action| position.captures_king(action))
            || plies > 2
                && actions.iter().any(|&action| self.loses(&after(position, action), plies - 1))
    }

    /// Whether the side to move loses its king within `plies` whatever it does.
    fn loses(&self, position: &Position, plies: u32) -> bool {
        let actions = self.actions(position);
        position.winner().is_none()
            && !actions.iter().any(|&action| position.captures_king(action))
            && actions.iter().all(|&action| self.wins(&after(position, action), plies - 1))
    }
}

fn after(position: &Position, action: Action) -> Position {
    let mut next = position.clone();
    next.play_unchecked(action);
    next
}

/// The same position with nobody frozen.
fn without_frost(position: &Position, rules: &Rules) -> Position {
    let text = position.to_string();
    let mut fields: Vec<&str> = text.split(' ').collect();
    fields[3] = "-";
    Position::parse(&fields.join(" "), rules).expect("a position without frozen units is one too")
}

/// Whether an action is a shot with a mountain on its way.
fn over_mountain(position: &Position, action: Action) -> bool {
    let Action::Shot { from, to } = action else { return false };
    let step = |a: usize, b: usize| (b as i32 - a as i32).signum();
    let (files, ranks) = (step(from.file(), to.file()), step(from.rank(), to.rank()));
    let way = std::iter::successors(from.offset(files, ranks), |square: &Square| {
        square.offset(files, ranks)
    });
    let trebuchet = position.unit(from).is_some_and(|(_, unit)| unit == Unit::Trebuchet);
    trebuchet
        && way
            .take_while(|&square| square != to)
            .any(|square| position.tile(square) == Tile::Mountain)
}
