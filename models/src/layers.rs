//! The layers that a network is made of: each owns its variables and computes
//! forward. Feature maps are `[B, C, 8, 8]` in channels-last memory, of f32 or, in
//! training, bfloat16: a layer casts its weights to the kind of what it is given.

use tch::Tensor;
use tch::nn::Path;

use crate::config::NetConfig;
use crate::init::Initializer;

/// Which statistics batch normalisation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The batch's own, and the running ones are moved towards them.
    Train,
    /// The running ones, which stay as they are.
    Eval,
}

/// A square convolution without bias, then batch normalisation.
#[derive(Debug)]
pub(crate) struct ConvNorm {
    pub(crate) weight: Tensor,
    pub(crate) scale: Tensor,
    pub(crate) shift: Tensor,
    pub(crate) running_mean: Tensor,
    pub(crate) running_var: Tensor,
    pub(crate) epsilon: f64,
    momentum: f64,
}

/// How a [`ConvNorm`] is built.
pub(crate) struct ConvNormShape {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// 1 or 3; the map keeps its size.
    pub(crate) kernel: i64,
    /// First value of the normalisation's scale.
    pub(crate) initial_scale: f64,
}

impl ConvNorm {
    pub(crate) fn new(
        path: &Path,
        shape: &ConvNormShape,
        net: &NetConfig,
        init: &mut Initializer,
    ) -> Self {
        let channels = shape.outputs as i64;
        let weight_shape = [channels, shape.inputs as i64, shape.kernel, shape.kernel];
        let (conv, norm) = (path / "conv", path / "norm");
        Self {
            weight: conv.add("weight", init.he_uniform(&weight_shape), true),
            scale: norm.add("weight", init.constant(&[channels], shape.initial_scale), true),
            shift: norm.add("bias", init.constant(&[channels], 0.0), true),
            running_mean: norm.add("running_mean", init.constant(&[channels], 0.0), false),
            running_var: norm.add("running_var", init.constant(&[channels], 1.0), false),
            epsilon: net.batch_norm_epsilon,
            momentum: net.batch_norm_momentum,
        }
    }

    /// `[B, inputs, 8, 8]` to `[B, outputs, 8, 8]`.
    pub(crate) fn forward(&self, x: &Tensor, mode: Mode) -> Tensor {
        // Statistics, scale and shift are f32 whatever the kind of the map.
        conv(x, &self.weight.to_kind(x.kind()), None).batch_norm(
            Some(&self.scale),
            Some(&self.shift),
            Some(&self.running_mean),
            Some(&self.running_var),
            mode == Mode::Train,
            self.momentum,
            self.epsilon,
            true,
        )
    }
}

/// A linear map of the features, with bias.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) weight: Tensor,
    pub(crate) bias: Tensor,
}

impl Linear {
    /// `weight` is `[outputs, inputs]`; the bias starts at zero.
    pub(crate) fn new(path: &Path, weight: Tensor, init: &Initializer) -> Self {
        let outputs = weight.size()[0];
        Self {
            weight: path.add("weight", weight, true),
            bias: path.add("bias", init.constant(&[outputs], 0.0), true),
        }
    }

    /// `[.., inputs]` to `[.., outputs]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Tensor {
        // A cast to the kind that a tensor has is no operation.
        let kind = x.kind();
        x.linear(&self.weight.to_kind(kind), Some(&self.bias.to_kind(kind)))
    }
}

/// Two 3x3 convolutions around a skip connection, ReLU after the sum.
///
/// Normalisation directly follows each convolution, so both fold into the
/// convolutions for inference. The second one's scale starts at zero: a new
/// block passes its input on unchanged.
#[derive(Debug)]
pub(crate) struct ResidualBlock {
    pub(crate) first: ConvNorm,
    pub(crate) second: ConvNorm,
}

impl ResidualBlock {
    pub(crate) fn new(path: &Path, net: &NetConfig, init: &mut Initializer) -> Self {
        let shape = |initial_scale| ConvNormShape {
            inputs: net.channels,
            outputs: net.channels,
            kernel: 3,
            initial_scale,
        };
        Self {
            first: ConvNorm::new(&(path / "first"), &shape(1.0), net, init),
            second: ConvNorm::new(&(path / "second"), &shape(0.0), net, init),
        }
    }

    pub(crate) fn forward(&self, x: &Tensor, mode: Mode) -> Tensor {
        let inner = self.first.forward(x, mode).relu();
        (self.second.forward(&inner, mode) + x).relu()
    }
}

/// Convolution that keeps the map's size; `weight` is `[out, in, k, k]`, k odd.
pub(crate) fn conv(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Tensor {
    let padding = weight.size()[3] / 2;
    x.conv2d(weight, bias, 1, padding, 1, 1)
}

/// Mean and maximum of each channel over the board: `[B, C, 8, 8]` to `[B, 2C]`,
/// means first.
pub(crate) fn pool(x: &Tensor) -> Tensor {
    let mean = x.mean_dim([2i64, 3].as_slice(), false, None);
    let max = x.amax([2i64, 3].as_slice(), false);
    Tensor::cat(&[mean, max], 1)
}

/// `[B, C, 8, 8]` to `[B, 64, C]`; a view if `x` is channels-last.
pub(crate) fn tiles(x: &Tensor) -> Tensor {
    x.permute([0, 2, 3, 1]).flatten(1, 2)
}
