//! An evaluator's first thought, without a search.

use cyvasse_env::Action;

use super::{Player, PlayerError, Turn};
use crate::evaluator::{Evaluation, Evaluator, Request};
use crate::search::Cyvasse;

/// Plays the action with the highest logit. It asks the evaluator even where
/// the king can be taken: what it shows is what the evaluator knows.
pub struct RawPolicy<E> {
    evaluator: E,
    actions: Vec<Vec<Action>>,
    answers: Vec<Evaluation>,
}

impl<E: Evaluator<Cyvasse>> RawPolicy<E> {
    /// A player with the evaluator's priors.
    #[must_use]
    pub fn new(evaluator: E) -> RawPolicy<E> {
        RawPolicy { evaluator, actions: Vec::new(), answers: Vec::new() }
    }
}

impl<E: Evaluator<Cyvasse> + Send> Player for RawPolicy<E> {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        self.actions.resize_with(turns.len(), Vec::new);
        self.answers.resize_with(turns.len(), Evaluation::blank);
        for (turn, actions) in turns.iter().zip(&mut self.actions) {
            turn.game.legal_actions(actions);
        }
        let requests: Vec<Request<'_, Cyvasse>> = turns
            .iter()
            .zip(&self.actions)
            .map(|(turn, actions)| Request {
                state: turn.game.position(),
                actions,
                occurrences: turn.game.occurrences(),
            })
            .collect();
        self.evaluator.evaluate(&requests, &mut self.answers)?;
        drop(requests);
        let choices = self.actions.iter().zip(&self.answers).map(|(actions, answer)| {
            let highest = answer.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let place = answer.logits.iter().position(|&logit| logit == highest);
            actions[place.unwrap_or(0)]
        });
        Ok(choices.collect())
    }
}
