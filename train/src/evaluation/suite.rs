//! A fixed set of positions with known answers.
//!
//! The set is made by `train/examples/make_suite.rs`, which proves every answer
//! by brute force.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use cyvasse_env::{Action, Game, Position, Rules};
use cyvasse_selfplay::players::{Player, PlayerError, Turn};
use cyvasse_selfplay::{Purpose, derive};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The set that comes with the program.
const BUILT_IN: &str = include_str!("../../data/suite.jsonl");

const FORMAT: &str = "cyvasse-suite";
const VERSION: u32 = 1;

/// Positions with known answers.
#[derive(Clone, Debug)]
pub struct Suite {
    rules: Arc<Rules>,
    questions: Vec<Question>,
}

/// A position and the actions that are right in it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question's name.
    pub name: String,
    /// What kind of question it is.
    pub kind: String,
    /// The position, the other side's last action being unknown.
    pub position: Position,
    /// All right answers.
    pub answers: Vec<Action>,
}

/// What a player answered.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteReport {
    /// Questions answered rightly and asked, by kind.
    pub kinds: BTreeMap<String, (u32, u32)>,
    /// Wrong answers: the question's name, position, answer, and right answers.
    pub wrong: Vec<WrongAnswer>,
}

/// A wrong answer.
#[derive(Clone, Debug, Serialize)]
pub struct WrongAnswer {
    /// The question's name.
    pub name: String,
    /// The position.
    pub position: String,
    /// What the player chose.
    pub chosen: String,
    /// What would have been right.
    pub answers: Vec<String>,
}

/// A set of positions that cannot be used.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("the suite, line {line}: {reason}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    rules: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionLine {
    name: String,
    kind: String,
    position: String,
    answers: Vec<String>,
}

impl Suite {
    /// The set that comes with the program, or the one in a file.
    ///
    /// # Errors
    /// A file that cannot be read, a set for other rules, a line that is no
    /// question.
    pub fn load(file: Option<&PathBuf>, rules: &Arc<Rules>) -> Result<Suite, SuiteError> {
        let Some(path) = file else { return Suite::parse(BUILT_IN, rules) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| SuiteError::Read { path: path.clone(), source })?;
        Suite::parse(&text, rules)
    }

    fn parse(text: &str, rules: &Arc<Rules>) -> Result<Suite, SuiteError> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (line, first) = lines.next().unwrap_or((1, ""));
        check_header(first, rules).map_err(|reason| SuiteError::Line { line, reason })?;
        let questions = lines.map(|(line, text)| {
            question(text, rules).map_err(|reason| SuiteError::Line { line, reason })
        });
        let questions = questions.collect::<Result<Vec<Question>, SuiteError>>()?;
        Ok(Suite { rules: rules.clone(), questions })
    }

    /// The questions.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Asks a player everything; its copies, one a thread, share the questions.
    ///
    /// # Errors
    /// A player that fails.
    pub fn ask(
        &self,
        players: Vec<Box<dyn Player>>,
        seed: u64,
    ) -> Result<SuiteReport, PlayerError> {
        let share = self.questions.len().div_ceil(players.len().max(1)).max(1);
        let answers = thread::scope(|scope| {
            let shares = self.questions.chunks(share).enumerate().zip(players);
            let threads: Vec<_> = shares
                .map(|((number, questions), player)| {
                    scope.spawn(move || self.answers(questions, number * share, player, seed))
                })
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(answers) => answers,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect::<Result<Vec<Vec<Action>>, PlayerError>>()
        })?;
        Ok(self.report(&answers.concat()))
    }

    /// What a player answers to some questions, the first of which has the
    /// number `from`. A question's seed depends on its number alone.
    fn answers(
        &self,
        questions: &[Question],
        from: usize,
        mut player: Box<dyn Player>,
        seed: u64,
    ) -> Result<Vec<Action>, PlayerError> {
        let answer = |(number, question): (usize, &Question)| {
            let game = Game::new(self.rules.clone(), question.position.clone());
            let seed = derive(seed, Purpose::Match, &[(from + number) as u64]);
            Ok(player.choose(&[Turn { game: &game, seed }])?[0])
        };
        questions.iter().enumerate().map(answer).collect()
    }

    fn report(&self, answers: &[Action]) -> SuiteReport {
        let mut report = SuiteReport { kinds: BTreeMap::new(), wrong: Vec::new() };
        for (question, chosen) in self.questions.iter().zip(answers) {
            let (right, asked) = report.kinds.entry(question.kind.clone()).or_default();
            *asked += 1;
            if question.answers.contains(chosen) {
                *right += 1;
            } else {
                report.wrong.push(WrongAnswer {
                    name: question.name.clone(),
                    position: question.position.to_string(),
                    chosen: chosen.to_string(),
                    answers: question.answers.iter().map(Action::to_string).collect(),
                });
            }
        }
        report
    }
}

impl SuiteReport {
    /// Questions answered rightly and asked, over all kinds.
    #[must_use]
    pub fn total(&self) -> (u32, u32) {
        self.kinds.values().fold((0, 0), |(right, asked), kind| (right + kind.0, asked + kind.1))
    }
}

fn check_header(line: &str, rules: &Rules) -> Result<(), String> {
    let header: Header =
        serde_json::from_str(line).map_err(|error| format!("no suite: {error}"))?;
    if (header.format.as_str(), header.version) != (FORMAT, VERSION) {
        let Header { format, version, .. } = header;
        return Err(format!(
            "found {format} version {version}, expected {FORMAT} version {VERSION}"
        ));
    }
    let fingerprint = format!("{:016x}", rules.fingerprint());
    if header.rules != fingerprint {
        let (name, made) = (&rules.name, header.rules);
        return Err(format!("made for other rules ({made}) than `{name}` ({fingerprint})"));
    }
    Ok(())
}

fn question(line: &str, rules: &Rules) -> Result<Question, String> {
    let line: QuestionLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let position = Position::parse(&line.position, rules).map_err(|error| error.to_string())?;
    let answer = |text: &String| {
        let action = Action::parse(text).map_err(|error| error.to_string())?;
        match position.is_legal(action, rules) {
            true => Ok(action),
            false => Err(format!("{action} is not legal")),
        }
    };
    let answers = line.answers.iter().map(answer).collect::<Result<Vec<Action>, String>>()?;
    Ok(Question { name: line.name, kind: line.kind, position, answers })
}
