//! `cyvasse train`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::signal::{INTERRUPTED, stop_flag};
use crate::pipeline::{self, RunEnd, RunOptions};

/// Arguments of `cyvasse train`.
#[derive(Debug, clap::Args)]
pub(super) struct TrainArguments {
    /// The config file, such as configs/quick.toml (which explains every key)
    config: PathBuf,
    /// Where the run is kept [default: runs/NAME for NAME.toml]
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// Go on with a run that was stopped, after its last whole round
    #[arg(long)]
    resume: bool,
    /// Play no games, but learn from those of `cyvasse selfplay` processes
    #[arg(long)]
    learner: bool,
}

pub(super) fn run(arguments: TrainArguments) -> anyhow::Result<ExitCode> {
    let stop = stop_flag()?;
    let TrainArguments { config, run_dir, resume, learner } = arguments;
    match pipeline::train(&RunOptions { config, run_dir, resume, learner }, &stop)? {
        RunEnd::Finished => Ok(ExitCode::SUCCESS),
        RunEnd::Stopped => Ok(ExitCode::from(INTERRUPTED)),
    }
}
