//! Small networks and comparisons that several tests share.

use std::path::PathBuf;

use cyvasse_models::{Net, NetConfig, TensorFile};
use tch::{Device, Kind, Tensor};

/// A network that is small enough to train in a moment.
pub(crate) fn small_config() -> NetConfig {
    NetConfig {
        input_planes: 6,
        policy_planes: 5,
        blocks: 2,
        channels: 8,
        policy_channels: 4,
        value_channels: 3,
        value_hidden: 7,
        batch_norm_epsilon: 1e-5,
        batch_norm_momentum: 0.1,
        output_init_std: 0.01,
    }
}

pub(crate) fn small_net(seed: u64) -> Net {
    Net::new(&small_config(), seed, Device::Cpu).unwrap()
}

/// Reads a file of `tests/data`.
pub(crate) fn data(name: &str) -> TensorFile {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    TensorFile::load(&path).unwrap()
}

/// The largest difference of two tensors of the same shape.
pub(crate) fn difference(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.size(), b.size());
    if a.numel() == 0 {
        return 0.0;
    }
    (a - b).abs().max().to_kind(Kind::Double).double_value(&[])
}

pub(crate) fn assert_close(name: &str, found: &Tensor, expected: &Tensor, tolerance: f64) {
    let difference = difference(found, expected);
    assert!(difference <= tolerance, "{name} differs by {difference:e}, allowed {tolerance:e}");
}

/// Reproducible values in [-1, 1) without libtorch's global generator.
pub(crate) fn noise(shape: &[i64], seed: u64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let count: i64 = shape.iter().product();
    let values: Vec<f32> = (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect();
    Tensor::from_slice(&values).reshape(shape)
}

/// Moves every weight and every statistic of `net` away from its first value,
/// as training does.
pub(crate) fn disturb(net: &Net, seed: u64) {
    tch::no_grad(|| {
        for (i, (name, mut tensor)) in net.variables().into_iter().enumerate() {
            let noise = noise(&tensor.size(), seed * 1000 + i as u64);
            if name.ends_with("running_var") || name.ends_with("norm.weight") {
                tensor.copy_(&(noise * 0.4 + 1.0));
            } else if name.ends_with("out.weight") {
                tensor.copy_(&(noise * 0.5));
            } else if tensor.dim() == 1 {
                tensor.copy_(&(noise * 0.3));
            }
        }
    });
}
