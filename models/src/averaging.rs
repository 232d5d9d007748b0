//! Exponential moving averages of weights.

use std::collections::BTreeMap;

use tch::Tensor;

/// Moves every tensor by `share` of its way to the one of the same name in
/// `targets`; 1 copies them.
///
/// # Panics
///
/// When a name is missing or a shape is another.
pub(crate) fn move_towards(
    tensors: BTreeMap<String, Tensor>,
    targets: &BTreeMap<String, Tensor>,
    share: f64,
) {
    tch::no_grad(|| {
        for (name, mut tensor) in tensors {
            let target = targets.get(&name).expect("networks of the same shape");
            let _ = if share == 1.0 {
                tensor.copy_(target);
                tensor
            } else {
                tensor.lerp_(target, share)
            };
        }
    });
}
