//! One thread that evaluates for many: how a GPU is kept busy.
//!
//! A GPU wants large batches, and each worker of self-play has a small one. The
//! workers hand theirs to a server, which puts together what waits and has the
//! network evaluate it at once. On a CPU nothing is gained by it: there every
//! worker evaluates on its own thread.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::{Evaluation, InferenceNet};

/// How long the server waits for more positions before it evaluates those that
/// it has: short beside an evaluation, long beside what a worker does between
/// two.
const PATIENCE: Duration = Duration::from_micros(200);

/// A worker's access to the server. The server ends with its last client.
#[derive(Debug)]
pub struct InferenceClient {
    queue: SyncSender<Job>,
    counts: Arc<ServedBatches>,
}

/// What a server has evaluated.
#[derive(Debug, Default)]
pub struct ServedBatches {
    /// Positions.
    pub positions: AtomicU64,
    /// Batches.
    pub batches: AtomicU64,
}

/// The server could not evaluate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the inference thread failed: {reason}")]
pub struct ServerError {
    /// What it failed with.
    pub reason: String,
}

/// A client's batch.
struct Job {
    planes: Vec<f32>,
    actions: Vec<Vec<u16>>,
    answer: SyncSender<Result<Evaluation, ServerError>>,
}

/// Starts a server of a network, and returns its clients. It puts batches
/// together while they hold no more than `max_batch` positions, and waits for no
/// more once every client has one in the queue, whose length is bounded by their
/// number.
#[must_use]
pub fn serve(net: InferenceNet, clients: usize, max_batch: usize) -> Vec<InferenceClient> {
    let (queue, jobs) = sync_channel(clients);
    let counts = Arc::new(ServedBatches::default());
    let server = Server { net, jobs, clients, max_batch, counts: counts.clone() };
    thread::spawn(move || server.run());
    (0..clients).map(|_| InferenceClient { queue: queue.clone(), counts: counts.clone() }).collect()
}

impl InferenceClient {
    /// As [`InferenceNet::evaluate`], by the server.
    ///
    /// # Errors
    /// What the server failed with; a server that has failed does not go on.
    pub fn evaluate(
        &self,
        planes: Vec<f32>,
        actions: Vec<Vec<u16>>,
    ) -> Result<Evaluation, ServerError> {
        let gone = || ServerError { reason: "it has ended".to_owned() };
        let (answer, answers) = sync_channel(1);
        self.queue.send(Job { planes, actions, answer }).map_err(|_| gone())?;
        answers.recv().map_err(|_| gone())?
    }

    /// What the server has evaluated, for all clients.
    #[must_use]
    pub fn served(&self) -> &ServedBatches {
        &self.counts
    }
}

struct Server {
    net: InferenceNet,
    jobs: Receiver<Job>,
    clients: usize,
    max_batch: usize,
    counts: Arc<ServedBatches>,
}

impl Server {
    fn run(self) {
        let mut left = None;
        while let Some(first) = left.take().or_else(|| self.jobs.recv().ok()) {
            let mut jobs = vec![first];
            left = self.gather(&mut jobs);
            // libtorch tells of its failures by panics.
            let done = panic::catch_unwind(AssertUnwindSafe(|| self.evaluate(&jobs)));
            if let Err(cause) = done {
                let reason = words_of(&*cause);
                for job in jobs.into_iter().chain(left) {
                    let _ = job.answer.send(Err(ServerError { reason: reason.clone() }));
                }
                return;
            }
        }
    }

    /// Adds jobs that wait, or come soon, up to a full batch; returns the one
    /// that did not fit.
    fn gather(&self, jobs: &mut Vec<Job>) -> Option<Job> {
        let mut positions = jobs[0].actions.len();
        while jobs.len() < self.clients && positions < self.max_batch {
            match self.jobs.recv_timeout(PATIENCE) {
                Ok(job) if positions + job.actions.len() > self.max_batch => return Some(job),
                Ok(job) => {
                    positions += job.actions.len();
                    jobs.push(job);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        None
    }

    fn evaluate(&self, jobs: &[Job]) {
        let planes: Vec<f32> = jobs.iter().flat_map(|job| &job.planes).copied().collect();
        let actions: Vec<&[u16]> =
            jobs.iter().flat_map(|job| &job.actions).map(Vec::as_slice).collect();
        let evaluation = self.net.evaluate(&planes, &actions);
        self.counts.positions.fetch_add(actions.len() as u64, Ordering::Relaxed);
        self.counts.batches.fetch_add(1, Ordering::Relaxed);
        let (mut policy, mut value) = (&evaluation.policy[..], &evaluation.value[..]);
        for job in jobs {
            let (own_policy, other_policy) =
                policy.split_at(job.actions.iter().map(Vec::len).sum());
            let (own_value, other_value) = value.split_at(job.actions.len());
            (policy, value) = (other_policy, other_value);
            let answer = Evaluation { policy: own_policy.to_vec(), value: own_value.to_vec() };
            // A client that no longer listens was told to stop.
            let _ = job.answer.send(Ok(answer));
        }
    }
}

/// The first line of what a panic says.
fn words_of(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::{Net, NetConfig};

    #[test]
    fn what_waits_is_evaluated_at_once_up_to_a_full_batch() {
        let config = NetConfig {
            input_planes: 2,
            policy_planes: 3,
            blocks: 0,
            channels: 2,
            policy_channels: 2,
            value_channels: 2,
            value_hidden: 2,
            batch_norm_epsilon: 1e-5,
            batch_norm_momentum: 0.1,
            output_init_std: 0.01,
        };
        let net = InferenceNet::new(&Net::new(&config, 1, Device::Cpu).unwrap());
        let (queue, jobs) = sync_channel(5);
        let answers: Vec<_> = (0..5)
            .map(|_| {
                let (answer, answers) = sync_channel(1);
                let (planes, actions) = (vec![0.5; 4 * 128], vec![vec![1]; 4]);
                queue.send(Job { planes, actions, answer }).unwrap();
                answers
            })
            .collect();
        drop(queue);
        let counts = Arc::new(ServedBatches::default());
        // Two batches of two jobs, since a third would not fit, and the last one.
        Server { net, jobs, clients: 5, max_batch: 10, counts: counts.clone() }.run();
        assert_eq!(counts.batches.load(Ordering::Relaxed), 3);
        assert_eq!(counts.positions.load(Ordering::Relaxed), 20);
        assert!(answers.into_iter().all(|answer| answer.recv().unwrap().is_ok()));
    }
}
