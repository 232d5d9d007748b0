//! The numbers of a run, a line of JSON for each round.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use cyvasse_selfplay::GameRecord;
use serde_json::json;

use super::gate::GateReport;
use super::run_dir::io_error;
use super::setups::SetupsReport;
use super::train::Run;
use crate::learning::Losses;

/// Adds the line of the round that lies behind. It comes before the state: a
/// resumed run drops the lines of rounds that did not happen.
pub(super) fn write(
    run: &Run<'_>,
    games: &[GameRecord],
    losses: Option<Losses>,
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
        "window": run.window.len(),
        "resigned": games.iter().filter(|game| game.resigned).count(),
        "resign_below": threshold.get(),
        "played_on_resigned": played_on.resigned,
        "played_on_wrong": played_on.wrong,
        "policy_loss": losses.map(|losses| losses.policy),
        "value_loss": losses.map(|losses| losses.value),
        "seconds": time.as_secs_f64(),
        "setups": setups.to_json(),
        "gate": gate.map(GateReport::to_json),
    });
    let path = run.dir.file("metrics.jsonl");
    let file = File::options().create(true).append(true).open(&path);
    let mut file = file.map_err(io_error("open", &path))?;
    // In one piece, for whoever reads while the run goes on.
    file.write_all(format!("{line}\n").as_bytes()).map_err(io_error("write", &path))?;
    Ok(())
}
