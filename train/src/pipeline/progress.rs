//! What a run says while it works: bars on a terminal, lines in a log.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::files::io_error;
use super::progress_file::{ProgressFile, WorkEnd};
use super::run_dir::RunDirError;

/// How often a stage writes a line into the log, and onto the screen where there is
/// no terminal for its bar.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

/// Set once by the option `--quiet`: like the terminal, it is of the whole process.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Has reporters that are made from now on write nothing to standard error.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether nobody wants to be told of progress.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Tells people how a run goes, on standard error and in the log file.
#[derive(Debug)]
pub struct Reporter {
    log: Option<Mutex<File>>,
    file: Option<ProgressFile>,
    bars: MultiProgress,
    screen: Screen,
    started: Instant,
}

/// What standard error is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Screen {
    /// Bars that move.
    Bars,
    /// Plain lines.
    Lines,
    /// Nothing is wanted there.
    Nothing,
}

impl Screen {
    fn find() -> Screen {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        match std::io::stderr().is_terminal() && !dumb {
            _ if is_quiet() => Screen::Nothing,
            true => Screen::Bars,
            false => Screen::Lines,
        }
    }
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
    /// A reporter that keeps a log file, at the end of what is in it, and beside it
    /// `progress.json`, which tells whether the process takes games of workers.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn with_log(path: &Path, takes_games: bool) -> Result<Reporter, RunDirError> {
        let log = File::options().create(true).append(true).open(path);
        let log = log.map_err(io_error("open", path))?;
        let file = path.parent().map(|folder| ProgressFile::begin(folder, takes_games));
        Ok(Reporter { log: Some(Mutex::new(log)), file, ..Reporter::new() })
    }

    /// A reporter without files.
    #[must_use]
    pub fn new() -> Reporter {
        Reporter {
            log: None,
            file: None,
            bars: MultiProgress::new(),
            screen: Screen::find(),
            started: Instant::now(),
        }
    }

    /// Says a line: it stays on the screen and goes into the log.
    pub fn say(&self, line: &str) {
        match self.screen {
            // A bar may be on the screen; a lost line is in the log.
            Screen::Bars => drop(self.bars.println(line)),
            // Whoever was listening may be gone; the log is there.
            Screen::Lines => drop(writeln!(std::io::stderr(), "{line}")),
            Screen::Nothing => {}
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
        let bar = match self.screen {
            Screen::Bars => self.bars.add(ProgressBar::new(length)),
            _ => ProgressBar::hidden().with_elapsed(Duration::ZERO),
        };
        bar.set_length(length);
        // Without colours, so that there is nothing to be said against them.
        let style = ProgressStyle::with_template(
            "{prefix:>10} [{bar:30}] {pos}/{len} ({per_sec}) {msg} (left: {eta})",
        );
        bar.set_style(style.expect("the template is valid").progress_chars("=> "));
        bar.set_prefix(name.to_string());
        if let Some(file) = &self.file {
            file.step(name, (0, length), 0.0, "");
        }
        Stage { reporter: self, name: name.to_string(), bar, last_line: Instant::now() }
    }

    /// Notes how the work ended, for others to see.
    pub fn end(&self, end: WorkEnd) {
        if let Some(file) = &self.file {
            file.end(end);
        }
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
        let length = self.bar.length().unwrap_or(position);
        if let Some(file) = &self.reporter.file {
            file.step(&self.name, (position, length), self.seconds(), detail);
        }
        if self.last_line.elapsed() < LINE_INTERVAL {
            return;
        }
        self.last_line = Instant::now();
        let line = self.line(position, length, detail);
        match self.reporter.screen {
            Screen::Lines => self.reporter.say(&line),
            // The bar tells it already, or nobody wants to be told.
            Screen::Bars | Screen::Nothing => self.reporter.note(&line),
        }
    }

    fn line(&self, position: u64, length: u64, detail: &str) -> String {
        let rate = position as f64 / self.seconds().max(1e-9);
        let left = length.saturating_sub(position) as f64 / rate;
        let left = if left.is_finite() {
            format!("about {left:.0} s left")
        } else {
            "no end in sight".into()
        };
        format!("{}: {position}/{length} ({rate:.1}/s) {detail} ({left})", self.name)
    }

    /// Goes on with the stage of that name and length, which begins if it is another.
    pub fn turn_to(&mut self, name: &str, length: u64) {
        if self.name != name || self.bar.length() != Some(length) {
            std::mem::replace(self, self.reporter.stage(name, length)).clear();
        }
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

#[cfg(test)]
mod tests {
    use super::super::progress_file::ProgressNote;
    use super::*;

    #[test]
    fn a_stage_turns_to_another_name_or_length() {
        for (name, length) in [("setups", 128), ("games", 1), ("games", 128)] {
            let folder = tempfile::tempdir().unwrap();
            let reporter = Reporter::with_log(&folder.path().join("log.txt"), false).unwrap();
            let mut stage = reporter.stage("setups", 1);
            stage.turn_to(name, length);
            stage.turn_to(name, length);
            stage.update(1, "");
            reporter.end(WorkEnd::Finished);
            let note = ProgressNote::read(folder.path()).unwrap();
            assert_eq!((note.phase.as_str(), note.done, note.total), (name, 1, length));
        }
    }
}
