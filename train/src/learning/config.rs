//! The section `[training]` of a training config; `configs/quick.toml` explains it.

use cyvasse_models::TrainingPrecision;
use cyvasse_models::optim::OptimizerConfig;
use serde::{Deserialize, Serialize};

use super::window::WindowSize;
use crate::config::Bound;

/// How the network learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Positions of a step.
    pub batch_size: u32,
    /// How often a new position is trained on, on average.
    pub samples_per_position: f64,
    /// Positions of the newest games that are trained on, at first.
    pub window_positions: u32,
    /// How the window grows (see [`WindowSize`]).
    pub window_growth: f64,
    /// How its growth goes on.
    pub window_exponent: f64,
    /// Megabytes of shards that stay in memory between rounds.
    pub window_memory_mb: u32,
    /// Share of the draws that go to positions by how much their policy target
    /// surprised the network; the rest goes to all alike. Positions with little
    /// surprise may be left out (see [`Window`](super::Window)).
    pub policy_surprise: f64,
    /// Whether a position is mirrored left to right by lot.
    pub mirror: bool,
    /// Share of games that are never trained on, for validation.
    pub held_out_games: f64,
    /// libtorch's threads within an operation while training.
    pub threads: u32,
    /// The numbers that a step multiplies.
    pub precision: TrainingPrecision,
    /// The highest learning rate.
    pub learning_rate: f64,
    /// Steps over which the learning rate rises from 0.
    pub warmup_steps: u32,
    /// What is left of the learning rate in the last round; it falls from round
    /// to round along half a cosine.
    pub final_rate_share: f64,
    /// Weight of the value loss beside the policy loss.
    pub value_weight: f64,
    /// Share of what comes after a ply, in the end the game's result, in its value
    /// target; its own search has the rest.
    pub value_lambda: f32,
    /// What the averaged network, which plays, keeps of itself at a step.
    pub average_decay: f64,
    /// The longest gradient that is not shortened.
    pub gradient_norm: f64,
    /// The rule by which weights change.
    pub optimizer: OptimizerConfig,
}

impl TrainingConfig {
    /// How far back the window of positions reaches.
    #[must_use]
    pub fn window_size(&self) -> WindowSize {
        WindowSize {
            least: self.window_positions,
            growth: self.window_growth,
            exponent: self.window_exponent,
        }
    }

    /// What the numbers must hold to.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        vec![
            Bound::count("training.batch_size", self.batch_size, 2, 65_536),
            Bound::real("training.samples_per_position", self.samples_per_position, 1000.0),
            Bound::count("training.window_positions", self.window_positions, 1, u32::MAX),
            Bound::share("training.window_growth", self.window_growth),
            Bound::real("training.window_exponent", self.window_exponent, 1.0),
            Bound::count("training.window_memory_mb", self.window_memory_mb, 0, 1_000_000),
            Bound::share("training.policy_surprise", self.policy_surprise),
            Bound::new(
                (0.0..=0.5).contains(&self.held_out_games),
                "training.held_out_games",
                self.held_out_games,
                "a number from 0 to 0.5",
            ),
            Bound::count("training.threads", self.threads, 1, 256),
            Bound::real("training.learning_rate", self.learning_rate, 1e6),
            Bound::share("training.final_rate_share", self.final_rate_share),
            Bound::real("training.value_weight", self.value_weight, 1e6),
            Bound::share("training.value_lambda", f64::from(self.value_lambda)),
            Bound::decay("training.average_decay", self.average_decay),
            Bound::real("training.gradient_norm", self.gradient_norm, 1e12),
        ]
    }
}
