//! `cyvasse status`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::rules::answers::tell;
use crate::status::{Status, in_words};

/// Arguments of `cyvasse status`. The exit code is 1 where something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "The exit code is 1 if something is wrong, else 0.")]
pub(super) struct StatusArguments {
    /// The run directory; the run may be going on, or have ended in whatever way
    run: PathBuf,
    /// Print everything as JSON, with all metrics of the newest rounds
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: StatusArguments) -> anyhow::Result<ExitCode> {
    let status = Status::read(&arguments.run)?;
    let text = match arguments.json {
        true => serde_json::to_string(&status)? + "\n",
        false => in_words(&status),
    };
    tell(&text)?;
    Ok(if status.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
