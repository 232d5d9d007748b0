//! Where a checkpoint comes from and how strong it is, as far as is known.

use std::fs;

use anyhow::Context;
use serde_json::{Value, json};

use super::Agent;
use super::description::sha256;
use crate::evaluation::LadderReport;
use crate::pipeline::{LADDER_FILE, checkpoints_of};

/// The checkpoint, and the run that it is of.
pub(super) fn training(agent: &Agent) -> anyhow::Result<Value> {
    let bytes =
        fs::read(&agent.file).with_context(|| format!("cannot read {}", agent.file.display()))?;
    let run = agent.run.as_ref().map(|run| {
        let text = |name: &str| fs::read_to_string(run.join(name)).ok();
        json!({
            "name": run.file_name().map(|name| name.to_string_lossy()),
            "round": agent.round(),
            "version": text("version.txt").map(|text| text.trim().to_string()),
            "config": text("config.toml"),
            "last_round": agent.round().and_then(|round| metrics(&text("metrics.jsonl")?, round)),
        })
    });
    Ok(json!({
        "step": agent.header.step,
        "producer": format!("cyvasse {}", agent.header.producer),
        "checkpoint_sha256": sha256(&bytes),
        "averaged": "the weights are those of the checkpoint, which holds what plays",
        "run": run,
    }))
}

/// The numbers of a round.
fn metrics(text: &str, round: u32) -> Option<Value> {
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find(|line| line["round"] == round)
}

/// Ratings and matches, `null` where there are none.
pub(super) fn strength(agent: &Agent) -> anyhow::Result<Value> {
    let Some(run) = &agent.run else { return Ok(Value::Null) };
    let ladder = LadderReport::read(&run.join(LADDER_FILE))?.map(|report| {
        let own = report.players.iter().find(|player| player.round == agent.round());
        json!({"own": own, "players": report.players})
    });
    Ok(json!({"ladder": ladder, "end_of_run": end_of_run(agent)}))
}

/// What the run's log tells of the matches at its end, in its words; none for an
/// earlier checkpoint.
fn end_of_run(agent: &Agent) -> Vec<String> {
    let Some(run) = &agent.run else { return Vec::new() };
    let newest = checkpoints_of(run).ok().and_then(|rounds| rounds.last().copied());
    if newest != agent.round() {
        return Vec::new();
    }
    let log = fs::read_to_string(run.join("log.txt")).unwrap_or_default();
    let told = |line: &str| {
        let line = line.split_once("] ")?.1;
        let of_match = line.starts_with("against ") || line.starts_with("learned against ");
        (of_match && line.contains("games")).then(|| line.to_string())
    };
    log.lines().filter_map(told).collect()
}
