//! The rates of a round of self-play.

use std::sync::atomic::{AtomicU64, Ordering};

use cyvasse_selfplay::play::Progress;
use serde::Serialize;

/// What self-play did in a round, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct PlayReport {
    /// Seconds that it took.
    pub(super) seconds: f64,
    /// Positions played a second.
    pub(super) positions_per_s: f64,
    /// Games finished a second.
    pub(super) games_per_s: f64,
    /// Simulations a second.
    pub(super) simulations_per_s: f64,
    /// Evaluations by the network a second, remembered ones not among them.
    pub(super) evaluations_per_s: f64,
    /// Share of the evaluations that were remembered.
    pub(super) remembered: f64,
    /// Mean length of a batch as a share of the longest.
    pub(super) batch_fill: f64,
    /// Mean plies that a simulation walked down from its root.
    pub(super) depth: f64,
}

impl PlayReport {
    /// The report on some seconds of self-play in batches of up to `batch`. What
    /// there was nothing of counts as 0.
    pub(super) fn new(progress: &Progress, batch: u32, seconds: f64) -> PlayReport {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
        let per_s = |count: f64| count / seconds.max(1e-9);
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let (evaluations, remembered) = (count(&progress.evaluations), count(&progress.remembered));
        let simulations = count(&progress.simulations);
        PlayReport {
            seconds,
            positions_per_s: per_s(count(&progress.plies)),
            games_per_s: per_s(count(&progress.games)),
            simulations_per_s: per_s(simulations),
            evaluations_per_s: per_s(evaluations - remembered),
            remembered: share(remembered, evaluations),
            batch_fill: share(evaluations, count(&progress.batches) * f64::from(batch)),
            depth: share(count(&progress.walked), simulations),
        }
    }
}
