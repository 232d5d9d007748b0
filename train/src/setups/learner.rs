//! The setups of a run: what each round's games are supplied with, and how the
//! setup network learns from them.

use std::sync::Arc;

use cyvasse_env::{Rules, Setup, SetupSpace, Side};
use cyvasse_models::{SampledSetup, SetupNet, SetupNetError};
use cyvasse_selfplay::{
    EvaluatorError, Purpose, SetupPool, SetupPoolError, SetupSource, Supply, derive,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use super::config::LearnedSetups;
use super::critic::Critic;
use super::targets::{Played, lessons};
use super::trainer::{SetupLosses, SetupRound, SetupTrainer, SetupTrainingError};
use super::watch::Watcher;

/// Supplies games with setups and learns from them, round after round.
#[derive(Debug)]
pub struct SetupLearner {
    /// The networks and their optimiser.
    pub trainer: SetupTrainer,
    space: Arc<SetupSpace>,
    config: LearnedSetups,
    fixed: Vec<Setup>,
    /// Seed of the run.
    seed: u64,
    /// The round's samples of the current network, for white and for black.
    current: [Vec<Setup>; 2],
    /// The joint entropies that these samples tell of, in nats.
    entropies: [f64; 2],
}

/// A round of setups that failed.
#[derive(Debug, Error)]
pub enum LearnerError {
    /// The setup network's answer cannot be used.
    #[error(transparent)]
    Net(#[from] SetupNetError),
    /// The sources cannot be drawn from.
    #[error(transparent)]
    Pool(#[from] SetupPoolError),
    /// The critic failed.
    #[error(transparent)]
    Critic(#[from] EvaluatorError),
    /// A step failed.
    #[error(transparent)]
    Training(#[from] SetupTrainingError),
}

impl SetupLearner {
    /// A learner that goes on from a trainer. `fixed` are the setups of the
    /// config's file, if it names one.
    #[must_use]
    pub fn new(
        trainer: SetupTrainer,
        config: LearnedSetups,
        rules: &Rules,
        fixed: Vec<Setup>,
        seed: u64,
    ) -> SetupLearner {
        let space = Arc::new(SetupSpace::new(rules));
        let (current, entropies) = Default::default();
        SetupLearner { trainer, space, config, fixed, seed, current, entropies }
    }

    /// Whether a round (from 1) is among the first, which are played with uniform
    /// setups while the play network learns what setups are worth.
    #[must_use]
    pub fn is_uniform(&self, round: u32) -> bool {
        round <= self.config.uniform_rounds
    }

    /// How many earlier networks [`SetupLearner::pool`] wants to sample.
    #[must_use]
    pub fn past_networks(&self, round: u32) -> u32 {
        let past = self.config.shares.past > 0.0 && !self.is_uniform(round);
        if past { self.config.past_networks } else { 0 }
    }

    /// The setups of a round's games: samples of the network as it is and of
    /// earlier ones, and fixed and uniform ones.
    ///
    /// # Errors
    /// A network that fails, a source with a share and no setups.
    pub fn pool(&mut self, round: u32, past: &[SetupNet]) -> Result<SetupPool, LearnerError> {
        let shares = &self.config.shares;
        let uniform = self.is_uniform(round);
        let uniform_share = if uniform { 1.0 } else { shares.uniform };
        let mut supplies = vec![supply(SetupSource::Uniform, uniform_share, Default::default())];
        if !uniform {
            let count = self.config.samples_per_seat as usize;
            let sample = |seat| {
                let seed = self.sampling_seed(&[u64::from(round)], seat);
                self.trainer.net.sample(&self.space, seat, count, seed)
            };
            let current = [sample(Side::White)?, sample(Side::Black)?];
            self.entropies = current.each_ref().map(|samples| entropy(samples));
            self.current =
                current.map(|samples| samples.iter().map(|sample| sample.setup).collect());
            supplies.push(supply(SetupSource::Current, shares.current, self.current.clone()));
            let mut setups: [Vec<Setup>; 2] = Default::default();
            for (place, net) in past.iter().enumerate() {
                let each = count.div_ceil(past.len());
                let parts = [u64::from(round), 1 + place as u64];
                for (seat, setups) in Side::ALL.into_iter().zip(&mut setups) {
                    let seed = self.sampling_seed(&parts, seat);
                    setups.extend(net.sample_setups(&self.space, seat, each, seed)?);
                }
            }
            supplies.push(supply(SetupSource::Past, shares.past, setups));
            let fixed = [self.fixed.clone(), self.fixed.clone()];
            supplies.push(supply(SetupSource::Fixed, shares.fixed, fixed));
        }
        Ok(SetupPool::new(self.space.clone(), supplies)?)
    }

    /// Where samples for a seat come from.
    fn sampling_seed(&self, parts: &[u64], seat: Side) -> u64 {
        derive(self.seed, Purpose::SetupSupply, &[parts, &[seat.index() as u64]].concat())
    }

    /// Learns from the round: its samples, valued by the critic against setups
    /// drawn from its pool, and the games that ended in it. `None` where nothing
    /// was to be learned: in the first, uniform rounds, and without any lesson. `watcher`
    /// is told how far it is.
    ///
    /// # Errors
    /// A failure of the critic, a step that must not be taken.
    pub fn learn(
        &mut self,
        critic: &mut dyn Critic,
        played: Played<'_>,
        pool: &SetupPool,
        round: u32,
        run_share: f64,
        watcher: &mut Watcher<'_>,
    ) -> Result<Option<SetupLosses>, LearnerError> {
        if self.is_uniform(round) {
            return Ok(None);
        }
        let config = &self.config;
        let opponents = Side::ALL.map(|seat| self.opponents(pool, round, seat));
        let (targets, weight) = (config.targets, config.result_weight);
        let lessons = lessons(critic, &self.current, &opponents, played, targets, weight, watcher)?;
        let seed = derive(self.seed, Purpose::SetupLearning, &[u64::from(round)]);
        let round = SetupRound { run_share, seed, entropies: self.entropies };
        Ok(self.trainer.learn(&self.space, &lessons, round, watcher)?)
    }

    /// Setups of a seat that the other seat's are valued against.
    fn opponents(&self, pool: &SetupPool, round: u32, seat: Side) -> Vec<Setup> {
        let parts = [u64::from(round), seat.index() as u64];
        let seed = derive(self.seed, Purpose::SetupOpponents, &parts);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..self.config.opponents).map(|_| pool.draw(seat, &mut rng).0).collect()
    }
}

/// The joint entropy of the distribution that samples come from, in nats.
fn entropy(samples: &[SampledSetup]) -> f64 {
    let sum: f64 = samples.iter().map(|sample| -sample.log_probability).sum();
    sum / samples.len().max(1) as f64
}

fn supply(source: SetupSource, share: f64, setups: [Vec<Setup>; 2]) -> Supply {
    Supply { source, share, setups }
}
