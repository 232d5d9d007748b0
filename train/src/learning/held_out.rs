//! Games that are never trained on, and what the network says about them.

use std::collections::VecDeque;
use std::sync::Arc;

use cyvasse_env::Rules;
use cyvasse_models::{Net, loss};
use cyvasse_selfplay::replay::{ReplayError, Shard};
use cyvasse_selfplay::{GameId, Purpose, derive};
use tch::{Device, Kind, Tensor};

use super::batch::Batch;
use super::sample::{Sample, drawn_share, samples_of_game};
use super::trainer::Losses;

/// Which games of a run are held out.
#[derive(Clone, Copy, Debug)]
pub struct HeldOut {
    /// Their share, 0 to 1.
    pub share: f64,
    /// The seed of the run.
    pub seed: u64,
}

/// The newest positions of games that are held out.
#[derive(Debug, Default)]
pub struct Validation {
    positions: Newest,
    starts: Newest,
}

/// Losses at positions that the network was not trained on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValidationLosses {
    /// Positions of all stages of games.
    pub positions: usize,
    /// The mean losses at them.
    pub losses: Losses,
    /// First positions of games that were searched in full.
    pub starts: usize,
    /// The mean losses at them: what is known of setups alone.
    pub start_losses: Losses,
}

/// The newest samples, each with the round of its shard.
#[derive(Debug, Default)]
struct Newest(VecDeque<(u32, Sample)>);

/// Positions that losses are the mean of: their standard error is then about a
/// fiftieth of the spread among positions.
const POSITIONS: usize = 2048;

/// First positions that losses are the mean of.
const STARTS: usize = 512;

/// Positions that the network is asked about at once.
const BATCH: usize = 256;

impl HeldOut {
    /// Whether a game is held out: always the same for the same game of a run.
    #[must_use]
    pub fn contains(&self, id: GameId) -> bool {
        let hash = derive(self.seed, Purpose::HeldOut, &[id.slot.into(), id.sequence.into()]);
        ((hash >> 11) as f64) < self.share * (1u64 << 53) as f64
    }

    /// The samples of the games of a shard that are held out, game by game.
    ///
    /// # Errors
    /// A game that does not follow the rules.
    pub fn samples_of(&self, shard: &Shard, lambda: f32) -> Result<Vec<Vec<Sample>>, ReplayError> {
        let drawn = drawn_share(shard);
        let games = (0..shard.game_count()).filter(|&game| self.contains(shard.id(game)));
        games.map(|game| samples_of_game(shard, game, drawn, lambda)).collect()
    }
}

impl Validation {
    /// Adds the games of a shard that are held out.
    ///
    /// # Errors
    /// A game that does not follow the rules.
    pub fn add(
        &mut self,
        round: u32,
        shard: &Shard,
        held_out: &HeldOut,
        lambda: f32,
    ) -> Result<(), ReplayError> {
        for samples in held_out.samples_of(shard, lambda)? {
            if let Some(first) = samples.first() {
                self.starts.add(round, first.clone(), STARTS);
            }
            samples.into_iter().for_each(|sample| self.positions.add(round, sample, POSITIONS));
        }
        Ok(())
    }

    /// Drops what shards before a round have added.
    pub fn forget_before(&mut self, round: u32) {
        self.positions.forget_before(round);
        self.starts.forget_before(round);
    }

    /// What the network says, as it is when it plays.
    #[must_use]
    pub fn losses(&self, net: &Net, rules: &Arc<Rules>) -> ValidationLosses {
        ValidationLosses {
            positions: self.positions.0.len(),
            losses: self.positions.losses(net, rules),
            starts: self.starts.0.len(),
            start_losses: self.starts.losses(net, rules),
        }
    }
}

impl Newest {
    fn add(&mut self, round: u32, sample: Sample, most: usize) {
        self.0.push_back((round, sample));
        if self.0.len() > most {
            self.0.pop_front();
        }
    }

    fn forget_before(&mut self, round: u32) {
        while self.0.front().is_some_and(|(of, _)| *of < round) {
            self.0.pop_front();
        }
    }

    /// The mean losses; 0 of no samples.
    fn losses(&self, net: &Net, rules: &Rules) -> Losses {
        let losses = losses_at(net, rules, self.0.iter().map(|(_, sample)| sample));
        let count = losses.len().max(1) as f64;
        let mean = |of: fn(&Losses) -> f64| losses.iter().map(of).sum::<f64>() / count;
        Losses { policy: mean(|losses| losses.policy), value: mean(|losses| losses.value) }
    }
}

/// The losses at each of some samples of a network as it is when it plays.
#[must_use]
pub fn losses_at<'a>(
    net: &Net,
    rules: &Rules,
    samples: impl IntoIterator<Item = &'a Sample>,
) -> Vec<Losses> {
    let samples: Vec<(&Sample, bool)> = samples.into_iter().map(|s| (s, false)).collect();
    let mut losses = Vec::with_capacity(samples.len());
    for samples in samples.chunks(BATCH) {
        let batch = Batch::new(samples, rules, net.device());
        let outputs = net.forward(&batch.planes);
        let policy = loss::policy_loss(&outputs.policy, &batch.legal, &batch.policy);
        let value = loss::value_loss(&outputs.value, &batch.wdl);
        // Copied at once: a copy from a GPU takes long to begin.
        let both = Tensor::stack(&[policy, value], 1).to_kind(Kind::Double);
        let both = both.to_device(Device::Cpu);
        losses.extend((0..samples.len() as i64).map(|at| Losses {
            policy: both.double_value(&[at, 0]),
            value: both.double_value(&[at, 1]),
        }));
    }
    losses
}
