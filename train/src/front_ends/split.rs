//! An evaluator that shares the positions of a batch out among threads, for a
//! search that has several processors to itself.

use cyvasse_models::NetEvaluator;
use cyvasse_selfplay::search::Cyvasse;
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Several evaluators with the same network, each on a thread of its own. The
/// answers do not depend on their number.
pub struct SplitEvaluator {
    parts: Vec<NetEvaluator>,
    pool: ThreadPool,
}

/// Positions that are not worth waking another thread for.
const SMALLEST_PART: usize = 4;

impl SplitEvaluator {
    /// An evaluator of these parts, at least one.
    ///
    /// # Errors
    /// Threads that the system refuses.
    pub fn new(parts: Vec<NetEvaluator>) -> Result<SplitEvaluator, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(parts.len()).build()?;
        Ok(SplitEvaluator { parts, pool })
    }
}

impl Evaluator<Cyvasse> for SplitEvaluator {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        let share = requests.len().div_ceil(self.parts.len()).max(SMALLEST_PART);
        if share >= requests.len() {
            return self.parts[0].evaluate(requests, answers);
        }
        let (pool, parts) = (&self.pool, &mut self.parts);
        pool.install(|| {
            let shares = requests.par_chunks(share).zip(answers.par_chunks_mut(share));
            parts
                .par_iter_mut()
                .zip(shares)
                .try_for_each(|(part, (requests, answers))| part.evaluate(requests, answers))
        })
    }
}
