//! `cyvasse engine`.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::machine::{Machine, fresh_seed};
use super::rules::RulesArgument;
use super::rules::answers::is_closed_pipe;
use crate::evaluation::{AgentSearch, Entrant, PlayerKind, PlayerSpec, SetupChoice};
use crate::front_ends::engine::{self, Options};

const EXAMPLES: &str = "\
The protocol is told in docs/protocol.md. Examples:
  cyvasse engine --checkpoint runs/quick
  printf 'cvp\\nsetup white\\nsetup black\\n' | cyvasse engine --checkpoint runs/quick --seed 7
  printf 'position text 8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12\\ngo simulations 400\\n' |
      cyvasse engine --checkpoint runs/quick";

/// What `cyvasse engine` is given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EngineArguments {
    #[command(flatten)]
    network: NetworkArguments,
    /// Where setups, ties and lots come from [default: another number each time]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    #[command(flatten)]
    rules: RulesArgument,
    #[command(flatten)]
    machine: Machine,
}

/// A trained network, an argument of several commands.
#[derive(Debug, Args)]
pub(super) struct NetworkArguments {
    /// The network: a run directory (its newest checkpoint), a checkpoint directory or its file
    #[arg(long, value_name = "PATH")]
    checkpoint: PathBuf,
}

impl NetworkArguments {
    pub(super) fn spec(&self) -> PlayerSpec {
        // How it searches is said later.
        let kind = PlayerKind::Agent { path: self.checkpoint.clone(), search: AgentSearch::Policy };
        PlayerSpec { kind, setups: SetupChoice::Usual, errors: 0 }
    }
}

pub(super) fn run(arguments: EngineArguments) -> anyhow::Result<ExitCode> {
    let rules = Arc::new(arguments.rules.load()?);
    let entrant = Entrant::load(&arguments.network.spec(), &rules, arguments.machine.device()?)?;
    let mut options = Options::new(arguments.seed.unwrap_or_else(fresh_seed));
    options.threads = arguments.machine.workers();
    let input = BufReader::new(io::stdin());
    match engine::run(&entrant, &rules, options, input, &mut io::stdout()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match anyhow::Error::from(error) {
            // Whoever listened is gone.
            error if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
            error => Err(error),
        },
    }
}
