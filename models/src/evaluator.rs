//! The network as the judge of a search.

use std::sync::Arc;

use cyvasse_env::{ENCODED_LEN, PASS_INDEX, Rules, encode};
use cyvasse_selfplay::search::Cyvasse;
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request, Wdl};

use crate::inference::InferenceNet;
use crate::net::Net;

/// Evaluates positions with a network.
///
/// Every worker has its own, which may share its weights with the others
/// ([`InferenceNet::share`]).
pub struct NetEvaluator {
    net: InferenceNet,
    rules: Arc<Rules>,
    planes: Vec<f32>,
    actions: Vec<Vec<u16>>,
}

impl NetEvaluator {
    /// An evaluator of positions under `rules`.
    #[must_use]
    pub fn new(net: InferenceNet, rules: Arc<Rules>) -> NetEvaluator {
        NetEvaluator { net, rules, planes: Vec::new(), actions: Vec::new() }
    }

    /// Evaluators for several workers, which share a copy of the network.
    #[must_use]
    pub fn for_workers(net: &Net, rules: &Arc<Rules>, count: u32) -> Vec<NetEvaluator> {
        let net = InferenceNet::new(net);
        (0..count).map(|_| NetEvaluator::new(net.share(), rules.clone())).collect()
    }

    /// Encodes the positions and the indices of their legal actions.
    fn prepare(&mut self, requests: &[Request<'_, Cyvasse>]) {
        self.planes.resize(requests.len() * ENCODED_LEN, 0.0);
        self.actions.resize_with(requests.len(), Vec::new);
        let rows = self.planes.chunks_exact_mut(ENCODED_LEN).zip(&mut self.actions);
        for (request, (planes, actions)) in requests.iter().zip(rows) {
            encode(request.state, request.occurrences, &self.rules, planes);
            let turn = request.state.turn();
            actions.clear();
            actions.extend(request.actions.iter().map(|action| action.index(turn) as u16));
            // A pass is only legal alone: the network is not asked about it.
            actions.retain(|&index| usize::from(index) != PASS_INDEX);
        }
    }
}

impl Evaluator<Cyvasse> for NetEvaluator {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        self.prepare(requests);
        let evaluation = self.net.evaluate(&self.planes, &self.actions);
        let numbers = evaluation.policy.iter().chain(evaluation.value.as_flattened());
        if numbers.into_iter().any(|number| !number.is_finite()) {
            let reason = "the network's answer is not finite".into();
            return Err(EvaluatorError { batch: requests.len(), reason });
        }
        let mut rest = evaluation.policy.as_slice();
        for ((asked, answer), value) in self.actions.iter().zip(answers).zip(evaluation.value) {
            let (logits, others) = rest.split_at(asked.len());
            answer.logits.clear();
            answer.logits.extend_from_slice(logits);
            if asked.is_empty() {
                answer.logits.push(0.0); // the pass
            }
            answer.wdl = chances(value);
            rest = others;
        }
        Ok(())
    }
}

/// The softmax of the logits of win, draw and loss.
fn chances(logits: [f32; 3]) -> Wdl {
    let highest = logits.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let [win, draw, loss] = logits.map(|logit| (logit - highest).exp());
    let sum = win + draw + loss;
    Wdl { win: win / sum, draw: draw / sum, loss: loss / sum }
}
