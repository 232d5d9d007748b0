//! One thread that evaluates for many: how a GPU is kept busy.
//!
//! A GPU wants large batches, and each worker of self-play has a small one. The
//! workers hand theirs to a server, which puts together what waits and has the
//! network evaluate it at once. On a CPU nothing is gained by it: there every
//! worker evaluates on its own thread.

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

/// The server's thread is gone: evaluating panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the inference thread has ended, after a failure that it has told of above")]
pub struct ServerEnded;

/// A client's batch.
struct Job {
    planes: Vec<f32>,
    actions: Vec<Vec<u16>>,
    answer: SyncSender<Evaluation>,
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
    /// A server that has ended.
    pub fn evaluate(
        &self,
        planes: Vec<f32>,
        actions: Vec<Vec<u16>>,
    ) -> Result<Evaluation, ServerEnded> {
        let (answer, answers) = sync_channel(1);
        self.queue.send(Job { planes, actions, answer }).map_err(|_| ServerEnded)?;
        answers.recv().map_err(|_| ServerEnded)
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
            self.evaluate(jobs);
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

    fn evaluate(&self, jobs: Vec<Job>) {
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
            let _ = job.answer.send(answer);
        }
    }
}
