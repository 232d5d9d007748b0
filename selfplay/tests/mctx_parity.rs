//! Gumbel search against `mctx`, the implementation of the paper's authors, on
//! games that are tables (made by `scripts/make_mctx_vectors.py`).
//!
//! The games never end and nothing repeats, so that what our search adds to
//! the paper (proven results) plays no part.

mod common;

use cyvasse_env::{Outcome, Side};
use cyvasse_selfplay::search::{Game, PolicySettings, Search, SearchSettings};
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request, Wdl};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    tables: Vec<Table>,
    searches: Vec<Vector>,
}

/// A game: for each node where its actions lead, their logits, and its value
/// for the side to move.
#[derive(Deserialize)]
struct Table {
    next: Vec<Vec<usize>>,
    logits: Vec<Vec<f32>>,
    values: Vec<f32>,
}

/// A search of `mctx` from node 0 of a table.
#[derive(Deserialize)]
struct Vector {
    table: usize,
    simulations: u32,
    considered: u32,
    c_visit: f32,
    c_scale: f32,
    noise_seed: Option<u64>,
    noise: Vec<f32>,
    visits: Vec<u32>,
    completed_q: Vec<f32>,
    weights: Vec<f32>,
    value: f32,
    action: usize,
}

/// A node of the table, and the side to move.
type State = (usize, Side);

impl Game for &Table {
    type State = State;
    type Action = usize;

    fn turn(&self, state: &State) -> Side {
        state.1
    }

    fn legal_actions(&self, state: &State, actions: &mut Vec<usize>) {
        actions.clear();
        actions.extend(0..self.next[state.0].len());
    }

    fn play(&self, state: &mut State, action: usize) {
        *state = (self.next[state.0][action], state.1.other());
    }

    fn wins_at_once(&self, _: &State, _: usize) -> bool {
        false
    }

    fn repetition_key(&self, _: &State) -> u64 {
        0
    }

    fn reversible_plies(&self, _: &State) -> usize {
        0
    }

    fn outcome(&self, _: &State, _: usize) -> Option<Outcome> {
        None
    }
}

/// Reads its answers from the table.
struct Lookup<'a>(&'a Table);

impl<'a> Evaluator<&'a Table> for Lookup<'a> {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, &'a Table>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        for (request, answer) in requests.iter().zip(answers) {
            let (node, _) = *request.state;
            answer.logits.clone_from(&self.0.logits[node]);
            let value = self.0.values[node];
            answer.wdl = Wdl { win: value.max(0.0), draw: 0.0, loss: (-value).max(0.0) };
        }
        Ok(())
    }
}

fn settings(vector: &Vector) -> SearchSettings {
    let mut settings = common::gumbel(vector.simulations);
    if let PolicySettings::Gumbel(policy) = &mut settings.policy {
        policy.max_considered = vector.considered;
        (policy.c_visit, policy.c_scale) = (vector.c_visit, vector.c_scale);
        policy.noise = if vector.noise_seed.is_some() { 1.0 } else { 0.0 };
    }
    settings
}

/// The noise that a search with a seed draws for its root, or none.
fn noise(seed: Option<u64>, actions: usize) -> Vec<f32> {
    let Some(seed) = seed else { return vec![0.0; actions] };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = || (rng.next_u32() >> 8) as f32 / (1 << 24) as f32;
    (0..actions).map(|_| -(-uniform().ln()).ln()).collect()
}

#[track_caller]
fn assert_close(ours: &[f32], theirs: &[f32], what: &str) {
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5;
    let all = ours.len() == theirs.len() && ours.iter().zip(theirs).all(close);
    assert!(all, "{what}: {ours:?}, not {theirs:?}");
}

#[test]
fn gumbel_searches_as_mctx_does() {
    let text = include_str!("data/mctx.json");
    let vectors: Vectors = serde_json::from_str(text).unwrap();
    assert!(vectors.searches.len() >= 30);
    for vector in &vectors.searches {
        let table = &vectors.tables[vector.table];
        assert_close(&noise(vector.noise_seed, vector.noise.len()), &vector.noise, "noise");
        let seed = vector.noise_seed.unwrap_or(0);
        let mut search = Search::new(table, settings(vector), (0, Side::White), &[], seed);
        common::run_with(&mut search, &mut Lookup(table), 1);
        let result = search.result(0);
        let what = format!(
            "table {}, {} simulations, {} considered, c_scale {}, noise {:?}",
            vector.table, vector.simulations, vector.considered, vector.c_scale, vector.noise_seed
        );
        let visits: Vec<u32> = result.visits.iter().map(|&(_, visits)| visits).collect();
        assert_eq!(visits, vector.visits, "{what}");
        let weights: Vec<f32> = result.policy.iter().map(|&(_, share)| share).collect();
        assert_close(&weights, &vector.weights, &what);
        assert_close(&[result.value.get()], &[vector.value], &what);
        assert_eq!(result.best, vector.action, "{what}");
    }
}

/// The completed values are seen through the target: the logarithm of share
/// over prior is the transformed value, up to a constant.
#[test]
fn completed_values_are_those_of_mctx() {
    let vectors: Vectors = serde_json::from_str(include_str!("data/mctx.json")).unwrap();
    for vector in vectors.searches.iter().filter(|vector| vector.c_scale <= 0.1) {
        let table = &vectors.tables[vector.table];
        let seed = vector.noise_seed.unwrap_or(0);
        let mut search = Search::new(table, settings(vector), (0, Side::White), &[], seed);
        common::run_with(&mut search, &mut Lookup(table), 1);
        let most = *vector.visits.iter().max().unwrap() as f32;
        let scale = (vector.c_visit + most) * vector.c_scale / 2.0;
        let policy = search.result(0).policy;
        let transformed = |action: usize| policy[action].1.ln() - table.logits[0][action];
        for (action, q) in vector.completed_q.iter().enumerate() {
            let ours = (transformed(action) - transformed(0)) / scale;
            assert!((ours - (q - vector.completed_q[0])).abs() < 1e-4, "{ours}, not {q}");
        }
    }
}
