//! Positions of played games, by which the ranges of int8 are chosen.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use cyvasse_env::Position;
use cyvasse_selfplay::replay::Shard;
use tch::Tensor;

use super::agent::Agent;
use super::cases::encoded;

/// Positions that ranges are chosen by.
pub(super) const POSITIONS: usize = 512;

/// Planes f32 `[B, 8, 8, 32]` of positions spread evenly over the games of a shard:
/// of the file, or of the newest in a run directory; without either, of the run that
/// the agent is of.
///
/// # Errors
/// No shard, one that is damaged or of other rules.
pub(super) fn planes(source: Option<&Path>, agent: &Agent) -> anyhow::Result<Tensor> {
    let Some(source) = source.or(agent.run.as_deref()) else {
        bail!(
            "int8 needs positions of games to choose its ranges by: expected `--calibrate` with a run directory or a shard, for {} lies in no run",
            agent.file.display()
        );
    };
    let path = if source.is_dir() { newest_shard(source)? } else { source.into() };
    let shard = Shard::open(&path, &agent.rules)?;
    Ok(encoded(&spread(&shard)?, &agent.rules))
}

fn newest_shard(run: &Path) -> anyhow::Result<PathBuf> {
    let folder = run.join("shards");
    let entries =
        fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // Their numbers have leading zeros, so that the greatest name is the newest.
    let newest = files.filter(|file| file.extension().is_some_and(|end| end == "h5")).max();
    newest.with_context(|| format!("{} has no shard: its games are gone", folder.display()))
}

fn spread(shard: &Shard) -> anyhow::Result<Vec<(Position, usize)>> {
    let plies = shard.ply_count();
    let count = plies.min(POSITIONS);
    let sample = |number: usize| {
        let (game, ply) = shard.locate(number * plies / count);
        let sample = shard.sample(game, ply)?;
        Ok((sample.position, sample.occurrences))
    };
    (0..count).map(sample).collect()
}
