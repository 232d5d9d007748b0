//! The threads beside the one that answers: one reads, one thinks. So whatever is
//! said is heard while the engine thinks.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use cyvasse_selfplay::EvaluatorError;

use crate::front_ends::course::Course;
use crate::front_ends::line_input::read_line;
use crate::front_ends::split::SplitEvaluator;
use crate::front_ends::thinking::{Manner, Thinker, Thought};

/// Something that the engine has to answer.
pub(super) enum Event {
    /// A line, as it came.
    Line(Vec<u8>),
    /// There will be no more lines.
    EndOfInput,
    /// The input cannot be read.
    InputFailed(io::Error),
    /// What has been found out so far.
    Progress(Box<Thought>),
    /// What has been found out.
    Done(Box<Thought>),
    /// The evaluator failed.
    ThinkingFailed(EvaluatorError),
    /// The thread that thinks is gone, whatever the reason.
    ThinkerGone,
}

/// Something to be done by the thread that thinks.
pub(super) enum Job {
    /// Think about a game that goes on.
    Think { course: Box<Course>, manner: Manner, lines: usize },
    /// Forget earlier thoughts.
    Forget,
    /// Evaluate by another one from now on.
    Evaluator(Box<SplitEvaluator>),
}

/// Reads lines in a thread of its own, which ends with the input or the listener.
pub(super) fn read_lines(mut input: impl BufRead + Send + 'static, events: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let mut line = Vec::new();
            let event = match read_line(&mut input, &mut line) {
                Ok(true) => Event::Line(line),
                Ok(false) => Event::EndOfInput,
                Err(error) => Event::InputFailed(error),
            };
            let last = !matches!(event, Event::Line(_));
            if events.send(event).is_err() || last {
                return;
            }
        }
    });
}

/// Thinks in a thread of its own, which ends when there are no more jobs.
pub(super) fn think(
    evaluator: SplitEvaluator,
    jobs: Receiver<Job>,
    stop: Arc<AtomicBool>,
    events: SyncSender<Event>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let farewell = Farewell(events);
        let events = &farewell.0;
        let mut thinker = Thinker::new(evaluator);
        for job in jobs {
            match job {
                Job::Forget => thinker.forget(),
                Job::Evaluator(evaluator) => thinker.set_evaluator(*evaluator),
                Job::Think { course, manner, lines } => {
                    // Whether anybody listens is found out with the last event.
                    let watch = |thought: &Thought| {
                        let _ = events.send(Event::Progress(Box::new(thought.clone())));
                    };
                    let thought = thinker.think(&course, &manner, lines, &stop, watch);
                    let event = match thought {
                        Ok(thought) => Event::Done(Box::new(thought)),
                        Err(error) => Event::ThinkingFailed(error),
                    };
                    if events.send(event).is_err() {
                        return;
                    }
                }
            }
        }
    })
}

/// Says so when the thread ends, by a panic of a library, too: nobody is left to
/// wait for an answer that never comes.
struct Farewell(SyncSender<Event>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.send(Event::ThinkerGone);
    }
}
