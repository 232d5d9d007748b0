//! What the engine tells of its thoughts.

use std::fmt::Write;

use cyvasse_env::Action;
use cyvasse_selfplay::search::Line;
use cyvasse_selfplay::{MoverValue, Proven};

use crate::front_ends::thinking::Thought;

/// A line on the search as a whole and one on each line of play.
pub(super) fn info(thought: &Thought) -> String {
    let result = &thought.result;
    let milliseconds = thought.time.as_millis();
    let rate = f64::from(result.simulations) / thought.time.as_secs_f64().max(1e-6);
    let mut text = format!(
        "info time {milliseconds} simulations {} visits {} rate {rate:.0} value {}{}",
        result.simulations,
        thought.visits,
        number(result.value),
        proof(result.proven)
    );
    for (index, line) in thought.lines.iter().enumerate() {
        let _ = write!(text, "\n{}", of_line(index + 1, line));
    }
    text
}

fn of_line(rank: usize, line: &Line<Action>) -> String {
    let actions: Vec<String> = line.actions.iter().map(ToString::to_string).collect();
    let value = line.value.map_or(String::new(), |value| format!(" value {}", number(value)));
    format!(
        "info line {rank} visits {} prior {:.4}{value}{} pv {}",
        line.visits,
        line.prior,
        proof(line.proven),
        actions.join(" ")
    )
}

/// The answer.
pub(super) fn best(thought: &Thought) -> String {
    format!("bestmove {}", thought.result.best)
}

fn number(value: MoverValue) -> String {
    // Adding zero takes the sign off a zero.
    format!("{:.4}", value.get() + 0.0)
}

fn proof(proven: Option<Proven>) -> String {
    let Some(proven) = proven else { return String::new() };
    let result = match proven {
        Proven::Win(_) => "win",
        Proven::Draw(_) => "draw",
        Proven::Loss(_) => "loss",
    };
    format!(" proven {result} {}", proven.plies())
}
