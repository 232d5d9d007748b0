//! `cyvasse analyze`.

use std::io::{self, BufReader};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, value_parser};
use cyvasse_selfplay::search::MOST_SIMULATIONS;

use super::engine::NetworkArguments;
use super::machine::Machine;
use super::rules::RulesArgument;
use super::rules::answers::is_closed_pipe;
use crate::evaluation::Entrant;
use crate::front_ends::analyze::{self, Defaults};

const EXAMPLES: &str = "\
A request is a JSON object on one line:
  id           a text or a number, which comes back with the answer
  position     the text form of a position; or setups: [white's, black's]
  actions      [\"e2e4\", ...]: played since, left out: none
  simulations, lines (of play in the answer), search (auto, puct or gumbel), seed: may be left out
The answers come in the order of the requests; docs/protocol.md tells what is in them. What is wrong
with a request is its answer, {\"id\":...,\"error\":...}, and then the exit code is 1 in the end.

Examples:
  cyvasse analyze --checkpoint runs/quick < requests.jsonl > answers.jsonl
  echo '{\"id\":1,\"position\":\"8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12\",\"simulations\":400}' |
      cyvasse analyze --checkpoint runs/quick";

/// What `cyvasse analyze` is given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AnalyzeArguments {
    #[command(flatten)]
    network: NetworkArguments,
    /// Simulations for a request that does not say how many
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = value_parser!(u32).range(1..=i64::from(MOST_SIMULATIONS)))]
    simulations: u32,
    /// Lines of play in the answer to a request that does not say how many
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..=500))]
    lines: u32,
    /// Where ties and lots come from in a request that does not say
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    rules: RulesArgument,
    #[command(flatten)]
    machine: Machine,
}

pub(super) fn run(arguments: AnalyzeArguments) -> anyhow::Result<ExitCode> {
    let rules = Arc::new(arguments.rules.load()?);
    let entrant = Entrant::load(&arguments.network.spec(), &rules, arguments.machine.device()?)?;
    let evaluators: Option<Vec<_>> =
        (0..arguments.machine.workers()).map(|_| entrant.evaluator()).collect();
    let evaluators = evaluators.context("there is no network to analyse with")?;
    let defaults = Defaults {
        simulations: arguments.simulations,
        lines: arguments.lines,
        seed: arguments.seed,
    };
    let input = BufReader::new(io::stdin());
    match analyze::run(evaluators, &rules, &defaults, input, &mut io::stdout()) {
        Ok(0) => Ok(ExitCode::SUCCESS),
        Ok(_) => Ok(ExitCode::FAILURE),
        Err(error) => match anyhow::Error::from(error) {
            // Whoever read the answers has enough of them.
            error if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
            error => Err(error),
        },
    }
}
