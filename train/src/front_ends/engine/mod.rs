//! An engine behind a line protocol in the manner of chess engines: see
//! `docs/protocol.md`.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender, sync_channel};

use anyhow::{Context, anyhow, bail};
use cyvasse_env::{Position, Rules, Setup, Side};
use cyvasse_selfplay::{EvaluatorError, Purpose, derive};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPoolBuildError;
use thiserror::Error;

mod background;
mod command;
mod options;
mod told;

pub use command::{Command, CommandError, Go, Start};
pub use options::{OptionError, Options};

use super::course::Course;
use super::line_input::line_text;
use super::split::SplitEvaluator;
use super::thinking::{Limits, Manner, Thought};
use crate::checkpoints::made_for;
use crate::config::read_rules;
use crate::evaluation::Entrant;
use crate::one_line;
use background::{Event, Job};

/// The version of the protocol; counted up when a program that uses it must change.
pub const PROTOCOL_VERSION: u32 = 1;

/// Why an engine cannot go on.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The player has no network to think with.
    #[error("an engine needs a trained network: expected a player such as agent:runs/quick")]
    NoNetwork,
    /// What is said to it cannot be read.
    #[error("cannot read standard input")]
    Input(#[source] io::Error),
    /// What it says cannot be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
    /// The network failed.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// The system gives it no threads.
    #[error("cannot start a thread: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// The thread that thinks ended.
    #[error("the thread that thinks has failed (its own words stand above)")]
    Thinker,
}

/// Answers `input` on `output` until it is told to quit, or the input ends and all
/// that was asked is answered.
///
/// # Errors
/// Whatever keeps the engine from going on; what is wrong with a line is answered.
pub fn run(
    entrant: &Entrant,
    rules: &Arc<Rules>,
    options: Options,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
) -> Result<(), EngineError> {
    // Bounded, so that whoever writes faster than is answered has to wait.
    let (sender, events) = sync_channel(64);
    let (jobs, work) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let evaluator = evaluator(entrant, options.threads)?;
    let thinker = background::think(evaluator, work, stop.clone(), sender.clone());
    background::read_lines(input, sender);
    let mut engine = Engine {
        entrant,
        rules,
        options,
        course: None,
        setups: 0,
        state: State::Idle,
        jobs,
        stop: stop.clone(),
        output,
    };
    let mut result = Ok(());
    for event in &events {
        match engine.answer(event) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    drop((engine, events));
    // How it ended does not matter any more.
    let _ = thinker.join();
    result
}

fn evaluator(entrant: &Entrant, threads: usize) -> Result<SplitEvaluator, EngineError> {
    let first = entrant.evaluator().ok_or(EngineError::NoNetwork)?;
    let others = (1..threads).filter_map(|_| entrant.evaluator()).collect();
    Ok(SplitEvaluator::new(first, others)?)
}

/// What the engine does.
enum State {
    Idle,
    /// It thinks.
    Thinking {
        /// Whether only `stop` asks for the answer.
        infinite: bool,
        /// Whether to end after the answer.
        last: bool,
    },
    /// It has thought to the end, but nobody has asked for the answer yet.
    Waiting(Box<Thought>),
}

/// The part that answers.
struct Engine<'a, W> {
    entrant: &'a Entrant,
    rules: &'a Arc<Rules>,
    options: Options,
    course: Option<Course>,
    /// Setups built so far.
    setups: u64,
    state: State,
    jobs: Sender<Job>,
    stop: Arc<AtomicBool>,
    output: &'a mut W,
}

