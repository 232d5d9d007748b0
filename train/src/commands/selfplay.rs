//! `cyvasse selfplay`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::signal::{INTERRUPTED, stop_flag};
use crate::pipeline::{self, RunEnd, WorkerOptions};

/// Arguments of `cyvasse selfplay`.
#[derive(Debug, clap::Args)]
pub(super) struct SelfPlayArguments {
    /// The run directory that `cyvasse train --learner` works in; it may come later
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Threads that play [default: `selfplay.workers` of the run's config]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
}

pub(super) fn run(arguments: SelfPlayArguments) -> anyhow::Result<ExitCode> {
    let stop = stop_flag()?;
    let SelfPlayArguments { run_dir, threads } = arguments;
    match pipeline::selfplay(&WorkerOptions { run_dir, threads }, &stop)? {
        RunEnd::Finished => Ok(ExitCode::SUCCESS),
        RunEnd::Stopped => Ok(ExitCode::from(INTERRUPTED)),
    }
}
