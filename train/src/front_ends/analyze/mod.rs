//! Analysing positions that are given as JSON lines: `docs/protocol.md`.
//!
//! A thread reads requests, some think, and the caller's writes the answers in the
//! order of the requests. What is answered depends on nothing but the request.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use cyvasse_env::Rules;
use cyvasse_models::NetEvaluator;
use thiserror::Error;

mod answer;
mod request;
mod worker;

pub use request::Defaults;

use super::line_input::{line_text, read_line};
use request::Refusal;
use worker::{Job, Worker};

/// Requests that are read ahead of the oldest one that is not answered.
const READ_AHEAD: usize = 4096;

/// Why an analysis cannot go on.
#[derive(Debug, Error)]
pub enum AnalyzeError {
    /// The requests cannot be read.
    #[error("cannot read standard input")]
    Input(#[source] io::Error),
    /// The answers cannot be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
    /// A worker failed.
    #[error("a worker has failed: {0}")]
    Worker(String),
}

/// Answers each line of `input` with a line of `output`, in the same order, with a
/// worker for each evaluator. Returns how many requests could not be answered.
///
/// # Errors
/// Whatever keeps it from going on; what is wrong with a request is its answer.
pub fn run(
    evaluators: Vec<NetEvaluator>,
    rules: &Arc<Rules>,
    defaults: &Defaults,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
) -> Result<u64, AnalyzeError> {
    let (waiting, answers) = sync_channel(READ_AHEAD);
    let (work, jobs) = sync_channel(READ_AHEAD);
    let jobs = Arc::new(Mutex::new(jobs));
    let failure = Arc::new(Mutex::new(None));
    for evaluator in evaluators {
        let (jobs, failure) = (jobs.clone(), failure.clone());
        thread::spawn(move || {
            if let Err(error) = Worker::new(evaluator, &jobs).work() {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
        });
    }
    drop(jobs);
    let reader = Reader { rules: rules.clone(), defaults: *defaults, waiting, work };
    thread::spawn(move || reader.read(input));
    write_answers(&answers, output, || {
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let unknown = || "it ended without a word, or its own words stand above".to_owned();
        AnalyzeError::Worker(failure.unwrap_or_else(unknown))
    })
}

/// A place in the order of the answers.
enum Place {
    /// Of an answer that is being thought about.
    Answer(Receiver<String>),
    /// Of one that is there already.
    Known(String),
    /// Of a request that cannot be answered.
    Refused(String),
    /// Of the end, because the input cannot be read.
    Unreadable(io::Error),
}

struct Reader {
    rules: Arc<Rules>,
    defaults: Defaults,
    /// The places, in the order of the requests.
    waiting: SyncSender<Place>,
    work: SyncSender<Job>,
}

impl Reader {
    /// Reads requests until there are no more, or nobody waits for answers.
    fn read(self, mut input: impl BufRead) {
        let mut line = Vec::new();
        loop {
            let place = match read_line(&mut input, &mut line) {
                Ok(false) => return,
                Ok(true) => self.place(&line),
                Err(error) => Place::Unreadable(error),
            };
            let last = matches!(place, Place::Unreadable(_));
            if self.waiting.send(place).is_err() || last {
                return;
            }
        }
    }

    fn place(&self, line: &[u8]) -> Place {
        let request = match line_text(line) {
            Ok(text) => request::read(text, &self.rules, &self.defaults),
            Err(error) => Err(Refusal { id: serde_json::Value::Null, error: error.into() }),
        };
        let request = match request {
            Ok(request) => request,
            Err(refusal) => return Place::Refused(answer::refusal(refusal)),
        };
        if let Some(outcome) = request.course.game().outcome() {
            let answer = answer::of_outcome(request.id, &request.course, outcome);
            return Place::Known(answer::json(&answer));
        }
        let (answer, answers) = sync_channel(1);
        // Without workers the place stays empty, and whoever waits there hears of it.
        let _ = self.work.send(Job { request, answer });
        Place::Answer(answers)
    }
}

fn write_answers(
    places: &Receiver<Place>,
    output: &mut impl Write,
    failed: impl Fn() -> AnalyzeError,
) -> Result<u64, AnalyzeError> {
    let mut refused = 0;
    for place in places {
        let line = match place {
            Place::Answer(answer) => answer.recv().map_err(|_| failed())?,
            Place::Known(answer) => answer,
            Place::Unreadable(error) => return Err(AnalyzeError::Input(error)),
            Place::Refused(answer) => {
                refused += 1;
                answer
            }
        };
        let written = output.write_all(format!("{line}\n").as_bytes());
        // Whoever asked may wait for this answer before the next question.
        written.and_then(|()| output.flush()).map_err(AnalyzeError::Output)?;
    }
    Ok(refused)
}
