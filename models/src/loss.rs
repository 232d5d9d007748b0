//! Losses, one value a position. The caller weights and averages them, and
//! looks for values that are not finite.

use tch::{Kind, Tensor};

/// Stands for minus infinity where nothing may become NaN.
const NEVER: f64 = -1e30;

/// Cross-entropy of the policy against soft targets, over legal actions only.
///
/// * `logits`: f32 `[B, N]`, one logit for each action of the encoding;
/// * `legal`: i64 `[B, A]`, indices of the legal actions, padded with -1;
/// * `targets`: f32 `[B, A]`, probability of the action in the same place.
///   A row sums to 1, or is all 0 for a position that teaches no policy.
///
/// Returns f32 `[B]` in nats: `-sum_a targets[a] * log softmax(logits over the
/// row's legal actions)[a]`. A row without targets gives 0, also when it has no
/// legal index at all (the mover can only pass). Places of padding are ignored.
pub fn policy_loss(logits: &Tensor, legal: &Tensor, targets: &Tensor) -> Tensor {
    let padding = legal.lt(0);
    let log_probabilities = logits
        .gather(1, &legal.clamp_min(0), false)
        .masked_fill(&padding, NEVER)
        .log_softmax(1, Kind::Float);
    let taught = targets.masked_fill(&padding, 0.0);
    -(taught * log_probabilities.masked_fill(&padding, 0.0)).sum_dim_intlist(
        [1i64].as_slice(),
        false,
        Kind::Float,
    )
}

/// Cross-entropy of the value head against outcome probabilities.
///
/// * `logits`: f32 `[B, 3]`: win, draw, loss of the mover;
/// * `targets`: f32 `[B, 3]` in the same order, each row summing to 1.
///
/// Returns f32 `[B]` in nats.
pub fn value_loss(logits: &Tensor, targets: &Tensor) -> Tensor {
    -(targets * logits.log_softmax(1, Kind::Float)).sum_dim_intlist(
        [1i64].as_slice(),
        false,
        Kind::Float,
    )
}
