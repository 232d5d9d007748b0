//! The command `cyvasse`: reads the arguments, runs a command, prints what
//! went wrong and picks the exit code. Nothing else.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use cyvasse_train::commands::{self, Arguments};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(arguments) {
        Ok(code) => code,
        Err(error) => {
            // Where nobody listens any more, the exit code has to tell.
            let _ = writeln!(std::io::stderr(), "error: {}", in_one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error and its causes, less those that the error's own words tell.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !line.contains(&cause) {
            let link = if line.is_empty() { "" } else { ": " };
            line = line + link + &cause;
        }
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
