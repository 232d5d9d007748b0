//! What a run says while it works: bars on a terminal, lines in a log.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::run_dir::{RunDirError, io_error};

/// How often a stage writes a line where there is no terminal for its bar.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

/// Tells people how a run goes, on standard error and in the log file.
#[derive(Debug)]
pub struct Reporter {
    log: Option<Mutex<File>>,
    bars: MultiProgress,
    terminal: bool,
    started: Instant,
}

/// A stage of the run with a known length.
#[derive(Debug)]
pub struct Stage<'a> {
    reporter: &'a Reporter,
    name: String,
    bar: ProgressBar,
    last_line: Instant,
}

impl Reporter {
    /// A reporter that keeps a log file, at the end of what is in it.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn with_log(path: &Path) -> Result<Reporter, RunDirError> {
        let log = File::options().create(true).append(true).open(path);
        let log = log.map_err(io_error("open", path))?;
        Ok(Reporter { log: Some(Mutex::new(log)), ..Reporter::new() })
    }

    /// A reporter without a log file.
    #[must_use]
    pub fn new() -> Reporter {
        Reporter {
            log: None,
            bars: MultiProgress::new(),
            terminal: std::io::stderr().is_terminal(),
            started: Instant::now(),
        }
    }

    /// Says a line: it stays on the screen and goes into the log.
    pub fn say(&self, line: &str) {
        if self.terminal {
            // A bar may be on the screen; a lost line is in the log.
            let _ = self.bars.println(line);
        } else {
            // Whoever was listening may be gone; the log is there.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        self.note(line);
    }

    /// Writes a line into the log alone, with the seconds since the start.
    fn note(&self, line: &str) {
        let Some(log) = &self.log else { return };
        let seconds = self.started.elapsed().as_secs_f64();
        let mut log = log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A full disk must not end the run by way of its log.
        let _ = writeln!(log, "[{seconds:9.1}s] {line}");
    }

    /// Starts a stage of `length` steps, counted by its `update`.
    #[must_use]
    pub fn stage(&self, name: &str, length: u64) -> Stage<'_> {
        let bar = if self.terminal {
            self.bars.add(ProgressBar::new(length))
        } else {
            ProgressBar::hidden().with_elapsed(Duration::ZERO)
        };
        bar.set_length(length);
        let style =
            ProgressStyle::with_template("{prefix:>10} [{bar:30}] {pos}/{len} {msg} (left: {eta})");
        bar.set_style(style.expect("the template is valid").progress_chars("=> "));
        bar.set_prefix(name.to_string());
        Stage { reporter: self, name: name.to_string(), bar, last_line: Instant::now() }
    }
}

impl Default for Reporter {
    fn default() -> Reporter {
        Reporter::new()
    }
}

impl Stage<'_> {
    /// Shows how far the stage is; `detail` tells of rates and losses.
    pub fn update(&mut self, position: u64, detail: &str) {
        self.bar.set_position(position);
        self.bar.set_message(detail.to_string());
        if !self.reporter.terminal && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            self.reporter.say(&self.line(position, detail));
        }
    }

    fn line(&self, position: u64, detail: &str) -> String {
        let length = self.bar.length().unwrap_or(position).max(1);
        let done = position.max(1) as f64 / length as f64;
        let left = self.bar.elapsed().as_secs_f64() * (1.0 / done - 1.0);
        let name = &self.name;
        format!("{name}: {position}/{length} {detail} (about {left:.0} s left)")
    }

    /// Ends the stage, with a line that stays.
    pub fn finish(self, line: &str) {
        let reporter = self.reporter;
        self.clear();
        reporter.say(line);
    }

    /// Ends the stage without a word.
    pub fn clear(self) {
        self.bar.finish_and_clear();
        self.reporter.bars.remove(&self.bar);
    }

    /// Seconds since the stage began.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.bar.elapsed().as_secs_f64()
    }
}

/// Sets a flag however the work ends: whoever watches it must not wait for ever.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
