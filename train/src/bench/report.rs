//! What `cyvasse bench` tells.

use std::fmt;

use serde::Serialize;

use super::Turn;
use crate::config::Config;
use crate::machine::Memory;

/// The result of `cyvasse bench`: its fields are the keys of the JSON object,
/// which stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Self-play workers, each on a thread of its own. All rates but those of
    /// the search, the trainer, perft and encoding are over this many threads.
    pub threads: u32,
    /// Positions that a worker evaluates at once.
    pub batch: u32,
    /// The play network.
    pub network: Network,
    /// Billions of floating-point operations a second of matrix products.
    pub sgemm_gflops: f64,
    /// Positions a second that the network alone evaluates.
    pub network_evals_per_s: f64,
    /// The network's operations a second (two for each multiplication of a
    /// direct convolution) relative to those of matrix products.
    pub network_of_sgemm: f64,
    /// Simulations a second of the search on one thread, with an evaluator that
    /// knows nothing, 800 to a position.
    pub search_sims_per_s: f64,
    /// Positions a second that self-play has the network evaluate.
    pub selfplay_evals_per_s: f64,
    /// Simulations a second of self-play.
    pub selfplay_sims_per_s: f64,
    /// Plies a second of self-play.
    pub selfplay_positions_per_s: f64,
    /// Games an hour of self-play.
    pub selfplay_games_per_hour: f64,
    /// Self-play's evaluations relative to those of the network alone.
    pub selfplay_of_network: f64,
    /// Mean share of a batch that self-play fills.
    pub selfplay_batch_fill: f64,
    /// Positions a second that the trainer learns from, on its threads.
    pub trainer_samples_per_s: f64,
    /// The trainer's operations a second, three evaluations to a position,
    /// relative to those of matrix products on as many threads.
    pub trainer_of_sgemm: f64,
    /// Leaves a second that perft counts on one thread.
    pub perft_leaf_nodes_per_s: f64,
    /// Leaves a second that perft plays on one thread.
    pub perft_play_nodes_per_s: f64,
    /// Nanoseconds to encode a position.
    pub encode_ns: f64,
    /// The most memory that the process held, in MB; absent where the system
    /// does not tell.
    pub peak_rss_mb: Option<f64>,
}

/// The size of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Network {
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the tower.
    pub channels: usize,
}

impl Report {
    /// The medians of the turns. `flops` are the operations of one evaluation.
    pub(super) fn new(config: &Config, flops: f64, turns: &[Turn]) -> Report {
        let over = |number: &dyn Fn(&Turn) -> f64| median(turns.iter().map(number).collect());
        let threads = config.selfplay.workers;
        let batch = config.selfplay.batch();
        let share = f64::from(config.training.threads) / f64::from(threads);
        Report {
            threads,
            batch,
            network: Network { blocks: config.network.blocks, channels: config.network.channels },
            sgemm_gflops: over(&|turn| turn.sgemm / 1e9),
            network_evals_per_s: over(&|turn| turn.network),
            network_of_sgemm: over(&|turn| turn.network * flops / turn.sgemm),
            search_sims_per_s: over(&|turn| turn.search),
            selfplay_evals_per_s: over(&|turn| turn.selfplay.evaluations),
            selfplay_sims_per_s: over(&|turn| turn.selfplay.simulations),
            selfplay_positions_per_s: over(&|turn| turn.selfplay.positions),
            selfplay_games_per_hour: over(&|turn| turn.selfplay.games * 3600.0),
            selfplay_of_network: over(&|turn| turn.selfplay.evaluations / turn.network),
            selfplay_batch_fill: over(&|turn| turn.selfplay.fill),
            trainer_samples_per_s: over(&|turn| turn.trainer),
            trainer_of_sgemm: over(&|turn| 3.0 * turn.trainer * flops / (turn.sgemm * share)),
            perft_leaf_nodes_per_s: over(&|turn| turn.perft_leaves),
            perft_play_nodes_per_s: over(&|turn| turn.perft_plays),
            encode_ns: over(&|turn| 1e9 / turn.encodings),
            peak_rss_mb: Memory::now().map(|memory| memory.peak as f64 / 1e6),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Network { blocks, channels } = self.network;
        let threads = self.threads;
        let mut row =
            |name: &str, value: String, note: String| writeln!(f, "{name:<22}{value:>14}  {note}");
        row("matrix products", rate(self.sgemm_gflops), format!("GFLOP/s, {threads} threads"))?;
        row(
            "network",
            rate(self.network_evals_per_s),
            format!(
                "evaluations/s ({blocks}x{channels}, batches of {}), {:.2} of matrix products",
                self.batch, self.network_of_sgemm
            ),
        )?;
        row(
            "search",
            rate(self.search_sims_per_s),
            "simulations/s without a network, 1 thread".into(),
        )?;
        row(
            "self-play",
            rate(self.selfplay_evals_per_s),
            format!(
                "evaluations/s, {:.2} of the network alone, batches {:.0}% full",
                self.selfplay_of_network,
                100.0 * self.selfplay_batch_fill
            ),
        )?;
        row("", rate(self.selfplay_sims_per_s), "simulations/s".into())?;
        row("", rate(self.selfplay_positions_per_s), "positions/s".into())?;
        row("", rate(self.selfplay_games_per_hour), "games/hour".into())?;
        row(
            "trainer",
            rate(self.trainer_samples_per_s),
            format!("samples/s, {:.2} of matrix products", self.trainer_of_sgemm),
        )?;
        row("perft", rate(self.perft_leaf_nodes_per_s), "leaves/s counted, 1 thread".into())?;
        row("", rate(self.perft_play_nodes_per_s), "leaves/s played".into())?;
        row("encoding", rate(self.encode_ns), "ns a position".into())?;
        let memory = self.peak_rss_mb.map_or("unknown".into(), rate);
        row("memory", memory, "MB at most".into())
    }
}

/// A number with three digits or more, and commas between thousands.
fn rate(number: f64) -> String {
    if number < 1000.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The median; the lower one of two.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[(numbers.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(rate(1_234_567.4), "1,234,567");
        assert_eq!(rate(1000.0), "1,000");
        assert_eq!(rate(45.67), "45.7");
    }

    #[test]
    fn medians_are_of_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.0);
    }
}
