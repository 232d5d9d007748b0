//! The alpha-beta player against plain minimax and a brute-force solver.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use cyvasse_env::{Action, Game, Position, Rules};
use cyvasse_selfplay::players::alphabeta::{
    AlphaBeta, EXACT_DEPTH, Limit, QUIESCENCE_PLIES, SURE, WIN, evaluate,
};
use cyvasse_selfplay::players::{Player, Rollouts, Turn};

/// Minimax as it is told in textbooks, with the player's judgement at the end:
/// no window, no table, no order. Captures are played out from the horizon on,
/// as the player's documentation says.
struct Minimax<'a> {
    rules: &'a Rules,
    /// Positions beyond the horizon by hash and plies beyond: they recur often.
    beyond: HashMap<(u64, u32), i32>,
}

impl Minimax<'_> {
    fn actions(&self, position: &Position) -> Vec<Action> {
        let mut actions = Vec::new();
        position.legal_actions(self.rules, &mut actions);
        actions
    }

    /// The value with wins counted from this position.
    fn value(&mut self, position: &Position, depth: u32) -> i32 {
        if depth == 0 {
            return self.quiescence(position, 0);
        }
        if position.outcome(self.rules, || 1).is_some() {
            return 0;
        }
        let actions = self.actions(position);
        if actions.iter().any(|&action| position.captures_king(action)) {
            return WIN - 1;
        }
        let values =
            actions.iter().map(|&action| parent(self.value(&after(position, action), depth - 1)));
        values.max().unwrap()
    }

    fn quiescence(&mut self, position: &Position, beyond: u32) -> i32 {
        if let Some(&value) = self.beyond.get(&(position.hash(), beyond)) {
            return value;
        }
        let value = self.quiescence_anew(position, beyond);
        self.beyond.insert((position.hash(), beyond), value);
        value
    }

    fn quiescence_anew(&mut self, position: &Position, beyond: u32) -> i32 {
        if position.outcome(self.rules, || 1).is_some() {
            return 0;
        }
        let actions = self.actions(position);
        if actions.iter().any(|&action| position.captures_king(action)) {
            return WIN - 1;
        }
        let passed = after(position, Action::Pass);
        let replies = self.actions(&passed);
        let attacked = replies.iter().any(|&action| passed.captures_king(action));
        let stand = evaluate(position, &actions, &replies);
        if beyond == QUIESCENCE_PLIES {
            return stand;
        }
        let must_act = attacked && beyond == 0;
        let mut best = if must_act { i32::MIN } else { stand };
        for action in actions {
            let next = after(position, action);
            let captures = next.occupied().len() < position.occupied().len()
                || next.fortresses() != position.fortresses();
            if must_act || captures {
                best = best.max(parent(self.quiescence(&next, beyond + 1)));
            }
        }
        best
    }
}

/// The value of a position for whoever moved there, a ply earlier.
fn parent(value: i32) -> i32 {
    match -value {
        value if value > SURE => value - 1,
        value if value < -SURE => value + 1,
        value => value,
    }
}

fn after(position: &Position, action: Action) -> Position {
    let mut next = position.clone();
    next.play_unchecked(action);
    next
}

fn think(position: &Position, rules: &Arc<Rules>, depth: u32) -> (Action, i32) {
    let mut player = AlphaBeta::new(rules.clone(), Limit::Depth(depth));
    let thought = player.think(&Game::new(rules.clone(), position.clone()));
    (thought.best, thought.value)
}

/// Positions on the way of random games.
fn positions(rules: &Arc<Rules>, count: u64) -> impl Iterator<Item = Position> {
    (0..count).map(|seed| {
        let plies = 6 + 5 * (seed as usize % 8);
        common::random_game(rules, plies, 1000 + seed).position().clone()
    })
}

