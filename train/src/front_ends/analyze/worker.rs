//! A thread that thinks about many requests at the same time, so that its network
//! has a batch to judge.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cyvasse_selfplay::search::{Cyvasse, Gathered, Search};
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Purpose, derive};

use super::answer;
use super::request::Request;
use crate::front_ends::thinking::{leaves_at_once, thought};

/// A request on its way, with the place where its answer is waited for.
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) answer: SyncSender<String>,
}

/// A job that is thought about.
struct Slot {
    job: Job,
    search: Search<Cyvasse>,
    started: Instant,
}

/// Positions that are judged at once, as far as there are requests. A little more
/// than a network needs to be at its fastest.
const BATCH: usize = 64;

/// Jobs that a worker takes before each batch.
const JOBS_AT_ONCE: usize = 8;

pub(super) struct Worker<'a, E> {
    evaluator: E,
    /// Shared with the other workers.
    jobs: &'a Mutex<Receiver<Job>>,
    slots: Vec<Slot>,
    /// Searches to be used again.
    spare: Vec<Search<Cyvasse>>,
    answers: Vec<Evaluation>,
}

impl<'a, E: Evaluator<Cyvasse>> Worker<'a, E> {
    pub(super) fn new(evaluator: E, jobs: &'a Mutex<Receiver<Job>>) -> Worker<'a, E> {
        Worker { evaluator, jobs, slots: Vec::new(), spare: Vec::new(), answers: Vec::new() }
    }

    /// Works until there are no more jobs.
    pub(super) fn work(&mut self) -> Result<(), EvaluatorError> {
        while self.take_jobs() {
            self.step()?;
        }
        Ok(())
    }

    /// Takes some jobs, so that the other workers get theirs, too; waits for one only
    /// when there is nothing else to do. `false` when all is done.
    fn take_jobs(&mut self) -> bool {
        for _ in 0..JOBS_AT_ONCE.min(BATCH - self.slots.len()) {
            let Some(job) = self.next_job() else { break };
            self.start(job);
        }
        !self.slots.is_empty()
    }

    fn next_job(&self) -> Option<Job> {
        if self.slots.is_empty() {
            // Others wait for the lock as they would for a job.
            return self.jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        }
        // Whoever holds the lock waits for a job: there is none.
        self.jobs.try_lock().ok()?.try_recv().ok()
    }

    fn start(&mut self, job: Job) {
        let (course, manner) = (&job.request.course, &job.request.manner);
        let game = course.game();
        let state = game.position().clone();
        // The same request is answered in the same way, wherever it stands.
        let seed = derive(manner.seed, Purpose::Search, &[course.actions().len() as u64]);
        let settings = manner.settings();
        let search = match self.spare.pop() {
            Some(mut search) => {
                search.set_settings(&settings);
                search.restart(state, game.earlier(), seed);
                search
            }
            None => {
                let cyvasse = Cyvasse { rules: game.rules().clone() };
                Search::new(cyvasse, settings, state, game.earlier(), seed)
            }
        };
        self.slots.push(Slot { job, search, started: Instant::now() });
    }

    /// Takes all searches a batch further.
    fn step(&mut self) -> Result<(), EvaluatorError> {
        let mut place = 0;
        while place < self.slots.len() {
            if gather(&mut self.slots[place].search) {
                place += 1;
            } else {
                self.finish(place);
            }
        }
        let requests: Vec<_> = self.slots.iter().flat_map(|slot| slot.search.requests()).collect();
        let count = requests.len();
        if count == 0 {
            return Ok(());
        }
        self.answers.resize_with(count.max(self.answers.len()), Evaluation::blank);
        self.evaluator.evaluate(&requests, &mut self.answers[..count])?;
        drop(requests);
        let mut answers = self.answers[..count].iter();
        for slot in &mut self.slots {
            let waiting = slot.search.requests().len();
            answers.by_ref().take(waiting).for_each(|answer| slot.search.apply(answer));
        }
        Ok(())
    }

    fn finish(&mut self, place: usize) {
        let Slot { job, mut search, started } = self.slots.swap_remove(place);
        let Job { request, answer } = job;
        let ply = request.course.position().plies();
        let thought = thought(&mut search, ply, request.lines, started.elapsed());
        let text = answer::json(&answer::of_thought(request.id, &request.course, &thought));
        // Nobody waits for it any more when the output is closed.
        let _ = answer.send(text);
        self.spare.push(search);
    }
}

/// Walks to the leaves that are judged next; `false` when the search is over.
fn gather(search: &mut Search<Cyvasse>) -> bool {
    let most = leaves_at_once(search.begun());
    while search.requests().len() < most {
        match search.gather() {
            Gathered::Leaf => {}
            Gathered::Waiting => return true,
            Gathered::Done => return search.requests().len() > 0,
        }
    }
    true
}
