//! Initial weights, drawn from a generator of our own: the same seed gives the
//! same network on every machine, whatever else libtorch's global generator
//! is used for.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Tensor};

/// Draws initial weights in the order in which layers are built.
pub(crate) struct Initializer {
    rng: ChaCha8Rng,
    device: Device,
}

impl Initializer {
    pub(crate) fn new(seed: u64, device: Device) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), device }
    }

    /// Uniform with the variance that keeps the size of activations through a
    /// layer followed by ReLU (He et al. 2015): `2 / inputs` of one output.
    pub(crate) fn he_uniform(&mut self, shape: &[i64]) -> Tensor {
        let inputs: i64 = shape.iter().skip(1).product();
        self.uniform(shape, (2.0 / inputs as f64).sqrt())
    }

    /// Uniform around zero with standard deviation `std`.
    pub(crate) fn uniform(&mut self, shape: &[i64], std: f64) -> Tensor {
        let bound = (3.0f64.sqrt() * std) as f32;
        let count: i64 = shape.iter().product();
        let values: Vec<f32> =
            (0..count).map(|_| (2.0 * self.rng.random::<f32>() - 1.0) * bound).collect();
        Tensor::from_slice(&values).reshape(shape).to_device(self.device)
    }

    /// The same value everywhere.
    pub(crate) fn constant(&self, shape: &[i64], value: f64) -> Tensor {
        Tensor::full(shape, value, (tch::Kind::Float, self.device))
    }
}
