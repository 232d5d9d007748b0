//! A cache of evaluations.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::evaluator::{Evaluation, Evaluator, EvaluatorError, Request};
use crate::search::KeyedGame;

/// Remembers what an evaluator said, and asks it only about the rest.
///
/// Evaluations are found by a key of all that the evaluator sees
/// ([`KeyedGame::evaluation_key`]). A table of fixed length has a place for each key;
/// a newer evaluation takes the place of an older one. If the evaluator's
/// answers do not depend on the rest of their batch, answers are the same with
/// and without a memory.
pub struct Remembering<'a, E> {
    evaluator: E,
    table: Vec<Option<Entry>>,
    /// Counts the answers from memory.
    hits: &'a AtomicU64,
    missed: Vec<Missed>,
    answers: Vec<Evaluation>,
}

struct Entry {
    key: u64,
    evaluation: Evaluation,
}

/// A request without an answer in memory.
struct Missed {
    request: usize,
    key: u64,
}

impl<'a, E> Remembering<'a, E> {
    /// A memory of up to `capacity` evaluations before an evaluator; of none,
    /// if it is 0.
    pub fn new(evaluator: E, capacity: u32, hits: &'a AtomicU64) -> Remembering<'a, E> {
        let table = (0..capacity).map(|_| None).collect();
        Remembering { evaluator, table, hits, missed: Vec::new(), answers: Vec::new() }
    }

    fn place(&self, key: u64) -> usize {
        (key % self.table.len() as u64) as usize
    }

    fn recall(&self, key: u64, actions: usize) -> Option<&Evaluation> {
        let entry = self.table[self.place(key)].as_ref()?;
        let found = entry.key == key && entry.evaluation.logits.len() == actions;
        found.then_some(&entry.evaluation)
    }

    fn remember(&mut self, key: u64, evaluation: Evaluation) {
        let place = self.place(key);
        self.table[place] = Some(Entry { key, evaluation });
    }
}

impl<G: KeyedGame, E: Evaluator<G>> Evaluator<G> for Remembering<'_, E> {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, G>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        if self.table.is_empty() {
            return self.evaluator.evaluate(requests, answers);
        }
        self.missed.clear();
        for (place, (request, answer)) in requests.iter().zip(answers.iter_mut()).enumerate() {
            let key = G::evaluation_key(request.state, request.occurrences);
            match self.recall(key, request.actions.len()) {
                Some(evaluation) => answer.clone_from(evaluation),
                None => self.missed.push(Missed { request: place, key }),
            }
        }
        let hits = requests.len() - self.missed.len();
        self.hits.fetch_add(hits as u64, Ordering::Relaxed);
        if self.missed.is_empty() {
            return Ok(());
        }
        let rest: Vec<_> = self.missed.iter().map(|missed| requests[missed.request]).collect();
        self.answers.resize_with(rest.len(), Evaluation::blank);
        self.evaluator.evaluate(&rest, &mut self.answers)?;
        let fresh = std::mem::take(&mut self.answers);
        for (missed, answer) in std::mem::take(&mut self.missed).into_iter().zip(fresh) {
            answers[missed.request].clone_from(&answer);
            self.remember(missed.key, answer);
        }
        Ok(())
    }
}
