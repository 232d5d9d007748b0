//! Sampling setups, and the exact log-probability of one.

use cyvasse_env::{IllegalToken, Setup, SetupBuilder, SetupSpace, Side};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::{Kind, Tensor};

use super::batch::{SETUP_FEATURES, SetupBatch, base_logits, encode_prefix};
use super::{SetupNet, TOKENS};

/// Setups that are filled in or looked at together: enough for full use of the
/// processor, little enough for its caches.
const CHUNK: usize = 256;

/// A setup drawn from a setup network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledSetup {
    /// The setup, which is legal.
    pub setup: Setup,
    /// Its log-probability, in nats.
    pub log_probability: f64,
}

/// A setup network that failed.
#[derive(Debug, thiserror::Error)]
pub enum SetupNetError {
    /// Its outputs are no numbers.
    #[error("the setup network's answer at step {step} is not finite")]
    NotFinite {
        /// The step, 0 to 63.
        step: usize,
    },
    /// It was asked about a setup that the rules forbid.
    #[error(transparent)]
    Illegal(#[from] IllegalToken),
}

impl SetupNet {
    /// Draws `count` setups for a seat. The same weights, seat and seed give the
    /// same setups.
    ///
    /// # Errors
    /// Outputs that are not finite.
    pub fn sample(
        &self,
        space: &SetupSpace,
        seat: Side,
        count: usize,
        seed: u64,
    ) -> Result<Vec<SampledSetup>, SetupNetError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut sampled = Vec::with_capacity(count);
        for count in chunks(count) {
            let (built, scores) = self.build(space, seat, count, &mut rng)?;
            let scores = self.score_either_way(space, seat, &built, scores)?;
            let setups = self.toss(built, &mut rng).into_iter().zip(scores);
            sampled.extend(
                setups.map(|(setup, log_probability)| SampledSetup { setup, log_probability }),
            );
        }
        Ok(sampled)
    }