impl<W: Write> Engine<'_, W> {
    /// Answers an event; `false` ends the engine.
    fn answer(&mut self, event: Event) -> Result<bool, EngineError> {
        match event {
            Event::Line(line) => return self.line(&line),
            Event::EndOfInput => return self.end(),
            Event::InputFailed(error) => return Err(EngineError::Input(error)),
            Event::Progress(thought) => self.say(&told::info(&thought))?,
            Event::Done(thought) => return self.done(thought),
            Event::ThinkingFailed(error) => return Err(error.into()),
            Event::ThinkerGone => return Err(EngineError::Thinker),
        }
        Ok(true)
    }

    /// Writes a line or several, at once.
    fn say(&mut self, text: &str) -> Result<(), EngineError> {
        let written = self.output.write_all(format!("{text}\n").as_bytes());
        written.and_then(|()| self.output.flush()).map_err(EngineError::Output)
    }

    fn line(&mut self, line: &[u8]) -> Result<bool, EngineError> {
        let command = line_text(line)
            .map_err(anyhow::Error::from)
            .and_then(|text| Command::parse(text).map_err(anyhow::Error::from));
        let answer = match command {
            Ok(None) => return Ok(true),
            Ok(Some(Command::Quit)) => return Ok(false),
            Ok(Some(Command::Stop)) => return self.stop(),
            Ok(Some(command)) => self.obey(command),
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) if answer.is_empty() => {}
            Ok(answer) => self.say(&answer)?,
            Err(error) => match error.downcast::<EngineError>() {
                Ok(error) => return Err(error),
                Err(error) => self.say(&format!("error {}", one_line::quoted(&error)))?,
            },
        }
        Ok(true)
    }

    /// Does what a command says; the answer, which may be empty.
    fn obey(&mut self, command: Command) -> anyhow::Result<String> {
        let busy = !matches!(self.state, State::Idle);
        match command {
            Command::Hello => return Ok(self.hello()),
            Command::IsReady => return Ok("readyok".into()),
            Command::Show => return Ok(self.show()),
            Command::Setup(seat) => return self.setup(seat),
            _ if busy => bail!("the engine is thinking: say `stop` first"),
            Command::NewGame { rules } => self.new_game(rules.as_deref())?,
            Command::SetOption { name, value } => self.set_option(&name, &value)?,
            Command::Position { start, actions } => {
                self.course = Some(self.read_position(&start, &actions)?);
            }
            Command::Go(go) => return self.go(go),
            Command::Stop | Command::Quit => {}
        }
        Ok(String::new())
    }

    fn hello(&self) -> String {
        let mut lines = vec![format!("id name cyvasse {}", env!("CARGO_PKG_VERSION"))];
        if let Some((file, step)) = self.entrant.checkpoint() {
            lines.push(format!("id checkpoint {} step {step}", file.display()));
        }
        lines.push(format!("protocol {PROTOCOL_VERSION}"));
        let made_for = made_for(self.rules);
        lines.push(format!("rules {} {}", made_for.rules_fingerprint, made_for.rules_name));
        lines.extend(self.options.list());
        lines.push("cvpok".into());
        lines.join("\n")
    }

    fn show(&self) -> String {
        let Some(course) = &self.course else { return "position none".into() };
        let mut lines = vec![format!("position {}", course.position())];
        match course.game().outcome() {
            Some(outcome) => lines.push(format!("over {outcome}")),
            None => {
                let actions = course.legal_actions();
                let actions: Vec<String> = actions.iter().map(ToString::to_string).collect();
                lines.push(format!("actions {}", actions.join(" ")));
            }
        }
        lines.join("\n")
    }

    fn setup(&mut self, seat: Side) -> anyhow::Result<String> {
        let parts = [self.setups, seat.index() as u64];
        let seed = derive(self.options.seed, Purpose::Setups, &parts);
        self.setups += 1;
        let setup = self.entrant.setups.draw(seat, &mut ChaCha8Rng::seed_from_u64(seed))?;
        Ok(format!("setup {seat} {setup}"))
    }

    fn new_game(&mut self, rules: Option<&str>) -> anyhow::Result<()> {
        if let Some(file) = rules {
            let (asked, own) = (made_for(&read_rules(Path::new(file))?), made_for(self.rules));
            if asked != own {
                bail!(
                    "the rules of {file} are {} {}, but the checkpoint was made for {} {}",
                    asked.rules_fingerprint,
                    asked.rules_name,
                    own.rules_fingerprint,
                    own.rules_name
                );
            }
        }
        self.course = None;
        self.work(Job::Forget)
    }

    fn set_option(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let before = self.options.clone();
        self.options.set(name, value)?;
        if self.options.threads != before.threads {
            match evaluator(self.entrant, self.options.threads) {
                Ok(evaluator) => self.work(Job::Evaluator(Box::new(evaluator)))?,
                Err(error) => {
                    self.options = before;
                    return Err(anyhow!("{error}"));
                }
            }
        }
        Ok(())
    }

    fn read_position(&self, start: &Start, actions: &[String]) -> anyhow::Result<Course> {
        let start = match start {
            Start::Position(text) => Position::parse(text, self.rules)?,
            Start::Setups([white, black]) => {
                let white = Setup::parse(white, self.rules).context("white's setup")?;
                let black = Setup::parse(black, self.rules).context("black's setup")?;
                Position::start(&white, &black)
            }
        };
        let actions = actions.iter().map(String::as_str);
        Ok(Course::replay(self.rules.clone(), start, actions)?)
    }

    fn go(&mut self, go: Go) -> anyhow::Result<String> {
        let course = self.course.as_ref().context("there is no position: say `position` first")?;
        if let Some(outcome) = course.game().outcome() {
            return Ok(format!("info over {outcome}\nbestmove none"));
        }
        let (limits, infinite) = match go {
            Go::Limited { simulations, time } => (Limits { simulations, time }, false),
            Go::Infinite => (Limits::default(), true),
        };
        let manner = Manner {
            limits,
            rule: self.options.search,
            max_nodes: self.options.nodes,
            seed: self.options.seed,
        };
        let course = Box::new(course.clone());
        if !self.options.reuse {
            self.work(Job::Forget)?;
        }
        self.stop.store(false, Ordering::Relaxed);
        self.work(Job::Think { course, manner, lines: self.options.lines })?;
        self.state = State::Thinking { infinite, last: false };
        Ok(String::new())
    }

    fn work(&self, job: Job) -> anyhow::Result<()> {
        Ok(self.jobs.send(job).map_err(|_| EngineError::Thinker)?)
    }

    /// Asks for the answer. That there is nothing to stop is no mistake: the answer
    /// may just have been given.
    fn stop(&mut self) -> Result<bool, EngineError> {
        self.stop.store(true, Ordering::Relaxed);
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {}
            State::Thinking { last, .. } => self.state = State::Thinking { infinite: false, last },
            State::Waiting(thought) => self.say(&told::best(&thought))?,
        }
        Ok(true)
    }

    /// Takes the end of a search.
    fn done(&mut self, thought: Box<Thought>) -> Result<bool, EngineError> {
        self.say(&told::info(&thought))?;
        match self.state {
            State::Thinking { infinite: true, .. } => self.state = State::Waiting(thought),
            State::Thinking { last, .. } => {
                self.state = State::Idle;
                self.say(&told::best(&thought))?;
                return Ok(!last);
            }
            State::Idle | State::Waiting(_) => {}
        }
        Ok(true)
    }

    /// Takes the end of the input: what was asked is answered first.
    fn end(&mut self) -> Result<bool, EngineError> {
        if let State::Thinking { infinite: true, .. } | State::Waiting(_) = self.state {
            self.stop()?;
        }
        if let State::Thinking { last, .. } = &mut self.state {
            *last = true;
            return Ok(true);
        }
        Ok(false)
    }
}
