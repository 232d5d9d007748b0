//! Samples as the tensors of a training step.

use cyvasse_env::{Action, ENCODED_LEN, PASS_INDEX, PLANES, Rules, encode, mirror_index};
use tch::{Device, Tensor};

use super::sample::Sample;

/// The tensors of a training step over B positions with at most A legal
/// actions.
#[derive(Debug)]
pub struct Batch {
    /// f32 `[B, 8, 8, PLANES]`, each position in its mover's view.
    pub planes: Tensor,
    /// i64 `[B, A]`: indices of the legal actions, padded with -1.
    pub legal: Tensor,
    /// f32 `[B, A]`: the policy target's share of the action in the same
    /// place; 0 throughout where the sample teaches no policy.
    pub policy: Tensor,
    /// f32 `[B, 3]`: target chances of win, draw and loss for the mover.
    pub wdl: Tensor,
}

/// A sample as rows of numbers.
struct Row {
    legal: Vec<i64>,
    policy: Vec<f32>,
}

impl Batch {
    /// Encodes samples, each as it is or mirrored left to right.
    #[must_use]
    pub fn new(samples: &[(&Sample, bool)], rules: &Rules, device: Device) -> Batch {
        let count = samples.len();
        let mut planes = vec![0.0; count * ENCODED_LEN];
        let rows: Vec<Row> = samples
            .iter()
            .zip(planes.chunks_exact_mut(ENCODED_LEN))
            .map(|(&(sample, mirrored), planes)| encode_row(sample, mirrored, rules, planes))
            .collect();
        let width = rows.iter().map(|row| row.legal.len()).max().unwrap_or(0).max(1);
        let mut legal = vec![-1; count * width];
        let mut policy = vec![0.0; count * width];
        for (index, row) in rows.iter().enumerate() {
            legal[index * width..][..row.legal.len()].copy_from_slice(&row.legal);
            policy[index * width..][..row.policy.len()].copy_from_slice(&row.policy);
        }
        let wdl: Vec<f32> = samples.iter().flat_map(|(sample, _)| sample.wdl).collect();
        let (count, width) = (count as i64, width as i64);
        let tensor = |values: &[f32], shape: &[i64]| {
            Tensor::from_slice(values).view(shape).to_device(device)
        };
        Batch {
            planes: tensor(&planes, &[count, 8, 8, PLANES as i64]),
            legal: Tensor::from_slice(&legal).view([count, width]).to_device(device),
            policy: tensor(&policy, &[count, width]),
            wdl: tensor(&wdl, &[count, 3]),
        }
    }
}

fn encode_row(sample: &Sample, mirrored: bool, rules: &Rules, planes: &mut [f32]) -> Row {
    let mirror;
    let position = if mirrored {
        mirror = sample.position.mirror();
        &mirror
    } else {
        &sample.position
    };
    encode(position, sample.occurrences.into(), rules, planes);
    let mut actions: Vec<Action> = Vec::with_capacity(64);
    position.legal_actions(rules, &mut actions);
    let mut legal: Vec<i64> =
        actions.iter().map(|action| action.index(position.turn()) as i64).collect();
    // A pass is only legal alone; there is nothing to learn from it.
    legal.retain(|&index| index != PASS_INDEX as i64);
    let mut policy = vec![0.0; legal.len()];
    for &(index, share) in &sample.policy {
        let index = usize::from(index);
        let index = if mirrored { mirror_index(index) } else { index } as i64;
        let place = legal.iter().position(|&legal| legal == index);
        debug_assert!(place.is_some() || index == PASS_INDEX as i64, "a target on no legal action");
        if let Some(place) = place {
            policy[place] = share;
        }
    }
    Row { legal, policy }
}