    /// The setups of [`SetupNet::sample`] without their probabilities, which cost as
    /// much again where a network mirrors.
    ///
    /// # Errors
    /// Outputs that are not finite.
    pub fn sample_setups(
        &self,
        space: &SetupSpace,
        seat: Side,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Setup>, SetupNetError> {
        let chunks = self.sample_chunks(space, seat, count, seed);
        Ok(chunks.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The setups of [`SetupNet::sample_setups`], some hundreds at a time, for more than
    /// there is memory for.
    pub fn sample_chunks(
        &self,
        space: &SetupSpace,
        seat: Side,
        count: usize,
        seed: u64,
    ) -> impl Iterator<Item = Result<Vec<Setup>, SetupNetError>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        chunks(count).map(move |count| {
            let (built, _) = self.build(space, seat, count, &mut rng)?;
            Ok(self.toss(built, &mut rng))
        })
    }

    /// Setups as the network builds them, with the log-probabilities of building them.
    fn build(
        &self,
        space: &SetupSpace,
        seat: Side,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<(Vec<Setup>, Vec<f64>), SetupNetError> {
        self.fill_in(space, seat, count, |probabilities| draw(probabilities, rng.random()))
    }

    /// Mirrors each setup if the coin says so, and the network tosses one.
    fn toss(&self, built: Vec<Setup>, rng: &mut ChaCha8Rng) -> Vec<Setup> {
        let mirror = self.config.mirror;
        let toss = |setup: Setup| if mirror && rng.random() { setup.mirror() } else { setup };
        built.into_iter().map(toss).collect()
    }

    /// The setup that comes of the likeliest token at each step: one of the
    /// likeliest setups. Of a network that mirrors, its mirror image is as likely.
    ///
    /// # Errors
    /// Outputs that are not finite.
    pub fn greedy(&self, space: &SetupSpace, seat: Side) -> Result<SampledSetup, SetupNetError> {
        let likeliest = |probabilities: &[f64]| {
            let order = |a: &usize, b: &usize| probabilities[*a].total_cmp(&probabilities[*b]);
            (0..probabilities.len()).max_by(order).unwrap_or(0)
        };
        let (built, scores) = self.fill_in(space, seat, 1, likeliest)?;
        let scores = self.score_either_way(space, seat, &built, scores)?;
        Ok(SampledSetup { setup: built[0], log_probability: scores[0] })
    }

    /// The exact log-probabilities of setups for a seat, in nats.
    ///
    /// # Errors
    /// A setup that is not legal in `space`.
    pub fn score(
        &self,
        space: &SetupSpace,
        seat: Side,
        setups: &[Setup],
    ) -> Result<Vec<f64>, SetupNetError> {
        let scores = self.score_building(space, seat, setups)?;
        self.score_either_way(space, seat, setups, scores)
    }

    /// How the network built setups that it sampled for a seat: each as it is or
    /// mirrored, drawn by the probabilities of the two, for a coin was tossed since.
    /// This is what it is to learn from. They stay as they are for one that does not
    /// mirror.
    ///
    /// # Errors
    /// A setup that is not legal in `space`.
    pub fn as_built(
        &self,
        space: &SetupSpace,
        seat: Side,
        setups: &[Setup],
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Setup>, SetupNetError> {
        if !self.config.mirror {
            return Ok(setups.to_vec());
        }
        let mirrored = mirrored(setups);
        let scores = self.score_building(space, seat, setups)?;
        let mirrored_scores = self.score_building(space, seat, &mirrored)?;
        let pairs = setups.iter().zip(mirrored).zip(scores.into_iter().zip(mirrored_scores));
        let choose = |((&setup, mirrored), (score, mirrored_score)): ((&Setup, Setup), _)| {
            let of_setup = 1.0 / (1.0 + f64::exp(mirrored_score - score));
            if rng.random::<f64>() < of_setup { setup } else { mirrored }
        };
        Ok(pairs.map(choose).collect())
    }

    /// The log-probabilities of setups that are built with those in `scores`: the same, or
    /// where the network mirrors those of building them or their mirror images and tossing
    /// the coin that way.
    fn score_either_way(
        &self,
        space: &SetupSpace,
        seat: Side,
        setups: &[Setup],
        scores: Vec<f64>,
    ) -> Result<Vec<f64>, SetupNetError> {
        if !self.config.mirror {
            return Ok(scores);
        }
        let of_images = self.score_building(space, seat, &mirrored(setups))?;
        Ok(scores.into_iter().zip(of_images).map(|(one, image)| ln_mean_exp(one, image)).collect())
    }

    /// The log-probabilities with which the network builds setups in this orientation.
    fn score_building(
        &self,
        space: &SetupSpace,
        seat: Side,
        setups: &[Setup],
    ) -> Result<Vec<f64>, SetupNetError> {
        let mut scores = Vec::with_capacity(setups.len());
        for chunk in setups.chunks(CHUNK) {
            let chunk: Vec<(Setup, Side)> = chunk.iter().map(|&setup| (setup, seat)).collect();
            let batch = SetupBatch::new(space, &chunk, self.device())?;
            let chosen = tch::no_grad(|| {
                self.log_probabilities(&batch).gather(-1, &batch.tokens.unsqueeze(-1), false)
            });
            let sums = chosen.sum_dim_intlist([0i64, 2].as_slice(), false, Kind::Double);
            scores.extend(Vec::<f64>::try_from(&sums).expect("a vector of f64"));
        }
        Ok(scores)
    }

    /// Fills in setups side by side; `choose` picks a token by its probability
    /// (0 where it is not legal). Returns them with the log-probabilities of building them.
    fn fill_in(
        &self,
        space: &SetupSpace,
        seat: Side,
        count: usize,
        mut choose: impl FnMut(&[f64]) -> usize,
    ) -> Result<(Vec<Setup>, Vec<f64>), SetupNetError> {
        let mut builders = vec![space.builder(); count];
        let mut sums = vec![0.0; count];
        let mut features = vec![0.0; count * SETUP_FEATURES];
        for step in 0..SetupBuilder::STEPS {
            for (builder, row) in builders.iter().zip(features.chunks_mut(SETUP_FEATURES)) {
                encode_prefix(builder, seat, row);
            }
            let outputs = self.outputs_at(step, &features);
            let rows = outputs.chunks(TOKENS as usize);
            for ((builder, sum), row) in builders.iter_mut().zip(&mut sums).zip(rows) {
                if row.iter().any(|output| !output.is_finite()) {
                    return Err(SetupNetError::NotFinite { step });
                }
                let probabilities = probabilities(builder, row);
                let token = choose(&probabilities);
                *sum += probabilities[token].ln();
                builder.place(token)?;
            }
        }
        let finish = |builder: &SetupBuilder<'_>| builder.finish().expect("all steps are taken");
        Ok((builders.iter().map(finish).collect(), sums))
    }

    /// The network's outputs after some prefixes of `step` tokens each: 11 for each
    /// row of [`SETUP_FEATURES`]. The logits of the next token are their sums with the
    /// logarithms of its uniform probabilities, and only legal tokens count.
    ///
    /// # Panics
    /// When `features` are no whole rows, or `step` is over 63.
    pub fn outputs_at(&self, step: usize, features: &[f32]) -> Vec<f32> {
        let features = Tensor::from_slice(features)
            .view([1, -1, SETUP_FEATURES as i64])
            .to_device(self.device());
        let outputs = tch::no_grad(|| self.outputs(&features, step as i64));
        Vec::try_from(outputs.flatten(0, -1)).expect("a vector of f32")
    }
}

fn mirrored(setups: &[Setup]) -> Vec<Setup> {
    setups.iter().map(Setup::mirror).collect()
}

/// How many setups to fill in together, again and again until there are `count`.
fn chunks(count: usize) -> impl Iterator<Item = usize> {
    let whole = std::iter::repeat_n(CHUNK, count / CHUNK);
    whole.chain(Some(count % CHUNK).filter(|&rest| rest > 0))
}

/// The logarithm of the mean of two numbers that are given by their logarithms.
fn ln_mean_exp(one: f64, other: f64) -> f64 {
    let (high, low) = (one.max(other), one.min(other));
    high + (low - high).exp().ln_1p() - std::f64::consts::LN_2
}

/// The probabilities of the next token; exactly 0 where it is not legal.
fn probabilities(builder: &SetupBuilder<'_>, outputs: &[f32]) -> [f64; TOKENS as usize] {
    let (base, legal) = (base_logits(builder), builder.legal_tokens());
    let logit = |token: usize| f64::from(outputs[token]) + f64::from(base[token]);
    let is_legal = |token: &usize| legal & 1 << token != 0;
    let tokens = 0..TOKENS as usize;
    let highest = tokens.clone().filter(is_legal).map(logit).fold(f64::NEG_INFINITY, f64::max);
    let mut probabilities = [0.0; TOKENS as usize];
    for token in tokens.filter(is_legal) {
        probabilities[token] = (logit(token) - highest).exp();
    }
    let sum: f64 = probabilities.iter().sum();
    probabilities.map(|probability| probability / sum)
}

/// The place where the running sum of the probabilities passes `number`, from 0
/// to 1.
fn draw(probabilities: &[f64], number: f64) -> usize {
    let mut sum = 0.0;
    let passed = probabilities.iter().position(|probability| {
        sum += probability;
        number < sum
    });
    // Rounding may leave a sum that is a little under 1.
    passed.unwrap_or_else(|| {
        probabilities.iter().rposition(|&probability| probability > 0.0).unwrap_or(0)
    })
}
