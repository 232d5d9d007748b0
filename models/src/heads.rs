//! The heads that read the tower's last map. A further one (moves left, say)
//! is a struct here, a field of [`crate::net::Net`] and one of its outputs.

use tch::Tensor;
use tch::nn::Path;

use crate::config::{NetConfig, OUTCOMES};
use crate::init::Initializer;
use crate::layers::{ConvNorm, ConvNormShape, Linear, Mode, pool, tiles};

/// Logits of every action with its own from-square.
#[derive(Debug)]
pub(crate) struct PolicyHead {
    pub(crate) mix: ConvNorm,
    pub(crate) out: Linear,
}

impl PolicyHead {
    pub(crate) fn new(path: &Path, net: &NetConfig, init: &mut Initializer) -> Self {
        let mix = one_by_one(net.channels, net.policy_channels);
        let shape = [net.policy_planes as i64, net.policy_channels as i64];
        Self {
            mix: ConvNorm::new(&(path / "mix"), &mix, net, init),
            out: Linear::new(&(path / "out"), init.uniform(&shape, net.output_init_std), init),
        }
    }

    /// `[B, channels, 8, 8]` to logits `[B, 64 * policy_planes]`, the one of
    /// (from-square, plane) at `from_square * policy_planes + plane`.
    pub(crate) fn forward(&self, trunk: &Tensor, mode: Mode) -> Tensor {
        let mixed = self.mix.forward(trunk, mode).relu();
        self.out.forward(&tiles(&mixed)).flatten(1, 2)
    }
}

/// Logits of the game's outcome.
#[derive(Debug)]
pub(crate) struct ValueHead {
    pub(crate) mix: ConvNorm,
    pub(crate) hidden: Linear,
    pub(crate) out: Linear,
}

impl ValueHead {
    pub(crate) fn new(path: &Path, net: &NetConfig, init: &mut Initializer) -> Self {
        let mix = one_by_one(net.channels, net.value_channels);
        let hidden = [net.value_hidden as i64, 2 * net.value_channels as i64];
        let out = [OUTCOMES as i64, net.value_hidden as i64];
        Self {
            mix: ConvNorm::new(&(path / "mix"), &mix, net, init),
            hidden: Linear::new(&(path / "hidden"), init.he_uniform(&hidden), init),
            out: Linear::new(&(path / "out"), init.uniform(&out, net.output_init_std), init),
        }
    }

    /// `[B, channels, 8, 8]` to logits `[B, 3]`: win, draw, loss of the mover.
    pub(crate) fn forward(&self, trunk: &Tensor, mode: Mode) -> Tensor {
        let mixed = self.mix.forward(trunk, mode).relu();
        self.out.forward(&self.hidden.forward(&pool(&mixed)).relu())
    }
}

fn one_by_one(inputs: usize, outputs: usize) -> ConvNormShape {
    ConvNormShape { inputs, outputs, kernel: 1, initial_scale: 1.0 }
}