/// Checks value and action at depths 1 to `deepest`; counts the values that
/// are wins or losses.
fn compare(position: &Position, rules: &Arc<Rules>, deepest: u32) -> usize {
    let decided = (1..=deepest).filter(|&depth| {
        let mut minimax = Minimax { rules, beyond: HashMap::new() };
        let expected = minimax.value(position, depth);
        let (best, value) = think(position, rules, depth);
        assert_eq!(value, expected, "depth {depth} of {position}");
        if !position.captures_king(best) {
            let reached = parent(minimax.value(&after(position, best), depth - 1));
            assert_eq!(reached, expected, "{best} at depth {depth} of {position}");
        }
        expected.abs() > SURE
    });
    decided.count()
}

#[test]
fn the_value_is_minimaxs_and_the_action_has_it() {
    let rules = Arc::new(Rules::iron_throne());
    let decided: usize = positions(&rules, 24).map(|position| compare(&position, &rules, 2)).sum();
    assert!(decided > 6, "only {decided} values were wins or losses");
    // Minimax without a window is slow: depth 3 where few units are left.
    let late = (0..).map(|seed| common::random_game(&rules, 120, seed).position().clone());
    let late = late.filter(|position| position.occupied().len() <= 11).take(5);
    late.for_each(|position| _ = compare(&position, &rules, EXACT_DEPTH));
}

/// Whether the side to move can force the king's capture within `plies`.
fn wins(position: &Position, rules: &Rules, plies: u32) -> bool {
    let mut actions = Vec::new();
    position.legal_actions(rules, &mut actions);
    actions.iter().any(|&action| position.captures_king(action))
        || plies > 2
            && actions.iter().any(|&action| loses(&after(position, action), rules, plies - 1))
}

/// Whether the side to move loses its king within `plies` whatever it does.
fn loses(position: &Position, rules: &Rules, plies: u32) -> bool {
    let mut actions = Vec::new();
    position.legal_actions(rules, &mut actions);
    !actions.iter().any(|&action| position.captures_king(action))
        && actions.iter().all(|&action| wins(&after(position, action), rules, plies - 1))
}

#[test]
fn forced_wins_are_found_as_a_brute_force_solver_finds_them() {
    let rules = Arc::new(Rules::iron_throne());
    let (mut short, mut long) = (0, 0);
    for position in positions(&rules, 300) {
        let in_one = wins(&position, &rules, 1);
        let in_three = !in_one && wins(&position, &rules, 3);
        let (best, value) = think(&position, &rules, 3);
        if in_one {
            assert_eq!(value, WIN - 1, "{position}");
            assert!(position.captures_king(best), "{best} in {position}");
        } else if in_three {
            assert_eq!(value, WIN - 3, "{position}");
            assert!(loses(&after(&position, best), &rules, 2), "{best} in {position}");
        } else {
            assert!(value < WIN - 3, "{position}");
        }
        short += u32::from(in_one);
        long += u32::from(in_three);
    }
    assert!(short > 50 && long > 10, "{short} wins in 1, {long} in 3");
}

#[test]
fn an_answer_depends_on_the_question_alone() {
    let rules = Arc::new(Rules::iron_throne());
    for limit in [Limit::Depth(3), Limit::Nodes(700)] {
        let mut practised = AlphaBeta::new(rules.clone(), limit);
        for position in positions(&rules, 20) {
            let game = Game::new(rules.clone(), position);
            let thought = practised.think(&game);
            assert_eq!(thought, AlphaBeta::new(rules.clone(), limit).think(&game));
            assert!(game.position().is_legal(thought.best, &rules));
            if let Limit::Nodes(nodes) = limit {
                assert!(thought.nodes <= nodes + 1, "{} nodes", thought.nodes);
            }
        }
    }
}

#[test]
fn rollouts_prefer_what_wins() {
    let rules = Arc::new(Rules::iron_throne());
    // The dragon takes the king, or a rabble that is worth nothing here.
    let text = "8/8/8/8/8/8/8/8 3k4/8/8/8/3D3r/8/8/3K4 w - 0 12";
    let game = Game::new(rules.clone(), Position::parse(text, &rules).unwrap());
    let mut player = Rollouts::player(rules, 50);
    let choose = |player: &mut dyn Player| {
        player.choose(&[Turn { game: &game, seed: 3 }]).unwrap()[0].to_string()
    };
    assert_eq!(choose(&mut player), "d4d8");
    assert_eq!(choose(&mut player), "d4d8");
}
