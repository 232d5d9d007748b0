//! Optimisers whose whole state can be saved, so that training resumes exactly
//! where it stopped: AdamW and SGD with momentum, as PyTorch defines them.

mod rules;
mod state;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tch::Tensor;

use rules::{Adam, Sgd};
pub use state::OptimizerState;

/// The rule by which weights change. The learning rate is given at each step.
///
/// Weight decay applies to weights of convolutions and linear maps; biases (of any
/// shape, by their names) and the parameters of batch normalisation (all vectors) do
/// not decay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum OptimizerConfig {
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
    AdamW {
        /// Decay rate of the mean of gradients, in [0, 1).
        beta1: f64,
        /// Decay rate of the mean of squared gradients, in [0, 1).
        beta2: f64,
        /// Added to the root of the second moment.
        epsilon: f64,
        /// A step multiplies weights by `1 - learning rate * weight_decay`.
        weight_decay: f64,
    },
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// Share of the last step's direction that is kept, in [0, 1).
        momentum: f64,
        /// Look ahead along the momentum (Nesterov).
        nesterov: bool,
        /// `weight_decay * weight` is added to the gradient.
        weight_decay: f64,
    },
}

/// Why an optimiser was not made or not restored.
#[derive(Debug, thiserror::Error)]
pub enum OptimizerError {
    /// A number in the configuration is outside its range.
    #[error("optimiser: {field} is {value}, expected {expected}")]
    Config {
        /// Name of the field.
        field: &'static str,
        /// What it is.
        value: f64,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The state is not of this optimiser.
    #[error("optimiser state: {what} is {found}, expected {expected}")]
    State {
        /// Metadata key or name of a tensor.
        what: String,
        /// What it is, or "missing".
        found: String,
        /// What it must be.
        expected: String,
    },
}

/// A weight with what the optimiser remembers of it.
#[derive(Debug)]
struct Slot {
    name: String,
    weight: Tensor,
    decays: bool,
    /// One tensor for each of [`OptimizerConfig::moments`].
    moments: Vec<Tensor>,
}

/// An optimiser over the named weights that it was made with.
#[derive(Debug)]
pub struct Optimizer {
    config: OptimizerConfig,
    slots: Vec<Slot>,
    steps: u64,
}

impl OptimizerConfig {
    /// Names of what is remembered of each weight.
    fn moments(&self) -> &'static [&'static str] {
        match self {
            Self::AdamW { .. } => &["mean", "square"],
            Self::Sgd { .. } => &["velocity"],
        }
    }

    /// Checks that every number is within its range.
    ///
    /// # Errors
    ///
    /// Names the first that is not.
    pub fn validate(&self) -> Result<(), OptimizerError> {
        match *self {
            Self::AdamW { beta1, beta2, epsilon, weight_decay } => {
                check_share("beta1", beta1)?;
                check_share("beta2", beta2)?;
                check_positive("epsilon", epsilon)?;
                check_not_negative("weight_decay", weight_decay)
            }
            Self::Sgd { momentum, weight_decay, .. } => {
                check_share("momentum", momentum)?;
                check_not_negative("weight_decay", weight_decay)
            }
        }
    }
}

impl Optimizer {
    /// An optimiser of `weights`, which it shares with the network, that has
    /// taken no step.
    ///
    /// # Errors
    ///
    /// When `config` is out of range.
    pub fn new(
        config: &OptimizerConfig,
        weights: BTreeMap<String, Tensor>,
    ) -> Result<Self, OptimizerError> {
        config.validate()?;
        let slot = |(name, weight): (String, Tensor)| Slot {
            decays: weight.dim() > 1 && !name.ends_with("bias"),
            name,
            moments: config.moments().iter().map(|_| weight.detach().zeros_like()).collect(),
            weight,
        };
        let slots = weights.into_iter().map(slot).collect();
        Ok(Self { config: config.clone(), slots, steps: 0 })
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Forgets all gradients. Call it before each backward pass.
    pub fn zero_grad(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.weight.zero_grad());
    }

    /// Norm of all gradients together, after which they are scaled down to
    /// `limit` if it is above. The norm is that before scaling; it is not
    /// finite if a gradient is not, and then nothing is scaled.
    pub fn clip_grad_norm(&mut self, limit: f64) -> f64 {
        let mut gradients: Vec<Tensor> = self.slots.iter().filter_map(gradient).collect();
        if gradients.is_empty() {
            return 0.0;
        }
        let norms: Vec<Tensor> = gradients.iter().map(Tensor::norm).collect();
        let norm = Tensor::stack(&norms, 0).norm().double_value(&[]);
        // As PyTorch scales, so that its numbers can be compared.
        let scale = limit / (norm + 1e-6);
        if norm.is_finite() && scale < 1.0 {
            gradients.iter_mut().for_each(|gradient| {
                let _ = gradient.g_mul_scalar_(scale);
            });
        }
        norm
    }

    /// Changes the weights once along their gradients. A weight without a
    /// gradient stays as it is.
    pub fn step(&mut self, learning_rate: f64) {
        self.steps += 1;
        let (config, steps) = (&self.config, self.steps);
        tch::no_grad(|| {
            for slot in &mut self.slots {
                let Some(gradient) = gradient(slot) else {
                    continue;
                };
                match *config {
                    OptimizerConfig::AdamW { beta1, beta2, epsilon, weight_decay } => {
                        let decay = if slot.decays { weight_decay } else { 0.0 };
                        let rule = Adam { beta1, beta2, epsilon, decay, steps };
                        rule.apply(slot, &gradient, learning_rate);
                    }
                    OptimizerConfig::Sgd { momentum, nesterov, weight_decay } => {
                        let decay = if slot.decays { weight_decay } else { 0.0 };
                        Sgd { momentum, nesterov, decay }.apply(slot, &gradient, learning_rate);
                    }
                }
            }
        });
    }
}

/// The gradient of a slot's weight, sharing its memory, if there is one.
fn gradient(slot: &Slot) -> Option<Tensor> {
    let gradient = slot.weight.grad();
    gradient.defined().then_some(gradient)
}

fn check_share(field: &'static str, value: f64) -> Result<(), OptimizerError> {
    check(field, value, (0.0..1.0).contains(&value), "at least 0 and under 1")
}

fn check_positive(field: &'static str, value: f64) -> Result<(), OptimizerError> {
    check(field, value, value.is_finite() && value > 0.0, "over 0")
}

fn check_not_negative(field: &'static str, value: f64) -> Result<(), OptimizerError> {
    check(field, value, value.is_finite() && value >= 0.0, "at least 0")
}

fn check(
    field: &'static str,
    value: f64,
    sound: bool,
    expected: &'static str,
) -> Result<(), OptimizerError> {
    if sound { Ok(()) } else { Err(OptimizerError::Config { field, value, expected }) }
}
