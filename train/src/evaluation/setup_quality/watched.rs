//! Games with their progress on the screen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cyvasse_env::Outcome;

use super::report::Interval;
use crate::evaluation::playout::{Pairing, Pilots, score_of};
use crate::pipeline::{Reporter, SetOnDrop};

/// Someone asked for an end before all was played and looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before all games were over")]
pub struct Stopped;

/// Plays games and returns their outcomes, with their progress and then their score
/// on the screen.
///
/// # Errors
/// A pilot that fails; [`Stopped`] where games were left out.
pub(crate) fn watched(
    reporter: &Reporter,
    stage: &str,
    pilots: &mut Pilots<'_>,
    pairings: &[Pairing],
    what: &str,
) -> anyhow::Result<Vec<Option<Outcome>>> {
    let mut stage = reporter.stage(stage, pairings.len() as u64);
    let done = pilots.done;
    let before = done.load(Ordering::Relaxed);
    let over = AtomicBool::new(false);
    let outcomes = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                stage.update(done.load(Ordering::Relaxed) - before, what);
            }
        });
        let _over = SetOnDrop(&over);
        pilots.play(pairings)
    })?;
    if outcomes.iter().any(Option::is_none) {
        stage.clear();
        return Err(Stopped.into());
    }
    let seconds = stage.seconds();
    let score = Interval::from(score_of(pairings, &outcomes));
    stage.finish(&format!("{what}: {score}, {seconds:.0} s"));
    Ok(outcomes)
}
