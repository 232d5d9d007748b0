//! The network that builds homelands: a distribution over all legal setups.
//!
//! A setup is filled in token by token in the order of
//! [`SetupBuilder`](cyvasse_env::SetupBuilder), 32 tiles and then 32 units, and
//! each token's probability depends on those before it and on the seat. So the
//! log-probability of a setup is exact, a sum over its 64 tokens. What is legal
//! comes from the builder alone, and the network's outputs are added to the
//! logarithms of the builder's uniform probabilities: a network whose outputs
//! are 0 samples all legal setups uniformly, under any rules.
//!
//! Nothing of the opponent's half is ever an input: there is no place for it.
//!
//! The game is the same in the mirror, so a homeland may be mirrored left to right by
//! the toss of a coin once it is built ([`SetupNetConfig::mirror`]). Whoever faces it
//! can then be no surer of a flank than that, whatever the network has learned, and
//! it has one flank to learn where there would be two.

mod batch;
mod sample;

use std::collections::BTreeMap;

use cyvasse_env::SetupBuilder;
use serde::{Deserialize, Serialize};
use tch::nn::VarStore;
use tch::{Device, Kind, Tensor};

pub use batch::{SETUP_ENCODING_VERSION, SETUP_FEATURES, SetupBatch, encode_prefix};
pub use sample::{SampledSetup, SetupNetError};

use crate::averaging::move_towards;
use crate::config::ConfigError;
use crate::init::Initializer;
use crate::layers::Linear;

/// Steps to a setup.
const STEPS: i64 = SetupBuilder::STEPS as i64;

/// Tokens at a step; at the first 32 only the first 5 are ever legal.
const TOKENS: i64 = SetupBuilder::UNIT_TOKENS as i64;

/// The widest network that is accepted from a file.
const MAX_WIDTH: usize = 4096;

/// The most blocks that are accepted from a file.
const MAX_BLOCKS: usize = 64;

/// The most weights in the blocks that are accepted from a file, 1 GiB of them.
const MAX_BLOCK_WEIGHTS: usize = 1 << 28;

/// Shape of a setup network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupNetConfig {
    /// [`SETUP_ENCODING_VERSION`] of the inputs that it was made for.
    pub encoding: u32,
    /// Width of the hidden layers.
    pub width: usize,
    /// Residual blocks of two linear layers each.
    pub blocks: usize,
    /// Whether a homeland is mirrored left to right in half of the cases, once it is
    /// built. Networks that were saved before there was a choice are not.
    #[serde(default)]
    pub mirror: bool,
}

impl SetupNetConfig {
    /// Checks that every field is within its bounds.
    ///
    /// # Errors
    ///
    /// Names the first field that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let check = |field, value: usize, expected: String, holds| {
            if holds {
                Ok(())
            } else {
                Err(ConfigError { field, value: value.to_string(), expected })
            }
        };
        let version = SETUP_ENCODING_VERSION;
        check(
            "encoding",
            self.encoding as usize,
            format!("{version}, the encoding of this program"),
            self.encoding == version,
        )?;
        let within = (1..=MAX_WIDTH).contains(&self.width);
        check("width", self.width, format!("a whole number from 1 to {MAX_WIDTH}"), within)?;
        let within = self.blocks <= MAX_BLOCKS;
        check("blocks", self.blocks, format!("a whole number from 0 to {MAX_BLOCKS}"), within)?;
        let weights = 2 * self.blocks * self.width * self.width;
        let expected = format!("blocks of at most {MAX_BLOCK_WEIGHTS} weights, not {weights}");
        check("blocks", self.blocks, expected, weights <= MAX_BLOCK_WEIGHTS)
    }
}

/// A trainable setup network: a multilayer perceptron with residual blocks over
/// what has been placed, whose first biases and last layer are those of the step.
/// Biases are those of the seat too: the two seats may want opposite things, and
/// what one learns must not unteach the other.
#[derive(Debug)]
pub struct SetupNet {
    config: SetupNetConfig,
    variables: VarStore,
    input: Linear,
    /// `[64, width]`: added to the first layer's outputs at each step.
    step_bias: Tensor,
    /// `[64, width]`: added for black there, and subtracted for white.
    seat_bias: Tensor,
    blocks: Vec<[Linear; 2]>,
    /// `[64, width, 11]`, for each step.
    out_weight: Tensor,
    /// `[64, 1, 11]`.
    out_bias: Tensor,
    /// `[64, 1, 11]`: added for black, and subtracted for white.
    seat_out_bias: Tensor,
}

