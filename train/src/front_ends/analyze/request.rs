//! What is asked about a position: one JSON object a line.

use std::sync::Arc;

use anyhow::{Context, bail};
use cyvasse_env::{Position, Rules, Setup};
use cyvasse_selfplay::search::MOST_SIMULATIONS;
use serde::Deserialize;
use serde_json::Value;

use crate::front_ends::course::Course;
use crate::front_ends::thinking::{Limits, Manner, Rule};

/// A request as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Comes back with the answer.
    #[serde(rename = "id")]
    _id: Value,
    /// Where the game begins, in the text form of positions.
    position: Option<String>,
    /// Or white's setup and black's.
    setups: Option<[String; 2]>,
    /// What was played since.
    #[serde(default)]
    actions: Vec<String>,
    simulations: Option<u32>,
    /// Lines of play in the answer.
    lines: Option<u32>,
    search: Option<WrittenRule>,
    seed: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenRule {
    Auto,
    Gumbel,
    Puct,
}

/// What is taken where a request says nothing.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// Simulations.
    pub simulations: u32,
    /// Lines of play.
    pub lines: u32,
    /// Where ties and lots come from.
    pub seed: u64,
}

/// A request that can be answered.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) course: Course,
    pub(super) manner: Manner,
    pub(super) lines: usize,
}

/// A request that cannot be answered.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Null, where it cannot be read.
    pub(super) id: Value,
    pub(super) error: anyhow::Error,
}

/// The most lines of play: more than a position has actions.
const MOST_LINES: u32 = 500;

/// Reads a request.
pub(super) fn read(
    text: &str,
    rules: &Arc<Rules>,
    defaults: &Defaults,
) -> Result<Request, Refusal> {
    let unreadable = |error| Refusal { id: Value::Null, error };
    let value: Value = serde_json::from_str(text)
        .context("a request is one JSON object a line")
        .map_err(unreadable)?;
    let id = match value.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => {
            let error = anyhow::anyhow!("a request needs an `id`, a text or a number");
            return Err(unreadable(error));
        }
    };
    let request = understand(value, rules, defaults);
    let (course, manner, lines) = request.map_err(|error| Refusal { id: id.clone(), error })?;
    Ok(Request { id, course, manner, lines })
}

fn understand(
    value: Value,
    rules: &Arc<Rules>,
    defaults: &Defaults,
) -> anyhow::Result<(Course, Manner, usize)> {
    let written: Written = serde_json::from_value(value)?;
    let start = match (&written.position, &written.setups) {
        (Some(text), None) => Position::parse(text, rules).context("position")?,
        (None, Some([white, black])) => {
            let white = Setup::parse(white, rules).context("white's setup")?;
            let black = Setup::parse(black, rules).context("black's setup")?;
            Position::start(&white, &black)
        }
        _ => bail!("expected either `position` or `setups` (white's and black's)"),
    };
    let actions = written.actions.iter().map(String::as_str);
    let course = Course::replay(rules.clone(), start, actions)?;
    let simulations = written.simulations.unwrap_or(defaults.simulations);
    if !(1..=MOST_SIMULATIONS).contains(&simulations) {
        bail!("`simulations` is {simulations}, expected 1 to {MOST_SIMULATIONS}");
    }
    let lines = written.lines.unwrap_or(defaults.lines);
    if !(1..=MOST_LINES).contains(&lines) {
        bail!("`lines` is {lines}, expected 1 to {MOST_LINES}");
    }
    let manner = Manner {
        limits: Limits { simulations: Some(simulations), time: None },
        rule: match written.search {
            None | Some(WrittenRule::Auto) => Rule::Auto,
            Some(WrittenRule::Gumbel) => Rule::Gumbel,
            Some(WrittenRule::Puct) => Rule::Puct,
        },
        // A node a simulation, and the root.
        max_nodes: simulations.saturating_add(2),
        seed: written.seed.unwrap_or(defaults.seed),
    };
    Ok((course, manner, lines as usize))
}
