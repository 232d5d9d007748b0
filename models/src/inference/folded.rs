//! A network's weights with batch normalisation folded into the convolutions.

use tch::{Device, Kind, Tensor};

use crate::layers::{ConvNorm, Linear};
use crate::net::Net;

/// Weights and bias of a convolution or a linear map, on the CPU.
#[derive(Debug)]
pub(crate) struct Affine {
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
    /// Side of the kernel; 1 for a linear map.
    pub(crate) kernel: usize,
    /// `[outputs, inputs, kernel, kernel]`.
    pub(crate) weight: Vec<f32>,
    /// `[outputs]`.
    pub(crate) bias: Vec<f32>,
}

/// All layers of a network.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) stem: Affine,
    /// First and second convolution of each block.
    pub(crate) tower: Vec<[Affine; 2]>,
    pub(crate) policy_mix: Affine,
    pub(crate) policy_out: Affine,
    pub(crate) value_mix: Affine,
    pub(crate) value_hidden: Affine,
    pub(crate) value_out: Affine,
}

impl Folded {
    pub(crate) fn new(net: &Net) -> Self {
        tch::no_grad(|| Self {
            stem: fold(&net.stem),
            tower: net.tower.iter().map(|b| [fold(&b.first), fold(&b.second)]).collect(),
            policy_mix: fold(&net.policy.mix),
            policy_out: copy(&net.policy.out),
            value_mix: fold(&net.value.mix),
            value_hidden: copy(&net.value.hidden),
            value_out: copy(&net.value.out),
        })
    }
}

/// A convolution that does what `layer` does with its running statistics.
/// Folded in f64: it costs nothing and rounds once.
fn fold(layer: &ConvNorm) -> Affine {
    let double = |tensor: &Tensor| tensor.to_device(Device::Cpu).to_kind(Kind::Double);
    let factor = double(&layer.scale) / (double(&layer.running_var) + layer.epsilon).sqrt();
    let bias = double(&layer.shift) - double(&layer.running_mean) * &factor;
    affine(&(double(&layer.weight) * factor.view([-1, 1, 1, 1])), &bias)
}

fn copy(layer: &Linear) -> Affine {
    affine(&layer.weight.unsqueeze(2).unsqueeze(3), &layer.bias)
}

fn affine(weight: &Tensor, bias: &Tensor) -> Affine {
    let (outputs, inputs, kernel, _) = weight.size4().expect("a convolution's weights");
    Affine {
        outputs: outputs as usize,
        inputs: inputs as usize,
        kernel: kernel as usize,
        weight: values(weight),
        bias: values(bias),
    }
}

/// The values of a tensor in the order of its indices.
pub(crate) fn values(tensor: &Tensor) -> Vec<f32> {
    let flat = tensor.to_device(Device::Cpu).to_kind(Kind::Float).contiguous().view(-1);
    Vec::try_from(flat).expect("f32 on the CPU")
}
