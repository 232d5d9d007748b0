//! Counts the action sequences of the test vectors where there is no system:
//! compiled for `wasm32-unknown-unknown`, run by `run.mjs` under Node.js.
//!
//! There it can print nothing, so its exit code is its answer: how many vectors
//! it has counted right.

use std::process::ExitCode;

use cyvasse_env::{Position, Rules, perft};

/// Lines of a position, a depth and a count, with tabs between them.
const VECTORS: &str = include_str!("../../data/vectors/iron-throne/perft.tsv");

fn main() -> ExitCode {
    let rules = Rules::iron_throne();
    let right = VECTORS.lines().filter(|line| is_right(line, &rules) == Some(true)).count();
    // More than an exit code can tell is as wrong as too few.
    ExitCode::from(u8::try_from(right).unwrap_or(u8::MAX))
}

fn is_right(line: &str, rules: &Rules) -> Option<bool> {
    let mut fields = line.split('\t');
    let position = Position::parse(fields.next()?, rules).ok()?;
    let depth = fields.next()?.parse().ok()?;
    let expected = fields.next()?.parse().ok()?;
    Some(perft(&position, rules, depth) == expected)
}
