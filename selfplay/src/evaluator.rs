//! What judges the leaves of a search.

use std::marker::PhantomData;

use thiserror::Error;

use crate::search::Game;
use crate::value::Wdl;

/// A position to be judged.
pub struct Request<'a, G: Game> {
    /// The position.
    pub state: &'a G::State,
    /// Its legal actions.
    pub actions: &'a [G::Action],
    /// How often it has occurred in its game, now included.
    pub occurrences: usize,
}

impl<G: Game> Clone for Request<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Request<'_, G> {}

/// What an evaluator says of a position.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// A logit for each legal action of the request, in its order: the prior
    /// is their softmax.
    pub logits: Vec<f32>,
    /// Chances of the side to move.
    pub wdl: Wdl,
}

/// A failure of the machinery behind an evaluator.
#[derive(Debug, Error)]
#[error("evaluating a batch of {batch} positions failed: {reason}")]
pub struct EvaluatorError {
    /// Positions in the batch.
    pub batch: usize,
    /// What went wrong.
    pub reason: String,
}

/// Judges positions a batch at a time.
pub trait Evaluator<G: Game> {
    /// Judges each request and leaves the answer at the same place of
    /// `answers`, which is as long as `requests` and whose vectors are reused.
    ///
    /// # Errors
    /// A failure of the machinery; the answers are then not to be used.
    fn evaluate(
        &mut self,
        requests: &[Request<'_, G>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError>;
}

/// A borrowed evaluator is one too.
impl<G: Game, E: Evaluator<G>> Evaluator<G> for &mut E {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, G>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        (**self).evaluate(requests, answers)
    }
}

impl Evaluation {
    /// An answer to be filled.
    #[must_use]
    pub fn blank() -> Evaluation {
        Evaluation { logits: Vec::new(), wdl: Wdl { win: 0.0, draw: 1.0, loss: 0.0 } }
    }
}

/// Knows nothing: all actions are equally likely, every game is a draw. It
/// needs no network, so that searches are tested and measured without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform<G>(PhantomData<G>);

impl<G> Uniform<G> {
    /// The evaluator.
    #[must_use]
    pub const fn new() -> Uniform<G> {
        Uniform(PhantomData)
    }
}

impl<G: Game> Evaluator<G> for Uniform<G> {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, G>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        for (request, answer) in requests.iter().zip(answers) {
            answer.logits.clear();
            answer.logits.resize(request.actions.len(), 0.0);
            answer.wdl = Wdl { win: 0.0, draw: 1.0, loss: 0.0 };
        }
        Ok(())
    }
}
