//! `cyvasse report`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::new_file::NewFile;
use super::rules::answers::tell;
use crate::report::{Report, html};

/// Arguments of `cyvasse report`.
#[derive(Debug, clap::Args)]
pub(super) struct ReportArguments {
    /// The run directory; the run may be going on
    run: PathBuf,
    /// Write to a new file [default: report.html in the run directory, made anew]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print everything as JSON in place of writing a page
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

pub(super) fn run(arguments: ReportArguments) -> anyhow::Result<ExitCode> {
    let report = Report::read(&arguments.run)?;
    if arguments.json {
        tell(&(serde_json::to_string(&report)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let page = html(&report);
    let path = match arguments.output {
        Some(path) => {
            let mut file = NewFile::create(path)?;
            file.write_all(page.as_bytes())?;
            file.keep()?
        }
        None => {
            let mut file = NewFile::replace(arguments.run.join("report.html"))?;
            file.write_all(page.as_bytes())?;
            file.keep()?
        }
    };
    tell(&format!("{}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}
