//! `cyvasse bench`: how fast this machine is.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::bench::{self, Effort};
use crate::config::Config;
use crate::pipeline::Reporter;

/// The config that is measured when none is named.
const QUICK: &str = include_str!("../../../configs/quick.toml");

/// Arguments of `cyvasse bench`.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArguments {
    /// Take network, batch, search and threads from this training config
    /// [default: configs/quick.toml, as it was built in]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Measure for less than half a minute, more roughly
    #[arg(long)]
    quick: bool,
    /// Print a JSON object in place of the table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: BenchArguments) -> anyhow::Result<ExitCode> {
    let (config, rules) = match &arguments.config {
        Some(path) => Config::load(path)?,
        None => Config::built_in(Path::new("configs/quick.toml"), QUICK)?,
    };
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let report = bench::measure(&config, rules, effort, &Reporter::new())?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(ExitCode::SUCCESS)
}
