//! `cyvasse play`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use cyvasse_env::{Rules, Setup, Side};

use super::evaluate::PLAYERS;
use super::machine::{Machine, fresh_seed};
use super::rules::RulesArgument;
use super::rules::answers::is_closed_pipe;
use super::signal::flag_that_says;
use crate::evaluation::PlayerSpec;
use crate::front_ends::play::{self, Console, Level, Opponent, Settings};
use crate::setups::read_setups;

const EXAMPLES: &str = "\
Examples:
  cyvasse play
  cyvasse play --checkpoint runs/quick --seat b --level 6
  cyvasse play --opponent alphabeta:depth=3 --setup configs/setups/moat.txt
  cyvasse play --load game.json";

const INTERRUPTED: &str =
    "the opponent is thinking; Ctrl-C once more leaves, and what is not saved is lost";

/// What `cyvasse play` is given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{PLAYERS}"))]
pub(super) struct PlayArguments {
    /// A trained agent to play against: a run directory, a checkpoint directory or its file; left
    /// out, the opponent needs no network
    #[arg(long, value_name = "PATH")]
    checkpoint: Option<PathBuf>,
    /// How strong the opponent is: 1 (or `beginner`) to 8 (or `full`)
    #[arg(long, value_name = "LEVEL", default_value = "4")]
    level: Level,
    /// The opponent by name, in place of a level, such as alphabeta:depth=3
    #[arg(long, value_name = "PLAYER", conflicts_with = "level")]
    opponent: Option<PlayerSpec>,
    /// Your seat; white moves first
    #[arg(long, value_name = "SEAT", default_value = "w")]
    seat: Seat,
    /// Your homeland: in quotes, or a file, whose first one is taken; left out, you build it
    #[arg(long, value_name = "SETUP")]
    setup: Option<String>,
    /// Goes on with a saved game
    #[arg(long, value_name = "FILE", conflicts_with_all = ["checkpoint", "level", "opponent", "seat", "setup"])]
    load: Option<PathBuf>,
    /// Where the opponent's choices come from [default: another number each time]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    #[command(flatten)]
    rules: RulesArgument,
    #[command(flatten)]
    machine: Machine,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Seat {
    #[value(alias = "white")]
    W,
    #[value(alias = "black")]
    B,
}

pub(super) fn run(arguments: PlayArguments) -> anyhow::Result<ExitCode> {
    let rules = Arc::new(arguments.rules.load()?);
    let setup = arguments.setup.map(|text| read_setup(&text, &rules)).transpose()?;
    let mut settings = Settings {
        device: arguments.machine.device()?,
        checkpoint: arguments.checkpoint,
        opponent: arguments.opponent.map_or(Opponent::Level(arguments.level), Opponent::Named),
        seat: match arguments.seat {
            Seat::W => Side::White,
            Seat::B => Side::Black,
        },
        setup,
        saved: arguments.load,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        interrupted: flag_that_says(INTERRUPTED)?,
        rules,
    };
    let game = Console::new()
        .map_err(play::PlayError::from)
        .and_then(|mut console| play::play(&mut settings, &mut console));
    match game {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match anyhow::Error::from(error) {
            // Whoever read it has enough of it.
            error if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
            error => Err(error),
        },
    }
}

/// A setup in its text form, or the first of a file.
fn read_setup(text: &str, rules: &Rules) -> anyhow::Result<Setup> {
    if Path::new(text).is_file() {
        return Ok(read_setups(Path::new(text), rules)?[0]);
    }
    Setup::parse(text, rules).context("--setup is neither a file nor a setup")
}
