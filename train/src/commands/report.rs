//! `cyvasse report`.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

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
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: ReportArguments) -> anyhow::Result<ExitCode> {
    let report = Report::read(&arguments.run)?;
    if arguments.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(ExitCode::SUCCESS);
    }
    let page = html(&report);
    let path = match arguments.output {
        Some(path) => {
            let refused = || format!("cannot create {}; nothing is overwritten", path.display());
            File::create_new(&path)
                .and_then(|mut file| file.write_all(page.as_bytes()))
                .with_context(refused)?;
            path
        }
        None => {
            let path = arguments.run.join("report.html");
            let partial = arguments.run.join("report.html.partial");
            let refused = || format!("cannot write {}", path.display());
            fs::write(&partial, page)
                .and_then(|()| fs::rename(&partial, &path))
                .with_context(refused)?;
            path
        }
    };
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}
