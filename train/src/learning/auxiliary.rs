//! What the auxiliary heads are taught, and how well they know it.

use cyvasse_env::{PASS_INDEX, mirror_index};
use cyvasse_models::{AuxiliaryOutputs, loss};
use serde_json::{Value, json};
use tch::{Device, Kind, Tensor};

use super::config::TrainingConfig;
use super::sample::{AuxiliaryTargets, Sample};

/// The targets of auxiliary heads for B positions with at most A actions of a reply.
#[derive(Debug)]
pub struct AuxiliaryBatch {
    /// f32 `[B]`: plies that the game went on.
    pub plies_left: Tensor,
    /// i64 `[B, A]`: indices of the reply's actions in the opponent's own view, padded
    /// with -1.
    pub reply_actions: Tensor,
    /// f32 `[B, A]`: the share of the action in the same place.
    pub reply_shares: Tensor,
    /// f32 `[B, 3]`: short-term chances of win, draw and loss for the mover.
    pub short_term: Tensor,
}

/// Mean losses of the heads that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuxiliaryLosses {
    /// Of the plies left (see [`loss::moves_left_loss`]).
    pub moves_left: Option<f64>,
    /// Cross-entropy of the opponent's reply with the search's, in nats.
    pub reply: Option<f64>,
    /// Cross-entropy of the short-term value, in nats.
    pub short_term: Option<f64>,
}

impl AuxiliaryBatch {
    /// The targets of samples, each as it is or mirrored left to right; `None` where
    /// the samples have none.
    pub(super) fn new(samples: &[(&Sample, bool)], device: Device) -> Option<AuxiliaryBatch> {
        let targets = samples.iter().map(|(sample, _)| sample.auxiliary.as_deref());
        let targets: Vec<&AuxiliaryTargets> = targets.collect::<Option<_>>()?;
        let count = targets.len() as i64;
        let width = targets.iter().map(|targets| targets.reply.len()).max().unwrap_or(0).max(1);
        let mut actions = vec![-1; targets.len() * width];
        let mut shares = vec![0.0; targets.len() * width];
        for (at, (targets, &(_, mirrored))) in targets.iter().zip(samples).enumerate() {
            for (place, &(index, share)) in targets.reply.iter().enumerate() {
                // Nobody chooses to pass; it has no logit.
                if usize::from(index) == PASS_INDEX {
                    continue;
                }
                let index = usize::from(index);
                let index = if mirrored { mirror_index(index) } else { index };
                actions[at * width + place] = index as i64;
                shares[at * width + place] = share;
            }
        }
        let plies: Vec<f32> = targets.iter().map(|targets| targets.plies_left as f32).collect();
        let short_term: Vec<f32> = targets.iter().flat_map(|targets| targets.short_term).collect();
        let width = width as i64;
        Some(AuxiliaryBatch {
            plies_left: Tensor::from_slice(&plies).to_device(device),
            reply_actions: Tensor::from_slice(&actions).view([count, width]).to_device(device),
            reply_shares: Tensor::from_slice(&shares).view([count, width]).to_device(device),
            short_term: Tensor::from_slice(&short_term).view([count, 3]).to_device(device),
        })
    }

    /// The mean losses of the heads that there are, as weighted tensors and as numbers.
    pub(super) fn losses(
        &self,
        outputs: &AuxiliaryOutputs,
        config: &TrainingConfig,
    ) -> (Vec<Tensor>, AuxiliaryLosses) {
        let mut weighted = Vec::new();
        let mut mean = |loss: Tensor, weight: f64| {
            let loss = loss.mean(Kind::Float);
            weighted.push(&loss * weight);
            loss.double_value(&[])
        };
        let losses = AuxiliaryLosses {
            moves_left: outputs.moves_left.as_ref().map(|outputs| {
                mean(loss::moves_left_loss(outputs, &self.plies_left), config.moves_left_weight)
            }),
            reply: outputs.reply.as_ref().map(|logits| {
                let loss = loss::reply_loss(logits, &self.reply_actions, &self.reply_shares);
                mean(loss, config.reply_weight)
            }),
            short_term: outputs.short_term.as_ref().map(|logits| {
                mean(loss::value_loss(logits, &self.short_term), config.short_term_weight)
            }),
        };
        (weighted, losses)
    }

    pub(super) fn tensors(&self) -> [(&'static str, &Tensor); 4] {
        [
            ("plies_left", &self.plies_left),
            ("reply_actions", &self.reply_actions),
            ("reply_shares", &self.reply_shares),
            ("short_term", &self.short_term),
        ]
    }
}

impl AuxiliaryLosses {
    /// The losses of the heads that there are, with the heads' names.
    pub fn known(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("moves_left", self.moves_left),
            ("reply", self.reply),
            ("short_term", self.short_term),
        ];
        all.into_iter().filter_map(|(name, loss)| Some((name, loss?)))
    }

    /// The numbers for the metrics; null where there is no head.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let known: serde_json::Map<String, Value> =
            self.known().map(|(name, loss)| (name.to_string(), json!(loss))).collect();
        if known.is_empty() { Value::Null } else { known.into() }
    }

    /// Each loss from those of two sets of losses, of which one may lack it.
    pub(super) fn joined(self, other: Self, join: impl Fn(f64, f64) -> f64) -> Self {
        let join = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(join(one, other)),
            (one, other) => one.or(other),
        };
        AuxiliaryLosses {
            moves_left: join(self.moves_left, other.moves_left),
            reply: join(self.reply, other.reply),
            short_term: join(self.short_term, other.short_term),
        }
    }
}
