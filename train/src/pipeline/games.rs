//! The self-play part of a round, with its progress on the screen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cyvasse_env::Rules;
use cyvasse_models::Net;
use cyvasse_selfplay::play::{Progress, Round, SelfPlay};
use cyvasse_selfplay::{GameRecord, MoverValue, Remembering, SetupPool};
use rayon::ThreadPool;

use super::inbox;
use super::play_report::PlayReport;
use super::progress::{Reporter, SetOnDrop, Stage};
use super::train::Run;
use crate::config::Config;

/// What games are played with.
pub(super) struct Table<'a> {
    pub(super) config: &'a Config,
    pub(super) rules: &'a Arc<Rules>,
    pub(super) reporter: &'a Reporter,
    pub(super) pool: &'a ThreadPool,
    pub(super) stop: &'a AtomicBool,
    pub(super) net: &'a Net,
    /// Optimiser steps that made the network.
    pub(super) step: u64,
    pub(super) resign_below: MoverValue,
    /// What is played, for the log.
    pub(super) name: String,
}

/// The games that a round learns from: played here, or by workers.
pub(super) fn of_round(
    run: &mut Run<'_>,
    round: u32,
    setups: &SetupPool,
) -> anyhow::Result<Vec<GameRecord>> {
    if run.inbox.is_some() {
        return inbox::collect(run, round);
    }
    let Run {
        config,
        rules,
        reporter,
        pool,
        stop,
        trainer,
        champion,
        selfplay,
        resignation,
        numbers,
        ..
    } = run;
    let (net, step) = match champion {
        Some(champion) => (&champion.net, champion.step),
        None => (&trainer.average, trainer.optimizer.steps()),
    };
    let table = Table {
        config,
        rules,
        reporter,
        pool,
        stop,
        net,
        step,
        resign_below: resignation.threshold(),
        name: format!("round {round}"),
    };
    let (games, report) = play(table, selfplay, setups)?;
    numbers.play = Some(report);
    Ok(games)
}

/// Plays so many plies in each slot as the config says, and returns the games that
/// ended and the rates. New games take their setups from the pool.
pub(super) fn play(
    table: Table<'_>,
    selfplay: &mut SelfPlay,
    setups: &SetupPool,
) -> anyhow::Result<(Vec<GameRecord>, PlayReport)> {
    let Table { config, rules, reporter, pool, stop, net, step, resign_below, name } = table;
    let settings = &config.selfplay;
    let progress = Progress::default();
    let remembered = config.games.remembered_evaluations;
    let mut evaluators: Vec<_> = settings
        .evaluators(net, rules)
        .into_iter()
        .map(|evaluator| Remembering::new(evaluator, remembered, &progress.remembered))
        .collect();
    let plan = Round {
        plies_per_slot: settings.plies_per_slot,
        network_step: step as u32,
        setups,
        resign_below,
        progress: &progress,
        stop,
    };
    let mut stage = reporter.stage("self-play", settings.plies());
    let done = AtomicBool::new(false);
    let games = thread::scope(|scope| {
        scope.spawn(|| watch(&mut stage, &progress, &done));
        // Set however self-play ends: the scope waits for the watcher.
        let _done = SetOnDrop(&done);
        pool.install(|| selfplay.play(&mut evaluators, plan))
    })?;
    let seconds = stage.seconds();
    let plies = progress.plies.load(Ordering::Relaxed);
    let report = PlayReport::new(&progress, settings.batch(), seconds);
    if stop.load(Ordering::Relaxed) {
        stage.clear();
        return Ok((games, report));
    }
    stage.finish(&format!(
        "{name}: {} games, {plies} positions ({:.0}/s), {} in {seconds:.0} s",
        games.len(),
        plies as f64 / seconds.max(1e-9),
        rates(&progress, seconds)
    ));
    Ok((games, report))
}

/// Shows the progress until the round is done.
fn watch(stage: &mut Stage<'_>, progress: &Progress, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(100));
        let detail = rates(progress, stage.seconds());
        stage.update(progress.plies.load(Ordering::Relaxed), &detail);
    }
}

fn rates(progress: &Progress, seconds: f64) -> String {
    let PlayReport { games_per_s, evaluations_per_s, .. } = PlayReport::new(progress, 1, seconds);
    format!("{games_per_s:.1} games/s, {evaluations_per_s:.0} evaluations/s")
}
