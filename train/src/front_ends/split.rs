//! An evaluator that shares the positions of a batch out among threads, for a
//! search that has several processors to itself.

use cyvasse_models::NetEvaluator;
use cyvasse_selfplay::search::Cyvasse;
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Several evaluators with the same network: the first works on the caller's thread,
/// each of the others on one of its own. The answers do not depend on their number.
pub struct SplitEvaluator {
    first: NetEvaluator,
    others: Vec<NetEvaluator>,
    pool: ThreadPool,
}

/// Fewer positions are not worth waking another thread for.
const SMALLEST_PART: usize = 12;

impl SplitEvaluator {
    /// An evaluator of these parts.
    ///
    /// # Errors
    /// Threads that the system refuses.
    pub fn new(
        first: NetEvaluator,
        others: Vec<NetEvaluator>,
    ) -> Result<SplitEvaluator, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(others.len().max(1)).build()?;
        Ok(SplitEvaluator { first, others, pool })
    }
}

impl Evaluator<Cyvasse> for SplitEvaluator {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        let share = requests.len().div_ceil(1 + self.others.len()).max(SMALLEST_PART);
        let mut shares = requests.chunks(share).zip(answers.chunks_mut(share));
        let Some((requests, answers)) = shares.next() else { return Ok(()) };
        let mut results: Vec<Result<(), EvaluatorError>> =
            self.others.iter().map(|_| Ok(())).collect();
        let first = &mut self.first;
        let own = self.pool.in_place_scope(|scope| {
            let others = self.others.iter_mut().zip(shares).zip(&mut results);
            for ((part, (requests, answers)), result) in others {
                scope.spawn(move |_| *result = part.evaluate(requests, answers));
            }
            first.evaluate(requests, answers)
        });
        results.into_iter().fold(own, |all, result| all.and(result))
    }
}
