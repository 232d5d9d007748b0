//! The network that is being trained, and its steps.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cyvasse_env::Rules;
use cyvasse_models::optim::{Optimizer, OptimizerError};
use cyvasse_models::{ConfigError, Net, loss};
use cyvasse_selfplay::replay::ReplayError;
use cyvasse_selfplay::{Purpose, derive};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind};
use thiserror::Error;

use super::batch::Batch;
use super::config::TrainingConfig;
use super::sample::Sample;
use super::schedule::half_cosine;
use super::window::Window;
use crate::config::Config;

/// Positions that are looked up at once, for as many steps as they are enough for: some
/// hundred megabytes.
const LOOKED_UP: usize = 1 << 18;

/// The largest loss, in nats a position and for each of its parts, of a network that
/// still learns; an untrained one has less than 5.
const LARGEST_LOSS: f64 = 1000.0;

/// A network in training.
#[derive(Debug)]
pub struct Trainer {
    /// The network.
    pub net: Net,
    /// Its moving average, which plays and is saved to play with.
    pub average: Net,
    /// Its optimiser.
    pub optimizer: Optimizer,
    /// What the last step could not learn from.
    pub failed: Option<Batch>,
    config: TrainingConfig,
    rules: Arc<Rules>,
}

/// Mean losses of one or more steps, in nats a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross-entropy of the policy with the search's.
    pub policy: f64,
    /// Cross-entropy of win, draw and loss with their targets.
    pub value: f64,
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy {:.3}, value {:.3}", self.policy, self.value)
    }
}

/// What a round of training is to be.
#[derive(Clone, Copy, Debug)]
pub struct TrainingRound<'a> {
    /// Optimiser steps.
    pub steps: u64,
    /// Share of the run's rounds that lie behind, 0 in the first to 1 in the
    /// last; the learning rate falls with it.
    pub run_share: f64,
    /// Where the choice of samples comes from.
    pub seed: u64,
    /// Set by someone else to end the round early.
    pub stop: &'a AtomicBool,
}

/// Why a trainer was not made.
#[derive(Debug, Error)]
pub enum UntrainedError {
    /// A network outside its bounds.
    #[error(transparent)]
    Net(#[from] ConfigError),
    /// An optimiser outside its bounds.
    #[error(transparent)]
    Optimizer(#[from] OptimizerError),
}

/// Why a round of training ended early.
#[derive(Debug, Error)]
pub enum TrainingError {
    /// A step that must not be taken, on [`Trainer::failed`].
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// A shard that cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// A training step that must not be taken.
#[derive(Clone, Copy, Debug, Error)]
#[error(
    "training step {step}: the {what} is {value}, so the run ends; its saved checkpoints are \
     good, and a new run with a lower `training.learning_rate` may get further"
)]
pub struct Unsound {
    /// Steps taken before.
    pub step: u64,
    /// What is not finite, or has exploded.
    pub what: &'static str,
    /// Its value.
    pub value: f64,
}

impl Trainer {
    /// The trainer that a run begins with: first weights from the run's seed.
    ///
    /// # Errors
    /// Numbers outside their bounds.
    pub fn untrained(
        config: &Config,
        rules: &Arc<Rules>,
        device: Device,
    ) -> Result<Trainer, UntrainedError> {
        let seed = derive(config.run.seed, Purpose::Weights, &[]);
        let net = Net::new(&config.net(), seed, device)?;
        let average = net.copy();
        let optimizer = Optimizer::new(&config.training.optimizer, net.trainable_variables())?;
        Ok(Trainer::new(net, average, optimizer, config.training.clone(), rules.clone()))
    }

    /// A trainer that goes on from a network, its average and an optimiser.
    #[must_use]
    pub fn new(
        net: Net,
        average: Net,
        optimizer: Optimizer,
        config: TrainingConfig,
        rules: Arc<Rules>,
    ) -> Trainer {
        Trainer { net, average, optimizer, failed: None, config, rules }
    }

