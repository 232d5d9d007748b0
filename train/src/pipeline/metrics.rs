//! The numbers of a run: a line of JSON for each round, and the same for
//! TensorBoard.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use cyvasse_selfplay::GameRecord;
use serde_json::{Value, json};

use super::files::io_error;
use super::gate::GateReport;
use super::learning::LearningReport;
use super::play_report::PlayReport;
use super::run_dir::RunDirError;
use super::setups::SetupsReport;
use super::tensorboard::EventFile;
use super::train::Run;
use crate::machine::{self, Memory};
use crate::replay::GameStatistics;

const METRICS: &str = "metrics.jsonl";

/// What is kept for the numbers of the round.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The rates of the newest self-play.
    pub(super) play: Option<PlayReport>,
    /// Begun with the first round of this process.
    events: Option<EventFile>,
}

/// Adds the numbers of the round that lies behind. They come before the state: a
/// resumed run drops the lines of rounds that did not happen.
pub(super) fn write(
    run: &mut Run<'_>,
    games: &[GameRecord],
    learned: &LearningReport,
    setups: &SetupsReport,
    gate: Option<&GateReport>,
    time: Duration,
) -> anyhow::Result<()> {
    let threshold = run.resignation.threshold();
    let played_on = run.resignation.rates(threshold);
    let line = json!({
        "round": run.round,
        "step": run.trainer.optimizer.steps(),
        "games": games.len(),
        "positions": games.iter().map(|game| game.plies.len()).sum::<usize>(),
        "window": run.data.window.len(),
        "reuse": reuse(run),
        "resigned": games.iter().filter(|game| game.resigned).count(),
        "resign_below": threshold.get(),
        "played_on_resigned": played_on.resigned,
        "played_on_wrong": played_on.wrong,
        "policy_loss": learned.losses.map(|losses| losses.policy),
        "value_loss": learned.losses.map(|losses| losses.value),
        "held_out": learned.to_json(),
        "duplicates": learned.duplicates,
        "seconds": time.as_secs_f64(),
        "setups": setups.to_json(),
        "gate": gate.map(GateReport::to_json),
        "play": run.numbers.play.take(),
        "results": GameStatistics::of(games).summary(),
        "machine": machine(run),
    });
    let path = run.dir.file(METRICS);
    let file = File::options().create(true).append(true).open(&path);
    let mut file = file.map_err(io_error("open", &path))?;
    // In one piece, for whoever reads while the run goes on.
    file.write_all(format!("{line}\n").as_bytes()).map_err(io_error("write", &path))?;
    Ok(add_event(run, &line)?)
}

fn add_event(run: &mut Run<'_>, line: &Value) -> Result<(), RunDirError> {
    let round = u64::from(run.round);
    let events = match &mut run.numbers.events {
        Some(events) => events,
        none => none.insert(EventFile::create(&run.dir.file("tensorboard"), round)?),
    };
    events.add(round, line)
}

/// How often a position has been trained on so far, on average.
fn reuse(run: &Run<'_>) -> Option<f64> {
    let positions = run.data.positions();
    let samples = run.trainer.optimizer.steps() as f64 * f64::from(run.config.training.batch_size);
    (positions > 0).then(|| samples / positions as f64)
}

fn machine(run: &Run<'_>) -> Value {
    let memory = Memory::now();
    json!({
        "memory_bytes": memory.map(|memory| memory.resident),
        "peak_memory_bytes": memory.map(|memory| memory.peak),
        "disk_used_bytes": machine::disk_used(run.dir.path()),
        "disk_free_bytes": machine::disk_free(run.dir.path()).ok(),
    })
}

/// The lines of a run's metrics, oldest first; the run may be going on. Of a line
/// that is not whole nothing is told.
///
/// # Errors
/// A system that refuses.
pub fn read(run: &Path) -> Result<Vec<Value>, RunDirError> {
    let path = run.join(METRICS);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read(&path).map_err(io_error("read", &path))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
