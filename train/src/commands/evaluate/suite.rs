//! `cyvasse evaluate suite`.

use std::fmt::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::{Machine, PLAYERS, load_rules};
use crate::commands::rules::answers::tell;
use crate::evaluation::{Entrant, PlayerSpec, Suite, SuiteReport};

/// What `cyvasse evaluate suite` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = PLAYERS)]
pub(in crate::commands) struct SuiteArguments {
    /// The player to ask, with its simulations, such as agent:runs/quick?simulations=64
    player: PlayerSpec,
    /// Ask these positions in place of those that come with the program
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Tell of every wrong answer
    #[arg(long)]
    wrong: bool,
    /// Any number, for players that draw lots
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// The rules to play by; left out, those of iron-throne.toml
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    machine: Machine,
}

impl SuiteArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let rules = load_rules(self.rules.as_ref())?;
        let suite = Suite::load(self.positions.as_ref(), &rules)?;
        let entrant = Entrant::load(&self.player, &rules, self.machine.device()?)?;
        let players = (0..self.machine.workers()).map(|_| entrant.player()).collect();
        let report = suite.ask(players, self.seed)?;
        match self.json {
            true => tell(&(serde_json::to_string(&report)? + "\n"))?,
            false => tell(&in_words(&self.player, &report, self.wrong)?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The answers for a person.
fn in_words(player: &PlayerSpec, report: &SuiteReport, wrong: bool) -> Result<String, fmt::Error> {
    let mut text = String::new();
    let (right, asked) = report.total();
    writeln!(text, "{player}: {right} of {asked}")?;
    for (kind, (right, asked)) in &report.kinds {
        writeln!(text, "  {kind}: {right} of {asked}")?;
    }
    for answer in report.wrong.iter().filter(|_| wrong) {
        let answers = answer.answers.join(" or ");
        writeln!(
            text,
            "{}: {} in place of {answers} in {}",
            answer.name, answer.chosen, answer.position
        )?;
    }
    Ok(text)
}
