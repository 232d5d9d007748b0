//! `cyvasse report`.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use tempfile::NamedTempFile;

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
            write_new(&path, &page)?;
            path
        }
        None => {
            let path = arguments.run.join("report.html");
            let written = partial(&path, &page)?.persist(&path);
            written.with_context(|| format!("cannot write {}", path.display()))?;
            path
        }
    };
    tell(&format!("{}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, page: &str) -> anyhow::Result<()> {
    let exists = || {
        format!("{} exists already; choose another name, nothing is overwritten", path.display())
    };
    ensure!(!path.exists(), "{}", exists());
    match partial(path, page)?.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(anyhow::Error::msg(exists()))
        }
        Err(error) => Err(error.error).with_context(|| format!("cannot write {}", path.display())),
    }
}

/// The page under a temporary name beside its own, so that a page is whole or
/// not there.
fn partial(path: &Path, page: &str) -> anyhow::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let created = tempfile::Builder::new()
        .prefix(".report")
        .suffix(".partial")
        // Less what the user's mask takes away, as for any new file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")));
    let mut file = created.with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file)
}
