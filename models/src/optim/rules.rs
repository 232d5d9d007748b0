//! The arithmetic of one step on one weight.

use tch::Tensor;

use super::Slot;

/// One step of AdamW on one weight.
pub(super) struct Adam {
    pub(super) beta1: f64,
    pub(super) beta2: f64,
    pub(super) epsilon: f64,
    pub(super) decay: f64,
    pub(super) steps: u64,
}

impl Adam {
    pub(super) fn apply(&self, slot: &mut Slot, gradient: &Tensor, learning_rate: f64) {
        let [mean, square] = &mut slot.moments[..] else { unreachable!("two moments") };
        let _ = slot.weight.g_mul_scalar_(1.0 - learning_rate * self.decay);
        let _ = mean.g_mul_scalar_(self.beta1);
        let _ = mean.g_add_(&(gradient * (1.0 - self.beta1)));
        let _ = square.g_mul_scalar_(self.beta2);
        let _ = square.g_add_(&(gradient.square() * (1.0 - self.beta2)));
        // Both moments start at zero; these undo the bias of that.
        let mean_share = 1.0 - self.beta1.powf(self.steps as f64);
        let square_share = 1.0 - self.beta2.powf(self.steps as f64);
        let root = square.sqrt() / square_share.sqrt() + self.epsilon;
        let _ = slot.weight.g_sub_(&(&*mean / root * (learning_rate / mean_share)));
    }
}

/// One step of SGD on one weight.
pub(super) struct Sgd {
    pub(super) momentum: f64,
    pub(super) nesterov: bool,
    pub(super) decay: f64,
}

impl Sgd {
    pub(super) fn apply(&self, slot: &mut Slot, gradient: &Tensor, learning_rate: f64) {
        let [velocity] = &mut slot.moments[..] else { unreachable!("one moment") };
        let gradient = gradient + &slot.weight * self.decay;
        // From zero, the first step's velocity is the gradient, as in PyTorch.
        let _ = velocity.g_mul_scalar_(self.momentum);
        let _ = velocity.g_add_(&gradient);
        let direction = match self.nesterov {
            true => gradient + &*velocity * self.momentum,
            false => velocity.shallow_clone(),
        };
        let _ = slot.weight.g_sub_(&(direction * learning_rate));
    }
}