    /// Takes the steps of a round on samples drawn from the window, each
    /// mirrored or not by lot if the config says so, and tells of each step as it is taken. Returns
    /// the mean losses.
    ///
    /// # Errors
    /// Losses or gradients that are not finite or have exploded, where the step is
    /// not taken; a shard that cannot be read.
    ///
    /// # Panics
    /// When the window is empty.
    pub fn train(
        &mut self,
        window: &mut Window,
        round: TrainingRound<'_>,
        mut after_step: impl FnMut(Losses),
    ) -> Result<Losses, TrainingError> {
        let mut rng = ChaCha8Rng::seed_from_u64(round.seed);
        let TrainingConfig { mirror, .. } = self.config;
        let batch_size = self.config.batch_size as usize;
        let mut sums = Losses::default();
        let mut taken = 0;
        while taken < round.steps && !round.stop.load(Ordering::Relaxed) {
            let steps = ((LOOKED_UP / batch_size).max(1) as u64).min(round.steps - taken);
            let drawn = (0..steps as usize * batch_size)
                .map(|_| (rng.random_range(0..window.len()), mirror && rng.random::<bool>()));
            let (numbers, mirrored): (Vec<usize>, Vec<bool>) = drawn.unzip();
            let samples = window.look_up(&numbers)?;
            let samples: Vec<(&Sample, bool)> = samples.iter().zip(mirrored).collect();
            for samples in samples.chunks(batch_size) {
                if round.stop.load(Ordering::Relaxed) {
                    break;
                }
                let batch = Batch::new(samples, &self.rules, self.net.device());
                let result = self.step(&batch, round.run_share);
                self.failed = result.is_err().then_some(batch);
                let losses = result?;
                after_step(losses);
                sums.policy += losses.policy;
                sums.value += losses.value;
                taken += 1;
            }
        }
        let count = taken.max(1) as f64;
        Ok(Losses { policy: sums.policy / count, value: sums.value / count })
    }

    /// Takes one step on a batch.
    ///
    /// # Errors
    /// Losses or gradients that are not finite or have exploded.
    pub fn step(&mut self, batch: &Batch, run_share: f64) -> Result<Losses, Unsound> {
        let outputs = self.net.forward_train_in(&batch.planes, self.config.precision);
        let policy =
            loss::policy_loss(&outputs.policy, &batch.legal, &batch.policy).mean(Kind::Float);
        let value = loss::value_loss(&outputs.value, &batch.wdl).mean(Kind::Float);
        let total = &policy + &value * self.config.value_weight;
        let most = LARGEST_LOSS * (1.0 + self.config.value_weight);
        self.sound("loss", total.double_value(&[]), most)?;
        self.optimizer.zero_grad();
        total.backward();
        let norm = self.optimizer.clip_grad_norm(self.config.gradient_norm);
        self.sound("gradient's norm", norm, f64::MAX)?;
        self.optimizer.step(self.learning_rate(run_share));
        self.average.move_towards(&self.net, 1.0 - self.average_decay());
        Ok(Losses { policy: policy.double_value(&[]), value: value.double_value(&[]) })
    }

    fn sound(&self, what: &'static str, value: f64, most: f64) -> Result<(), Unsound> {
        // Not so where the value is no number.
        if value <= most {
            return Ok(());
        }
        Err(Unsound { step: self.optimizer.steps(), what, value })
    }

    /// What the average keeps of itself: less in the first steps, of whose
    /// beginnings it would else have too much for too long.
    fn average_decay(&self) -> f64 {
        let steps = self.optimizer.steps() as f64;
        self.config.average_decay.min((1.0 + steps) / (10.0 + steps))
    }

    /// The learning rate of the next step: it rises linearly over the first
    /// steps and falls along half a cosine over the run.
    fn learning_rate(&self, run_share: f64) -> f64 {
        let steps = self.optimizer.steps() + 1;
        let warm = (steps as f64 / f64::from(self.config.warmup_steps.max(1))).min(1.0);
        self.config.learning_rate * warm * half_cosine(self.config.final_rate_share, run_share)
    }
}
