//! The setup network's steps: clipped policy gradient with the divergence from
//! the old policy and a bonus for joint entropy.
//!
//! The loss of a setup, a sum over its 64 tokens, is
//!
//! ```text
//! - min(ratio * advantage, clip(ratio) * advantage)   (Schulman et al. 2017)
//! - bonus * entropy of the token's distribution
//! + kl_weight * KL(new || old) of that distribution
//! ```
//!
//! with `advantage = target - mean target of the seat`, not normalised, plus
//! `bonus *` how much entropy lies in the tokens to come beyond what does on
//! average: by the chain rule the two entropy terms together follow the gradient
//! of the *joint* entropy, which that of the single tokens alone would not. It is that of
//! building: what mirroring adds to it, at most ln 2 nats, is not sought, but is part of
//! the entropies that are told and held against the floor.
//! Divergence and bonus with a fixed weight are those of magnetic mirror descent
//! (Sokota et al. 2023), which approaches an equilibrium where plain policy
//! gradients circle.

use cyvasse_env::{Setup, SetupBuilder, SetupSpace, Side};
use cyvasse_models::optim::Optimizer;
use cyvasse_models::{SetupBatch, SetupNet, SetupNetError};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tch::{Kind, Tensor};
use thiserror::Error;

use super::config::LearnedSetups;
use super::targets::Lesson;
use super::watch::Watcher;
use crate::learning::half_cosine;

/// How steeply the bonus rises where the entropy has fallen under its floor:
/// tenfold at 0.115 of the uniform's entropy under it.
const FLOOR_STEEPNESS: f64 = 20.0;

/// A setup network in training.
#[derive(Debug)]
pub struct SetupTrainer {
    /// The network, which samples for self-play.
    pub net: SetupNet,
    /// Its moving average, which checkpoints hold.
    pub average: SetupNet,
    /// Its optimiser.
    pub optimizer: Optimizer,
    config: LearnedSetups,
}

/// What a round of learning is to be.
#[derive(Clone, Copy, Debug)]
pub struct SetupRound {
    /// Share of the run's rounds that lie behind, 0 to 1; schedules follow it.
    pub run_share: f64,
    /// Where the order of the setups comes from.
    pub seed: u64,
    /// Joint entropies of the network as it is, for white and for black, in nats.
    pub entropies: [f64; 2],
}

/// What a round of learning was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetupLosses {
    /// Setups that were taught, each once however often it was sampled.
    pub setups: usize,
    /// Joint entropies before the round, in nats, for white and for black.
    pub entropies: [f64; 2],
    /// The same as shares of the uniform distribution's.
    pub entropy_shares: [f64; 2],
    /// The weights that the entropies had.
    pub bonuses: [f64; 2],
    /// Mean of KL(new || old) over a setup's tokens in the last epoch, in nats.
    pub kl: f64,
    /// Share of tokens whose ratio was clipped in the last epoch.
    pub clipped: f64,
    /// Mean targets, for white and for black.
    pub targets: [f64; 2],
    /// Standard deviation of the targets around these.
    pub deviation: f64,
}

