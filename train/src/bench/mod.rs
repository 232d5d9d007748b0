//! `cyvasse bench`: how fast this machine does each part of the work, and how
//! much of the machine each part uses.
//!
//! Everything is measured in one process, in turns: a turn gives each part a
//! slice of time, and the result is the median over the turns. So what else the
//! machine does disturbs all parts alike, and ratios of two parts are taken
//! within a turn.

mod meters;
mod report;

use std::sync::Arc;

use cyvasse_env::Rules;

use crate::config::Config;
use crate::device;
use crate::pipeline::Reporter;
use meters::Meters;
pub use report::Report;

/// How much time is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Under 30 seconds.
    Quick,
    /// Under 90 seconds.
    Full,
}

impl Effort {
    const fn turns(self) -> u32 {
        match self {
            Effort::Quick => 3,
            Effort::Full => 9,
        }
    }
}

/// What one turn measured.
#[derive(Clone, Debug)]
struct Turn {
    /// Operations a second of matrix products on all threads.
    sgemm: f64,
    /// Evaluations a second on all threads.
    network: f64,
    search: f64,
    selfplay: SelfPlayRates,
    trainer: f64,
    perft_leaves: f64,
    perft_plays: f64,
    encodings: f64,
}

/// What self-play does in a second, over all threads.
#[derive(Clone, Copy, Debug)]
struct SelfPlayRates {
    evaluations: f64,
    simulations: f64,
    positions: f64,
    games: f64,
    /// Mean share of a batch that is filled.
    fill: f64,
}

/// Measures on this machine what a config asks for.
///
/// # Errors
/// A device that is not there, a network or a file that cannot be made.
pub fn measure(
    config: &Config,
    rules: Arc<Rules>,
    effort: Effort,
    reporter: &Reporter,
) -> anyhow::Result<Report> {
    tch::set_num_threads(1);
    let device = device::find(config.run.device)?;
    let mut meters = Meters::new(config, rules, device)?;
    let mut stage = reporter.stage("bench", u64::from(effort.turns()));
    let mut turns = Vec::new();
    for turn in 1..=effort.turns() {
        turns.push(meters.turn()?);
        stage.update(u64::from(turn), "");
    }
    let seconds = stage.seconds();
    stage.finish(&format!("measured in {seconds:.0} s"));
    Ok(Report::new(config, meters.flops(), &turns))
}
