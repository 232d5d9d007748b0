//! The exported networks in plain libtorch operations over tensors by name: what
//! becomes TorchScript, and how a file of tensors is read back.

use tch::Tensor;

use super::weights::Weights;
use crate::layers::{conv, pool, tiles};
use crate::setup_net::SETUP_FEATURES;

/// Policy logits `[B, 7936]` and value logits `[B, 3]` for planes `[B, 8, 8, 32]`.
pub(super) fn play(weights: &Weights, planes: &Tensor) -> Vec<Tensor> {
    play_watched(weights, planes, |_, _| ())
}

/// The same; `watch` is shown the map `[B, C, 8, 8]` that each convolution leaves,
/// behind its ReLU where it has one, and under `tower.I` what each block leaves.
pub(super) fn play_watched(
    weights: &Weights,
    planes: &Tensor,
    mut watch: impl FnMut(&str, &Tensor),
) -> Vec<Tensor> {
    let conv_of = |name: &str, x: &Tensor| {
        conv(x, &weights[&format!("{name}.weight")], Some(&weights[&format!("{name}.bias")]))
    };
    let mut watched = |name: &str, x: Tensor| {
        watch(name, &x);
        x
    };
    let stem = conv_of("stem", &planes.permute([0, 3, 1, 2])).relu();
    let mut map = watched("stem", stem);
    for block in 0..count(weights, "tower") {
        let name = |part: &str| format!("tower.{block}{part}");
        let inner = watched(&name(".first"), conv_of(&name(".first"), &map).relu());
        let outer = watched(&name(".second"), conv_of(&name(".second"), &inner));
        map = watched(&name(""), (outer + map).relu());
    }
    let mixed = watched("policy.mix", conv_of("policy.mix", &map).relu());
    let policy = linear(weights, "policy.out", &tiles(&mixed)).flatten(1, 2);
    let mixed = watched("value.mix", conv_of("value.mix", &map).relu());
    let pooled = pool(&mixed);
    let hidden = linear(weights, "value.hidden", &pooled).relu();
    vec![policy, linear(weights, "value.out", &hidden)]
}

/// Logits `[B, 11]` of the next token for features `[B, 529]` and steps i64 `[B]`.
pub(super) fn setup(weights: &Weights, features: &Tensor, step: &Tensor) -> Vec<Tensor> {
    let of_step = |name: &str| weights[name].index_select(0, step);
    // -1 for white and 1 for black.
    let seat = features.narrow(1, SETUP_FEATURES as i64 - 1, 1) * 2.0 - 1.0;
    let bias = of_step("step.bias") + &seat * of_step("seat.bias");
    let mut hidden = (linear(weights, "input", features) + bias).relu();
    for block in 0..count(weights, "blocks") {
        let inner = linear(weights, &format!("blocks.{block}.first"), &hidden).relu();
        hidden = &hidden + linear(weights, &format!("blocks.{block}.second"), &inner);
    }
    let bias = of_step("out.bias") + seat * of_step("out.seat_bias");
    vec![hidden.unsqueeze(1).bmm(&of_step("out.weight")).squeeze_dim(1) + bias]
}

fn linear(weights: &Weights, name: &str, x: &Tensor) -> Tensor {
    x.linear(&weights[&format!("{name}.weight")], Some(&weights[&format!("{name}.bias")]))
}

/// The number of blocks under a name.
pub(super) fn count(weights: &Weights, name: &str) -> usize {
    let is_there = |block: &usize| weights.contains_key(&format!("{name}.{block}.first.weight"));
    (0..).take_while(is_there).count()
}