/// A step that must not be taken.
#[derive(Debug, Error)]
pub enum SetupTrainingError {
    /// A loss or a gradient that is not finite.
    #[error(
        "setup step {step}: the {what} is {value}, so the run ends; its saved checkpoints are \
         good, and a new run with a lower `setups.learning_rate` may get further"
    )]
    NotFinite {
        /// Steps taken before.
        step: u64,
        /// What is not finite.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A setup that is not legal.
    #[error(transparent)]
    Illegal(#[from] cyvasse_env::IllegalToken),
    /// The network's answer cannot be used.
    #[error(transparent)]
    Net(#[from] SetupNetError),
}

/// What the steps of a round refer to: the policy as it was before.
struct Old {
    /// f32 `[64, N, 11]`: log-probabilities.
    log_probabilities: Tensor,
    /// f32 `[64, N]`: the advantage of each token.
    advantages: Tensor,
    /// f32 `[N]`: the weights of the lessons.
    weights: Tensor,
    /// f32 `[N]`: the weights of the entropy, those of the lessons' seats.
    bonuses: Tensor,
}

impl SetupTrainer {
    /// A trainer that goes on from a network, its average and an optimiser.
    #[must_use]
    pub fn new(
        net: SetupNet,
        average: SetupNet,
        optimizer: Optimizer,
        config: LearnedSetups,
    ) -> SetupTrainer {
        SetupTrainer { net, average, optimizer, config }
    }

    /// Learns the lessons of a round; `None` where there are none. `watcher` is told
    /// of each step.
    ///
    /// # Errors
    /// Losses or gradients that are not finite; the step is then not taken.
    pub fn learn(
        &mut self,
        space: &SetupSpace,
        lessons: &[Lesson],
        round: SetupRound,
        watcher: &mut Watcher<'_>,
    ) -> Result<Option<SetupLosses>, SetupTrainingError> {
        if lessons.is_empty() {
            return Ok(None);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(round.seed);
        let lessons = &self.as_built(space, lessons, &mut rng)?[..];
        let mut losses = self.before(space, lessons, round);
        let old = self.look_back(space, lessons, &losses)?;
        let mut order: Vec<usize> = (0..lessons.len()).collect();
        let (mut taught, all) = (0, u64::from(self.config.epochs) * lessons.len() as u64);
        for _ in 0..self.config.epochs {
            order.shuffle(&mut rng);
            (losses.kl, losses.clipped) = (0.0, 0.0);
            for places in order.chunks(self.config.batch_setups as usize) {
                if watcher.wants_an_end() {
                    return Ok(Some(losses));
                }
                let [kl, clipped] = self.step(space, lessons, places, &old, round.run_share)?;
                let share = places.len() as f64 / lessons.len() as f64;
                losses.kl += share * kl;
                losses.clipped += share * clipped;
                taught += places.len() as u64;
                watcher.tell("setups", taught, all);
            }
        }
        Ok(Some(losses))
    }

    /// The lessons with the setups as the network built them, whose tokens it chose.
    fn as_built(
        &self,
        space: &SetupSpace,
        lessons: &[Lesson],
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Lesson>, SetupNetError> {
        let mut built = lessons.to_vec();
        for seat in Side::ALL {
            let mut own: Vec<&mut Lesson> =
                built.iter_mut().filter(|lesson| lesson.seat == seat).collect();
            let setups: Vec<Setup> = own.iter().map(|lesson| lesson.setup).collect();
            let setups = self.net.as_built(space, seat, &setups, rng)?;
            own.iter_mut().zip(setups).for_each(|(lesson, setup)| lesson.setup = setup);
        }
        Ok(built)
    }

    /// What is known before the first step.
    fn before(&self, space: &SetupSpace, lessons: &[Lesson], round: SetupRound) -> SetupLosses {
        let uniform = space.log_count();
        let share = |entropy: f64| if uniform > 0.0 { entropy / uniform } else { 1.0 };
        let entropy_shares = round.entropies.map(share);
        let targets = seat_means(lessons, lessons.iter().map(|lesson| lesson.target));
        let squares = lessons.iter().map(|lesson| {
            let own = lesson.target - targets[lesson.seat.index()];
            lesson.weight * own * own
        });
        let weights: f64 = lessons.iter().map(|lesson| lesson.weight).sum();
        SetupLosses {
            setups: lessons.len(),
            entropies: round.entropies,
            entropy_shares,
            bonuses: entropy_shares.map(|share| self.bonus(round.run_share, share)),
            kl: 0.0,
            clipped: 0.0,
            targets,
            deviation: (squares.sum::<f64>() / weights).sqrt(),
        }
    }

    /// Looks at the lessons with the policy as it is.
    fn look_back(
        &self,
        space: &SetupSpace,
        lessons: &[Lesson],
        losses: &SetupLosses,
    ) -> Result<Old, SetupTrainingError> {
        let setups: Vec<(Setup, Side)> =
            lessons.iter().map(|lesson| (lesson.setup, lesson.seat)).collect();
        let parts = setups.chunks(self.config.batch_setups as usize).map(|part| {
            let batch = SetupBatch::new(space, part, self.net.device())?;
            Ok(tch::no_grad(|| self.net.log_probabilities(&batch)))
        });
        let parts = parts.collect::<Result<Vec<Tensor>, SetupTrainingError>>()?;
        let log_probabilities = Tensor::cat(&parts, 1);
        let entropies = to_vec(&token_entropies(&log_probabilities));
        let advantages = advantages(lessons, &entropies, losses);
        let advantages = Tensor::from_slice(&advantages)
            .view([SetupBuilder::STEPS as i64, lessons.len() as i64])
            .to_device(self.net.device());
        let of_lessons = |number: fn(&Lesson, &SetupLosses) -> f64| {
            let numbers: Vec<f64> = lessons.iter().map(|lesson| number(lesson, losses)).collect();
            Tensor::from_slice(&numbers).to_kind(Kind::Float).to_device(self.net.device())
        };
        let weights = of_lessons(|lesson, _| lesson.weight);
        let bonuses = of_lessons(|lesson, losses| losses.bonuses[lesson.seat.index()]);
        Ok(Old { log_probabilities, advantages, weights, bonuses })
    }

    /// Takes one step on some of the lessons; returns their mean divergence and
    /// the share of clipped tokens.
    fn step(
        &mut self,
        space: &SetupSpace,
        lessons: &[Lesson],
        places: &[usize],
        old: &Old,
        run_share: f64,
    ) -> Result<[f64; 2], SetupTrainingError> {
        let setups: Vec<(Setup, Side)> =
            places.iter().map(|&place| (lessons[place].setup, lessons[place].seat)).collect();
        let batch = SetupBatch::new(space, &setups, self.net.device())?;
        let index: Vec<i64> = places.iter().map(|&place| place as i64).collect();
        let index = Tensor::from_slice(&index).to_device(self.net.device());
        let advantages = old.advantages.index_select(1, &index);
        let before = old.log_probabilities.index_select(1, &index);
        let weights = old.weights.index_select(0, &index);
        let bonuses = old.bonuses.index_select(0, &index);
        let weights = &weights / weights.sum(Kind::Float);

        let now = self.net.log_probabilities(&batch);
        let tokens = batch.tokens.unsqueeze(-1);
        let chosen = |all: &Tensor| all.gather(-1, &tokens, false).squeeze_dim(-1);
        let ratio = (chosen(&now) - chosen(&before)).exp();
        let clip = self.config.clip;
        let limited = ratio.clamp(1.0 - clip, 1.0 + clip);
        let gain = (&ratio * &advantages).minimum(&(&limited * &advantages));
        let divergence = (now.exp() * (&now - &before)).sum_dim_intlist(-1i64, false, Kind::Float);
        let per_token =
            -gain - token_entropies(&now) * bonuses + &divergence * self.config.kl_weight;
        let loss = (per_token * &weights).sum(Kind::Float);
        self.finite("loss", loss.double_value(&[]))?;
        self.optimizer.zero_grad();
        loss.backward();
        let norm = self.optimizer.clip_grad_norm(self.config.gradient_norm);
        self.finite("gradient's norm", norm)?;
        self.optimizer.step(self.learning_rate(run_share));
        self.average.move_towards(&self.net, 1.0 - self.config.average_decay);

        let clipped = ratio.ne_tensor(&limited).to_kind(Kind::Float).mean(Kind::Float);
        let divergence = (divergence * &weights).sum(Kind::Double);
        Ok([divergence.double_value(&[]), clipped.double_value(&[])])
    }

    fn finite(&self, what: &'static str, value: f64) -> Result<(), SetupTrainingError> {
        if value.is_finite() {
            return Ok(());
        }
        Err(SetupTrainingError::NotFinite { step: self.optimizer.steps(), what, value })
    }

    /// The weight of a seat's entropy: it falls by the same factor from round to
    /// round, and rises where the entropy is under its floor.
    fn bonus(&self, run_share: f64, entropy_share: f64) -> f64 {
        let LearnedSetups { entropy_bonus, final_entropy_bonus, entropy_floor, .. } = self.config;
        let planned = if entropy_bonus > 0.0 && final_entropy_bonus > 0.0 {
            entropy_bonus * (final_entropy_bonus / entropy_bonus).powf(run_share)
        } else {
            entropy_bonus + (final_entropy_bonus - entropy_bonus) * run_share
        };
        planned * (FLOOR_STEEPNESS * (entropy_floor - entropy_share).max(0.0)).exp()
    }

    /// The learning rate falls along half a cosine.
    fn learning_rate(&self, run_share: f64) -> f64 {
        self.config.learning_rate * half_cosine(self.config.final_rate_share, run_share)
    }
}

/// The entropy of each distribution of log-probabilities `[.., 11]`, in nats.
fn token_entropies(log_probabilities: &Tensor) -> Tensor {
    let products = log_probabilities.exp() * log_probabilities;
    -products.sum_dim_intlist(-1i64, false, Kind::Float)
}

fn to_vec(tensor: &Tensor) -> Vec<f64> {
    Vec::try_from(tensor.to_kind(Kind::Double).flatten(0, -1)).expect("a vector of f64")
}

/// The weighted mean of the lessons' numbers for each seat; 0 for one without any.
fn seat_means(lessons: &[Lesson], numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let (mut sums, mut weights) = ([0.0; 2], [0.0; 2]);
    for (lesson, number) in lessons.iter().zip(numbers) {
        sums[lesson.seat.index()] += lesson.weight * number;
        weights[lesson.seat.index()] += lesson.weight;
    }
    [0, 1].map(|seat| if weights[seat] > 0.0 { sums[seat] / weights[seat] } else { 0.0 })
}

/// The advantage of each token, `[64, N]`, from the targets and the entropies of
/// the tokens.
fn advantages(lessons: &[Lesson], entropies: &[f64], losses: &SetupLosses) -> Vec<f32> {
    let count = lessons.len();
    let mut advantages = vec![0.0; entropies.len()];
    // Entropy of the tokens to come, from the last token backwards.
    let mut to_come = vec![0.0; count];
    for step in (0..SetupBuilder::STEPS).rev() {
        let means = seat_means(lessons, to_come.iter().copied());
        for (place, lesson) in lessons.iter().enumerate() {
            let seat = lesson.seat.index();
            let own = lesson.target - losses.targets[seat];
            let excess = to_come[place] - means[seat];
            advantages[step * count + place] = (own + losses.bonuses[seat] * excess) as f32;
            to_come[place] += entropies[step * count + place];
        }
    }
    advantages
}
