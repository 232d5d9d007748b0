//! What is exported of a network: tensors by name, the same names in every
//! format, f32 on the CPU.

use std::collections::BTreeMap;

use tch::{Device, Kind, Tensor};

use crate::inference::folded::{Affine, Folded};
use crate::net::Net;
use crate::setup_net::SetupNet;

/// Tensors by name.
pub(super) type Weights = BTreeMap<String, Tensor>;

/// A play network's convolutions and linear maps, `NAME.weight` and `NAME.bias`
/// each, batch normalisation folded into them:
///
/// | name                               | shape of the weight          |
/// |------------------------------------|------------------------------|
/// | `stem`                             | `[channels, 32, 3, 3]`       |
/// | `tower.I.first`, `tower.I.second`  | `[channels, channels, 3, 3]` |
/// | `policy.mix`, `value.mix`          | `[.., channels, 1, 1]`       |
/// | `policy.out`                       | `[124, policy_channels]`     |
/// | `value.hidden`, `value.out`        | `[outputs, inputs]`          |
pub(super) fn of_play_net(net: &Net) -> Weights {
    let folded = Folded::new(net);
    let mut weights = Weights::new();
    let mut conv = |name: &str, layer: &Affine| add(&mut weights, name, layer, false);
    conv("stem", &folded.stem);
    for (block, [first, second]) in folded.tower.iter().enumerate() {
        conv(&format!("tower.{block}.first"), first);
        conv(&format!("tower.{block}.second"), second);
    }
    conv("policy.mix", &folded.policy_mix);
    conv("value.mix", &folded.value_mix);
    let linear = [
        ("policy.out", &folded.policy_out),
        ("value.hidden", &folded.value_hidden),
        ("value.out", &folded.value_out),
    ];
    for (name, layer) in linear {
        add(&mut weights, name, layer, true);
    }
    weights
}

fn add(weights: &mut Weights, name: &str, layer: &Affine, linear: bool) {
    let [outputs, inputs, kernel] = [layer.outputs, layer.inputs, layer.kernel].map(|n| n as i64);
    let shape = if linear { vec![outputs, inputs] } else { vec![outputs, inputs, kernel, kernel] };
    let weight = Tensor::from_slice(&layer.weight).reshape(shape);
    weights.insert(format!("{name}.weight"), weight);
    weights.insert(format!("{name}.bias"), Tensor::from_slice(&layer.bias));
}

/// A setup network's tensors by the names of its checkpoint; the biases of its
/// outputs as `[64, 11]`.
pub(super) fn of_setup_net(net: &SetupNet) -> Weights {
    let flat = |(name, tensor): (String, Tensor)| {
        let tensor = tensor.detach().to_device(Device::Cpu).to_kind(Kind::Float);
        let bias_of_outputs = name == "out.bias" || name == "out.seat_bias";
        let tensor = if bias_of_outputs { tensor.squeeze_dim(1) } else { tensor };
        (name, tensor.contiguous())
    };
    net.variables().into_iter().map(flat).collect()
}
