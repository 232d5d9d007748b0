//! Ctrl-C.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::pipeline::is_quiet;

/// The exit code of a command that was stopped by Ctrl-C, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

/// A flag that the first Ctrl-C sets, to ask for a clean stop; the second ends
/// the process.
pub(super) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    flag_that_says("stopping; once more to end at once")
}

/// The same, with another word to whoever has asked.
pub(super) fn flag_that_says(message: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let handler = move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        if !is_quiet() {
            // The terminal may be gone.
            let _ = writeln!(std::io::stderr(), "{message}");
        }
    };
    ctrlc::set_handler(handler).context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
