//! The network as the judge of a search.

use std::sync::Arc;

use cyvasse_env::{ENCODED_LEN, PASS_INDEX, Rules, encode};
use cyvasse_selfplay::search::Cyvasse;
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request, Wdl};
use tch::Device;

use crate::inference::{InferenceClient, InferenceNet, Precision, ServedBatches, serve};
use crate::net::Net;

/// Evaluates positions with a network.
///
/// Every worker has its own, which may share its weights with the others
/// ([`InferenceNet::share`]).
pub struct NetEvaluator {
    source: Source,
    rules: Arc<Rules>,
    planes: Vec<f32>,
    actions: Vec<Vec<u16>>,
}

/// Who evaluates.
enum Source {
    /// The worker's own thread.
    Own(Box<InferenceNet>),
    /// A thread that evaluates for all workers.
    Server(InferenceClient),
}

impl NetEvaluator {
    /// An evaluator of positions under `rules`, on the calling thread.
    #[must_use]
    pub fn new(net: InferenceNet, rules: Arc<Rules>) -> NetEvaluator {
        NetEvaluator::with(Source::Own(Box::new(net)), rules)
    }

    /// An evaluator by a server.
    #[must_use]
    pub fn served(client: InferenceClient, rules: Arc<Rules>) -> NetEvaluator {
        NetEvaluator::with(Source::Server(client), rules)
    }

    fn with(source: Source, rules: Arc<Rules>) -> NetEvaluator {
        NetEvaluator { source, rules, planes: Vec::new(), actions: Vec::new() }
    }

    /// Evaluators for several workers with a copy of the network. On a CPU each
    /// evaluates on its own thread, elsewhere one thread does for all, with
    /// numbers of this precision, up to `max_batch` positions at once.
    #[must_use]
    pub fn for_workers(
        net: &Net,
        rules: &Arc<Rules>,
        workers: usize,
        precision: Precision,
        max_batch: usize,
    ) -> Vec<NetEvaluator> {
        if net.device() == Device::Cpu {
            let net = InferenceNet::new(net);
            return (0..workers).map(|_| NetEvaluator::new(net.share(), rules.clone())).collect();
        }
        let net = InferenceNet::with_libtorch(net, precision);
        let clients = serve(net, workers, max_batch).into_iter();
        clients.map(|client| NetEvaluator::served(client, rules.clone())).collect()
    }

    /// What the server has evaluated for all its clients; `None` without one.
    #[must_use]
    pub fn served_batches(&self) -> Option<&ServedBatches> {
        match &self.source {
            Source::Own(_) => None,
            Source::Server(client) => Some(client.served()),
        }
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
        let evaluation = match &self.source {
            Source::Own(net) => net.evaluate(&self.planes, &self.actions),
            Source::Server(client) => {
                client.evaluate(self.planes.clone(), self.actions.clone()).map_err(|ended| {
                    EvaluatorError { batch: requests.len(), reason: ended.to_string() }
                })?
            }
        };
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
            answer.wdl = Wdl::from_logits(value);
            rest = others;
        }
        Ok(())
    }
}
