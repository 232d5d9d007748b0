//! `cyvasse replay`: what stands in shards, the games of self-play.
//!
//! (The games of a match, which `evaluate match --save` writes, are shown by
//! `evaluate replay`.)

use std::process::ExitCode;

mod export;
mod shards;
mod show;
mod stats;
mod validate;

const EXAMPLES: &str = "\
A shard is given by its path, and all shards of a run by the run directory. Games and plies are
numbered from 0, as in the file and in messages. (The games of `evaluate match --save` are another
format: see `evaluate replay`.)

Examples:
  cyvasse replay stats runs/quick
  cyvasse replay show runs/quick/shards/round-0003.h5 --game 5
  cyvasse replay show runs/quick --game 5 --ply 12
  cyvasse replay show runs/quick --game 5 --step
  cyvasse replay validate runs/quick
  cyvasse replay export runs/quick --targets --output games.jsonl";

/// The commands about shards.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(super) enum Command {
    /// Count games: lengths, results by seat and source, resignations, searches
    Stats(stats::StatsArguments),
    /// Show a game: its plies in short, or the board and the targets at a ply
    Show(show::ShowArguments),
    /// Check every byte, and play every game again by the rules, its targets included
    Validate(validate::ValidateArguments),
    /// Write games as lines of JSON
    Export(export::ExportArguments),
}

pub(super) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Stats(arguments) => arguments.run(),
        Command::Show(arguments) => arguments.run(),
        Command::Validate(arguments) => arguments.run(),
        Command::Export(arguments) => arguments.run(),
    }
}
