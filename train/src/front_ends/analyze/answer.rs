//! What is answered about a position: one JSON object a line.
//!
//! Values are those of the side to move, 1 (won) to -1 (lost).

use cyvasse_env::{Action, Outcome};
use cyvasse_selfplay::{MoverOutcome, Proven};
use serde::Serialize;
use serde_json::Value;

use super::request::Refusal;
use crate::front_ends::course::Course;
use crate::front_ends::thinking::Thought;
use crate::one_line;

/// An answer; what does not apply is left out.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    id: Value,
    /// The position that was asked about, after the actions.
    position: String,
    /// `white` or `black`.
    turn: String,
    /// How the game ended, if it did; there is nothing to analyse then.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    /// The action to play.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<String>,
    value: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    proven: Option<Proof>,
    /// Finished simulations.
    visits: u32,
    /// Positions that the network judged.
    evaluations: u32,
    /// The share of each legal action in what the search would play, with its
    /// visits, most to least.
    policy: Vec<Share>,
    lines: Vec<AnswerLine>,
}

#[derive(Debug, Serialize)]
struct Share {
    action: String,
    share: f32,
    visits: u32,
}

#[derive(Debug, Serialize)]
struct AnswerLine {
    /// The action and what is expected after it.
    actions: Vec<String>,
    visits: u32,
    /// The network's own share for the action.
    prior: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proven: Option<Proof>,
}

/// A result that is certain, with the plies that it takes.
#[derive(Debug, Serialize)]
struct Proof {
    result: &'static str,
    plies: u16,
}

impl From<Proven> for Proof {
    fn from(proven: Proven) -> Proof {
        let result = match proven {
            Proven::Win(_) => "win",
            Proven::Draw(_) => "draw",
            Proven::Loss(_) => "loss",
        };
        Proof { result, plies: proven.plies() }
    }
}

/// The answer to a request about a game that goes on.
pub(super) fn of_thought(id: Value, course: &Course, thought: &Thought) -> Answer {
    let result = &thought.result;
    let shares = result.policy.iter().zip(&result.visits);
    let mut policy: Vec<Share> = shares
        .map(|(&(action, share), &(_, visits))| Share { action: text(&action), share, visits })
        .collect();
    policy.sort_by(|a, b| b.share.total_cmp(&a.share));
    let lines = thought.lines.iter().map(|line| AnswerLine {
        actions: line.actions.iter().map(text).collect(),
        visits: line.visits,
        prior: line.prior,
        value: line.value.map(|value| value.get()),
        proven: line.proven.map(Proof::from),
    });
    Answer {
        id,
        position: course.position().to_string(),
        turn: course.turn().to_string(),
        outcome: None,
        best: Some(text(&result.best)),
        value: result.value.get(),
        proven: result.proven.map(Proof::from),
        visits: thought.visits,
        evaluations: result.evaluations,
        policy,
        lines: lines.collect(),
    }
}

/// The answer to a request about a game that is over.
pub(super) fn of_outcome(id: Value, course: &Course, outcome: Outcome) -> Answer {
    Answer {
        id,
        position: course.position().to_string(),
        turn: course.turn().to_string(),
        outcome: Some(outcome.to_string()),
        best: None,
        value: MoverOutcome::of(outcome, course.turn()).value().get(),
        proven: None,
        visits: 0,
        evaluations: 0,
        policy: Vec::new(),
        lines: Vec::new(),
    }
}

fn text(action: &Action) -> String {
    action.to_string()
}

#[derive(Debug, Serialize)]
struct Mistake {
    id: Value,
    error: String,
}

/// What is said of a request that cannot be answered, as a line without its end.
pub(super) fn refusal(refusal: Refusal) -> String {
    json(&Mistake { error: one_line::quoted(&refusal.error), id: refusal.id })
}

/// An answer as a line without its end.
pub(super) fn json(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("answers are plain values")
}
