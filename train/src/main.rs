//! The command `cyvasse`: reads the arguments, runs a command, prints what
//! went wrong and picks the exit code. Nothing else.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use cyvasse_train::commands::{self, Arguments};
use cyvasse_train::one_line;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(arguments) {
        Ok(code) => code,
        Err(error) => {
            // Where nobody listens any more, the exit code has to tell.
            let _ = writeln!(std::io::stderr(), "error: {}", one_line::told(&error));
            ExitCode::FAILURE
        }
    }
}