impl SetupNet {
    /// Builds a network with initial weights drawn from `seed`. The outputs of a
    /// new network are 0: it samples uniformly.
    ///
    /// # Errors
    ///
    /// When `config` is outside its bounds.
    pub fn new(config: &SetupNetConfig, seed: u64, device: Device) -> Result<Self, ConfigError> {
        config.validate()?;
        let variables = VarStore::new(device);
        let mut init = Initializer::new(seed, device);
        let root = variables.root();
        let width = config.width as i64;
        // Few inputs are not 0: a smaller fan-in than the layer's own.
        let input = init.uniform(&[width, SETUP_FEATURES as i64], (1.0 / 32.0f64).sqrt());
        let out = &root / "out";
        Ok(Self {
            input: Linear::new(&(&root / "input"), input, &init),
            step_bias: (&root / "step").add("bias", init.uniform(&[STEPS, width], 0.5), true),
            seat_bias: (&root / "seat").add("bias", init.uniform(&[STEPS, width], 0.5), true),
            blocks: (0..config.blocks)
                .map(|block| {
                    let path = &root / "blocks" / block;
                    let first = init.he_uniform(&[width, width]);
                    let second = init.constant(&[width, width], 0.0);
                    [
                        Linear::new(&(&path / "first"), first, &init),
                        Linear::new(&(&path / "second"), second, &init),
                    ]
                })
                .collect(),
            out_weight: out.add("weight", init.constant(&[STEPS, width, TOKENS], 0.0), true),
            out_bias: out.add("bias", init.constant(&[STEPS, 1, TOKENS], 0.0), true),
            seat_out_bias: out.add("seat_bias", init.constant(&[STEPS, 1, TOKENS], 0.0), true),
            config: config.clone(),
            variables,
        })
    }

    /// The architecture.
    pub fn config(&self) -> &SetupNetConfig {
        &self.config
    }

    /// Where the variables lie.
    pub fn device(&self) -> Device {
        self.variables.device()
    }

    /// Every variable by its name; all are trainable. The tensors share the
    /// network's memory.
    pub fn variables(&self) -> BTreeMap<String, Tensor> {
        self.variables.variables().into_iter().collect()
    }

    /// A network with the same weights, which goes its own way.
    pub fn copy(&self) -> Self {
        let copy = Self::new(&self.config, 0, self.device()).expect("the configuration is valid");
        copy.move_towards(self, 1.0);
        copy
    }

    /// Moves every weight by `share` of its way to the one of `other`, as an
    /// exponential moving average does.
    ///
    /// # Panics
    ///
    /// When the networks are of different shapes.
    pub fn move_towards(&self, other: &Self, share: f64) {
        move_towards(self.variables(), &other.variables(), share);
    }

    /// Log-probabilities f32 `[64, N, 11]` of each token after each prefix of the
    /// batch's setups, with gradients; very negative where a token is not legal. They
    /// are those of building, before any mirroring.
    pub fn log_probabilities(&self, batch: &SetupBatch) -> Tensor {
        let outputs = self.outputs(&batch.features, 0);
        (outputs + &batch.base).log_softmax(-1, Kind::Float)
    }

    /// Outputs `[S, N, 11]` for features `[S, N, SETUP_FEATURES]` of the steps
    /// from `first` on.
    fn outputs(&self, features: &Tensor, first: i64) -> Tensor {
        let steps = features.size()[0];
        let of_steps = |tensor: &Tensor| tensor.narrow(0, first, steps);
        // The last feature is the seat: -1 for white and 1 for black here.
        let seat = features.narrow(2, SETUP_FEATURES as i64 - 1, 1) * 2.0 - 1.0;
        let bias = of_steps(&self.step_bias).unsqueeze(1);
        let seat_bias = of_steps(&self.seat_bias).unsqueeze(1);
        let mut hidden = (self.input.forward(features) + bias + &seat * seat_bias).relu();
        for [inner, outer] in &self.blocks {
            hidden = &hidden + outer.forward(&inner.forward(&hidden).relu());
        }
        let bias = of_steps(&self.out_bias) + seat * of_steps(&self.seat_out_bias);
        hidden.bmm(&of_steps(&self.out_weight)) + bias
    }
}
