//! Evaluation by libtorch, on any device.

use tch::{Device, Kind, Tensor};

use super::Precision;
use super::folded::{Affine, Folded};
use crate::layers::{conv, pool, tiles};
use crate::net::{Outputs, as_map};

/// A network as tensors on one device.
#[derive(Debug)]
pub(super) struct LibtorchNet {
    pub(super) device: Device,
    kind: Kind,
    input_planes: usize,
    stem: Layer,
    tower: Vec<[Layer; 2]>,
    policy_mix: Layer,
    policy_out: Layer,
    value_mix: Layer,
    value_hidden: Layer,
    value_out: Layer,
}

#[derive(Debug)]
struct Layer {
    weight: Tensor,
    bias: Tensor,
}

impl Layer {
    fn new(layer: &Affine, device: Device, kind: Kind) -> Self {
        let shape = [layer.outputs, layer.inputs, layer.kernel, layer.kernel].map(|n| n as i64);
        Self {
            weight: Tensor::from_slice(&layer.weight)
                .reshape(shape)
                .to_device(device)
                .to_kind(kind),
            bias: Tensor::from_slice(&layer.bias).to_device(device).to_kind(kind),
        }
    }

    fn share(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }

    fn conv(&self, x: &Tensor) -> Tensor {
        conv(x, &self.weight, Some(&self.bias))
    }

    fn linear(&self, x: &Tensor) -> Tensor {
        x.linear(&self.weight.flatten(1, 3), Some(&self.bias))
    }
}

impl LibtorchNet {
    pub(super) fn new(net: &Folded, device: Device, precision: Precision) -> Self {
        let kind = match precision {
            Precision::Single => Kind::Float,
            Precision::Half => Kind::Half,
        };
        let layer = |layer| Layer::new(layer, device, kind);
        Self {
            device,
            kind,
            input_planes: net.stem.inputs,
            stem: layer(&net.stem),
            tower: net.tower.iter().map(|[a, b]| [layer(a), layer(b)]).collect(),
            policy_mix: layer(&net.policy_mix),
            policy_out: layer(&net.policy_out),
            value_mix: layer(&net.value_mix),
            value_hidden: layer(&net.value_hidden),
            value_out: layer(&net.value_out),
        }
    }

    /// The same network for another thread; the weights are not copied, and
    /// nothing ever changes them.
    pub(super) fn share(&self) -> Self {
        Self {
            device: self.device,
            kind: self.kind,
            input_planes: self.input_planes,
            stem: self.stem.share(),
            tower: self.tower.iter().map(|block| block.each_ref().map(Layer::share)).collect(),
            policy_mix: self.policy_mix.share(),
            policy_out: self.policy_out.share(),
            value_mix: self.value_mix.share(),
            value_hidden: self.value_hidden.share(),
            value_out: self.value_out.share(),
        }
    }

    pub(super) fn forward(&self, planes: &Tensor) -> Outputs {
        tch::no_grad(|| {
            let planes = as_map(planes, self.input_planes).to_kind(self.kind);
            let mut map = self.stem.conv(&planes).relu_();
            for [first, second] in &self.tower {
                let mut inner = second.conv(&first.conv(&map).relu_());
                map = inner.g_add_(&map).relu_();
            }
            let mixed = self.policy_mix.conv(&map).relu_();
            let policy = self.policy_out.linear(&tiles(&mixed)).flatten(1, 2);
            let pooled = pool(&self.value_mix.conv(&map).relu_());
            let value = self.value_out.linear(&self.value_hidden.linear(&pooled).relu_());
            Outputs { policy: policy.to_kind(Kind::Float), value: value.to_kind(Kind::Float) }
        })
    }
}
