//! `cyvasse evaluate`: how strong a player is, and how far to believe it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use cyvasse_env::Rules;

mod ladder;
mod match_;
mod replay;
mod setups;
mod suite;

use super::machine::Machine;
use crate::config::read_rules;

pub(super) const PLAYERS: &str = "\
Players:
  random                        any legal action
  greedy                        the best capture at hand, or else any action
  alphabeta:depth=4             search with a hand-written evaluation; or nodes=20000, or ms=20
  rollouts:simulations=400      Monte-Carlo tree search with random games
  agent:PATH?simulations=64     a trained network: a run directory (its newest checkpoint), a
                                checkpoint directory or its file; 64 simulations if nothing is
                                said; search=puct or search=policy in place of Gumbel search
Where a player takes its homelands from is an option, too:
  setups=own                    the setup network of the agent's checkpoint: what an agent does
                                where there is one, for it is a part of the agent
  setups=uniform                any setup, each as likely as the others: what all others do
  setups=FILE                   one of those in the file, one a line (lines with # are comments)
With errors=20, any player plays at random in so many of a hundred turns.
Players that take them from the same place play each pair of games from the same start with the
seats swapped; others bring their own to both seats, and are measured at building and playing
together. To measure play alone, say setups=uniform for each agent.

Examples:
  cyvasse evaluate match alphabeta:depth=3 greedy --games 200
  cyvasse evaluate match agent:runs/quick alphabeta:depth=2 --games 2000 --sprt 0 30
  cyvasse evaluate match \"agent:runs/quick?simulations=128\" agent:runs/quick --save games.jsonl
  cyvasse evaluate match agent:runs/quick \"agent:runs/quick?setups=uniform\"
  cyvasse evaluate ladder runs/quick --every 2
  cyvasse evaluate suite \"agent:runs/quick?simulations=64\"
  cyvasse evaluate setups --checkpoint runs/quick --pilot alphabeta:depth=2
  cyvasse evaluate replay games.jsonl --game 3";

/// The evaluation commands.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = PLAYERS)]
pub(super) enum Command {
    /// Play two players against each other
    Match(match_::MatchArguments),
    /// Rate the checkpoints of a run and some baselines in one pool
    Ladder(ladder::LadderArguments),
    /// Ask a player positions whose answers are proven
    Suite(suite::SuiteArguments),
    /// Whether a checkpoint's setups are good, various and hard to answer; fails where not
    Setups(Box<setups::SetupsArguments>),
    /// Play the games of `match --save` again and show one of them
    Replay(replay::ReplayArguments),
}

pub(super) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Match(arguments) => arguments.run(),
        Command::Ladder(arguments) => arguments.run(),
        Command::Suite(arguments) => arguments.run(),
        Command::Setups(arguments) => arguments.run(),
        Command::Replay(arguments) => arguments.run(),
    }
}

fn load_rules(file: Option<&PathBuf>) -> anyhow::Result<Arc<Rules>> {
    let rules = match file {
        Some(path) => read_rules(path).context("--rules")?,
        None => Rules::iron_throne(),
    };
    Ok(Arc::new(rules))
}
