//! What a run learns from: the games of its shards, as the window, what is held
//! out and what was played before.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::bail;
use cyvasse_env::Rules;
use cyvasse_selfplay::GameRecord;
use cyvasse_selfplay::play::Resignation;
use cyvasse_selfplay::replay::{ReplayError, Shard, ShardHeader, write_shard};

use super::train::Run;
use crate::config::Config;
use crate::learning::{Duplicates, HeldOut, Validation, Window};

/// The games of a run, as they are learned from.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) window: Window,
    pub(super) validation: Validation,
    duplicates: Duplicates,
    held_out: HeldOut,
    /// The shards so far, oldest first: their rounds and the positions to learn from.
    pub(super) shards: Vec<(u32, u64)>,
    /// The rounds whose shards have been lost.
    pub(super) lost: BTreeSet<u32>,
}

impl Data {
    /// The data of a run before its first game.
    pub(super) fn new(config: &Config, rules: &Arc<Rules>) -> Data {
        let training = &config.training;
        let held_out = HeldOut { share: training.held_out_games, seed: config.run.seed };
        let window = Window::new(training, held_out, rules.clone());
        let (validation, duplicates) = Default::default();
        Data { window, validation, duplicates, held_out, shards: Vec::new(), lost: BTreeSet::new() }
    }

    /// Positions of the run to learn from, the oldest and lost ones too.
    pub(super) fn positions(&self) -> u64 {
        self.shards.iter().map(|&(_, positions)| positions).sum()
    }
}

/// Writes the games of a round into its shard and adds them to the data; returns how
/// many of them had been played before.
pub(super) fn add(run: &mut Run<'_>, round: u32, games: &[GameRecord]) -> anyhow::Result<usize> {
    if games.is_empty() {
        return Ok(0);
    }
    let header = ShardHeader::new(&run.rules, run.config.run.seed, round);
    write_shard(run.dir.shard(round), &header, games)?;
    // Read again: what is learned from is what a resumed run would find.
    let shard = Shard::open(run.dir.shard(round), &run.rules)?;
    let (positions, duplicates) = take(run, shard)?;
    run.data.shards.push((round, positions));
    if duplicates > 0 {
        let count = games.len();
        run.reporter.say(&format!(
            "round {round}: {duplicates} of {count} games were played before, move for move"
        ));
    }
    Ok(duplicates)
}

/// Adds an open shard; returns its positions and how many of its games had been
/// played before.
fn take(run: &mut Run<'_>, shard: Shard) -> Result<(u64, usize), ReplayError> {
    let (round, lambda) = (shard.header().shard, run.config.training.value_lambda);
    let Data { window, validation, duplicates, held_out, .. } = &mut run.data;
    let played_before = duplicates.count(round, &shard);
    validation.add(round, &shard, held_out, lambda)?;
    let positions = window.add(shard);
    let oldest = window.oldest().unwrap_or(round);
    duplicates.forget_before(oldest);
    validation.forget_before(oldest);
    Ok((positions, played_before))
}

/// Adds the shards of a resumed run, from the `oldest` on that was in the window.
pub(super) fn reload(run: &mut Run<'_>, oldest: u32) -> anyhow::Result<()> {
    for (round, expected) in run.data.shards.clone() {
        let there = round >= oldest && !run.data.lost.contains(&round);
        let shard = if there { open(run, round)? } else { None };
        let Some(shard) = shard else {
            run.data.window.skip(expected);
            continue;
        };
        let ShardHeader { shard: of, run_seed, .. } = *shard.header();
        if (of, run_seed) != (round, run.config.run.seed) {
            let path = shard.path().display();
            bail!("{path} is the shard of round {of} of a run with the seed {run_seed}");
        }
        let path = shard.path().to_path_buf();
        let (positions, _) = take(run, shard)?;
        if positions != expected {
            bail!("{} has {positions} positions, not {expected}", path.display());
        }
    }
    Ok(())
}

/// Learns the threshold of resignation anew, from as many of the newest games as
/// count for it.
pub(super) fn reload_resignation(run: &mut Run<'_>) -> anyhow::Result<()> {
    let mut rounds: Vec<u32> = run.data.shards.iter().map(|&(round, _)| round).collect();
    let mut newest = Vec::new();
    let mut players = 0;
    while run.config.games.resignation.false_positives > 0.0 && players < Resignation::REMEMBERED {
        let Some(round) = rounds.pop() else { break };
        if run.data.lost.contains(&round) {
            continue;
        }
        let Some(shard) = open(run, round)? else { continue };
        let games = (0..shard.game_count()).map(|game| shard.game(game));
        let games = games.collect::<Result<Vec<GameRecord>, _>>()?;
        players += 2 * games.iter().filter(|game| run.resignation.is_played_on(game.id)).count();
        newest.push(games);
    }
    newest.iter().rev().for_each(|games| run.resignation.learn(games));
    Ok(())
}

/// Opens the shard of a round; `None` if it has been lost.
fn open(run: &mut Run<'_>, round: u32) -> anyhow::Result<Option<Shard>> {
    match Shard::open(run.dir.shard(round), &run.rules) {
        Ok(shard) => Ok(Some(shard)),
        Err(error) if error.is_damage() => lose(run, &error).map(|()| None),
        Err(error) => Err(error.into()),
    }
}

/// Goes on without a shard that has been damaged or is gone.
pub(super) fn lose(run: &mut Run<'_>, error: &ReplayError) -> anyhow::Result<()> {
    let path = error.path();
    run.data.window.forget(path);
    let rounds = run.data.shards.iter().map(|&(round, _)| round);
    run.data.lost.extend(rounds.filter(|&round| run.dir.shard(round) == path));
    let place = if path.exists() {
        format!("is {}", run.dir.set_aside(path)?)
    } else {
        "is gone".to_string()
    };
    run.reporter.say(&format!("{error}; the shard {place}, and training goes on without it"));
    Ok(())
}
