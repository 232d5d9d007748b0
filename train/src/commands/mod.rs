//! The commands of `cyvasse`: one module each, from raw arguments to output.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod analyze;
mod bench;
mod doctor;
mod engine;
mod evaluate;
mod export;
mod machine;
mod new_file;
mod play;
mod replay;
mod report;
mod rules;
mod selfplay;
mod setup;
mod signal;
mod status;
mod train;

use crate::pipeline;

/// Trains agents for Cyvasse: The Iron Throne by self-play.
#[derive(Debug, Parser)]
#[command(name = "cyvasse", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Tell nothing of progress on the screen; a run's log.txt has it all the same
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Legal actions, perft, setups: the rules from the command line
    #[command(subcommand)]
    Rules(rules::Command),
    /// How fast this machine is, and how much of it each part uses
    Bench(bench::BenchArguments),
    /// What the program finds on this machine, and the remedy for what is wrong
    Doctor(doctor::DoctorArguments),
    /// Trains an agent by self-play, as a config file says
    Train(train::TrainArguments),
    /// What a run is doing, how far it is, and whether something is wrong
    Status(status::StatusArguments),
    /// Plays games for a run that `train --learner` learns from, on the same machine
    Selfplay(selfplay::SelfPlayArguments),
    /// What a setup network builds: samples, probabilities, drawings
    #[command(subcommand)]
    Setup(setup::Command),
    /// Matches, ratings and test positions: how strong is a player, and why believe it
    #[command(subcommand)]
    Evaluate(evaluate::Command),
    /// What stands in shards, the games of self-play: statistics, games, checks, export
    #[command(subcommand)]
    Replay(replay::Command),
    /// Tells of a run in one HTML file
    Report(report::ReportArguments),
    /// Plays against you in the terminal
    Play(play::PlayArguments),
    /// Answers a line protocol, for programs that show games (docs/protocol.md)
    Engine(engine::EngineArguments),
    /// Analyses positions given as JSON lines, many at a time, for scripts and servers
    Analyze(analyze::AnalyzeArguments),
    /// Writes a checkpoint's networks for other programs: ONNX, TorchScript, safetensors
    Export(export::ExportArguments),
}

/// Runs a command. An `Err` is a failure to be printed in one line; a command
/// that has told of its failures line by line returns a failing exit code.
///
/// # Errors
/// Whatever keeps the command from doing what was asked.
pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    if arguments.quiet {
        pipeline::be_quiet();
    }
    match arguments.command {
        Command::Rules(command) => rules::run(command),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Train(arguments) => train::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Selfplay(arguments) => selfplay::run(arguments),
        Command::Setup(command) => setup::run(command),
        Command::Evaluate(command) => evaluate::run(command),
        Command::Replay(command) => replay::run(command),
        Command::Report(arguments) => report::run(arguments),
        Command::Play(arguments) => play::run(arguments),
        Command::Engine(arguments) => engine::run(arguments),
        Command::Analyze(arguments) => analyze::run(arguments),
        Command::Export(arguments) => export::run(arguments),
    }
}
