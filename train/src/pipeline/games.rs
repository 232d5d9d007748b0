//! The self-play part of a round, with its progress on the screen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cyvasse_selfplay::play::{Progress, Round};
use cyvasse_selfplay::{GameRecord, Remembering, SetupPool};

use super::play_report::PlayReport;
use super::progress::{SetOnDrop, Stage};
use super::train::Run;

/// Plays a round of self-play with the network as it is, and returns the
/// games that ended in it. New games take their setups from the pool.
pub(super) fn play(
    run: &mut Run<'_>,
    round: u32,
    setups: &SetupPool,
) -> anyhow::Result<Vec<GameRecord>> {
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
        resign_below: resignation.threshold(),
        progress: &progress,
        stop,
    };
    let length = u64::from(settings.slots) * u64::from(settings.plies_per_slot);
    let mut stage = reporter.stage("self-play", length);
    let done = AtomicBool::new(false);
    let games = thread::scope(|scope| {
        scope.spawn(|| watch(&mut stage, &progress, &done));
        // Set however self-play ends: the scope waits for the watcher.
        let _done = SetOnDrop(&done);
        pool.install(|| selfplay.play(&mut evaluators, plan))
    })?;
    let seconds = stage.seconds();
    let plies = progress.plies.load(Ordering::Relaxed);
    stage.finish(&format!(
        "round {round}: {} games, {plies} positions ({:.0}/s), {} in {seconds:.0} s",
        games.len(),
        plies as f64 / seconds.max(1e-9),
        rates(&progress, seconds)
    ));
    numbers.play = Some(PlayReport::new(&progress, settings.batch(), seconds));
    Ok(games)
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
