//! The positions of the suite: their answers are proven, and who looks far
//! enough finds them.

use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;

use cyvasse_env::{Action, Position, Rules};
use cyvasse_selfplay::players::AlphaBeta;
use cyvasse_selfplay::players::alphabeta::Limit;
use cyvasse_train::evaluation::{Question, Suite};

fn rules() -> Arc<Rules> {
    Arc::new(Rules::iron_throne())
}

fn after(position: &Position, action: Action) -> Position {
    let mut next = position.clone();
    next.play_unchecked(action);
    next
}

/// Plies in which the side to move takes the king by force, at most `plies`,
/// by trying everything; positions that recur are remembered.
struct Solver<'a> {
    rules: &'a Rules,
    known: HashMap<(u64, u32), bool>,
}

impl Solver<'_> {
    fn wins(&mut self, position: &Position, plies: u32) -> bool {
        if let Some(&known) = self.known.get(&(position.hash(), plies)) {
            return known;
        }
        let mut actions = Vec::new();
        position.legal_actions(self.rules, &mut actions);
        let wins = actions.iter().any(|&action| self.forces(position, action, plies));
        self.known.insert((position.hash(), plies), wins);
        wins
    }

    /// Whether an action takes the king, or leaves no answer that saves it.
    fn forces(&mut self, position: &Position, action: Action, plies: u32) -> bool {
        let next = after(position, action);
        if next.winner().is_some() {
            return true;
        }
        if plies < 3 {
            return false;
        }
        let mut replies = Vec::new();
        next.legal_actions(self.rules, &mut replies);
        replies.iter().all(|&reply| {
            let then = after(&next, reply);
            then.winner().is_none() && self.wins(&then, plies - 2)
        })
    }

    /// The actions that are right, by the kind of the question.
    fn answers(&mut self, question: &Question) -> Vec<Action> {
        let position = &question.position;
        let mut actions = Vec::new();
        position.legal_actions(self.rules, &mut actions);
        if question.kind == "only defence" {
            actions.retain(|&action| !self.wins(&after(position, action), 3));
            return actions;
        }
        let shortest = [1, 3, 5].into_iter().find(|&plies| self.wins(position, plies));
        actions
            .retain(|&action| shortest.is_some_and(|plies| self.forces(position, action, plies)));
        actions
    }
}

#[test]
fn all_answers_are_right_and_there_is_no_other() {
    let rules = rules();
    let suite = Suite::load(None, &rules).unwrap();
    let mut kinds: HashMap<&str, usize> = HashMap::new();
    let sorted = |actions: &[Action]| {
        let mut texts: Vec<String> = actions.iter().map(Action::to_string).collect();
        texts.sort();
        texts
    };
    for question in suite.questions() {
        *kinds.entry(&question.kind).or_default() += 1;
        // Five plies take long to try: some of those questions are checked.
        if question.kind == "win in 5" && kinds[question.kind.as_str()] > 4 {
            continue;
        }
        let mut solver = Solver { rules: &rules, known: HashMap::new() };
        let answers = solver.answers(question);
        assert_eq!(sorted(&answers), sorted(&question.answers), "{}", question.name);
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    assert!(kinds.values().all(|&count| count >= 12), "{kinds:?}");
}

#[test]
fn whoever_looks_far_enough_solves_it() {
    let rules = rules();
    let suite = Suite::load(None, &rules).unwrap();
    let solved = |depth| {
        let player = || Box::new(AlphaBeta::new(rules.clone(), Limit::Depth(depth)));
        suite.ask(vec![player(), player()], 1).unwrap()
    };
    let (deep, shallow) = (solved(4), solved(1));
    for kind in ["win in 3", "thaw", "shot over mountains", "assault"] {
        let (right, asked) = deep.kinds[kind];
        assert_eq!(right, asked, "{kind}: {:?}", deep.wrong);
    }
    assert!(shallow.total().0 < deep.total().0);
    assert_eq!(deep.wrong.len() as u32, deep.total().1 - deep.total().0);
}

#[test]
fn the_command_counts_and_refuses_other_rules() {
    let suite = |arguments: &[&str]| {
        let command = [&["evaluate", "suite"][..], arguments].concat();
        Command::new(env!("CARGO_BIN_EXE_cyvasse")).args(command).output().unwrap()
    };
    let output = suite(&["greedy", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for workers in ["1", "3"] {
        assert_eq!(suite(&["greedy", "--json", "--workers", workers]).stdout, output.stdout);
    }
    assert!(report["kinds"]["win in 5"][1].as_u64().unwrap() >= 15);
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../env/tests/data/variants/tiny.toml");
    let error = suite(&["greedy", "--rules", tiny]).stderr;
    assert!(String::from_utf8_lossy(&error).contains("made for other rules"));
}
