//! Losses, one value a position. The caller weights and averages them, and
//! looks for values that are not finite.

use tch::{Kind, Reduction, Tensor};

/// Stands for minus infinity where nothing may become NaN.
const NEVER: f64 = -1e30;

/// Plies that are 1 among the numbers of the moves-left head.
pub const MOVES_LEFT_SCALE: f64 = 20.0;

/// The error of the moves-left head, in plies, up to which the loss is quadratic.
const MOVES_LEFT_QUADRATIC: f64 = 10.0;

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

/// Huber loss of the moves-left head: long games, whose length nobody can tell, pull
/// no harder the longer they are. Loss and scale are those of Leela Chess Zero's
/// training (`lczero-training`, `moves_left_loss`).
///
/// * `outputs`: f32 `[B]`, in units of [`MOVES_LEFT_SCALE`] plies;
/// * `plies`: f32 `[B]`, plies that the game went on.
///
/// Returns f32 `[B]`.
pub fn moves_left_loss(outputs: &Tensor, plies: &Tensor) -> Tensor {
    let target = plies / MOVES_LEFT_SCALE;
    outputs.huber_loss(&target, Reduction::None, MOVES_LEFT_QUADRATIC / MOVES_LEFT_SCALE)
}

/// Cross-entropy of the opponent's reply, over all actions of the encoding: which of
/// them will be legal then is a part of the question (Wu 2019, "Accelerating self-play
/// learning in Go", section 3.4).
///
/// * `logits`: f32 `[B, N]`, one logit for each action of the encoding;
/// * `actions`: i64 `[B, A]`, indices of the target's actions, padded with -1;
/// * `shares`: f32 `[B, A]`, the target's share of the action in the same place, 0 in
///   padding. A row sums to 1, or is all 0 where no reply is known.
///
/// Returns f32 `[B]` in nats; 0 for a row without a reply.
pub fn reply_loss(logits: &Tensor, actions: &Tensor, shares: &Tensor) -> Tensor {
    let log_probabilities =
        logits.log_softmax(1, Kind::Float).gather(1, &actions.clamp_min(0), false);
    -(shares * log_probabilities).sum_dim_intlist([1i64].as_slice(), false, Kind::Float)
}
