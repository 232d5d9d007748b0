//! `cyvasse train`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::pipeline::{self, RunEnd, RunOptions};

/// The exit code of a run that was stopped by Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

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
}

pub(super) fn run(arguments: TrainArguments) -> anyhow::Result<ExitCode> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signal(stop.clone())?;
    let TrainArguments { config, run_dir, resume } = arguments;
    match pipeline::train(&RunOptions { config, run_dir, resume }, &stop)? {
        RunEnd::Finished => Ok(ExitCode::SUCCESS),
        RunEnd::Stopped => Ok(ExitCode::from(INTERRUPTED)),
    }
}

/// Lets the first Ctrl-C ask for a clean stop, and the second end the process.
fn stop_on_signal(stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    let handler = move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        // The terminal may be gone.
        let _ = writeln!(std::io::stderr(), "stopping; once more to end at once");
    };
    ctrlc::set_handler(handler).context("cannot listen for Ctrl-C")
}
