//! The architecture of a network as data: everything that changes what a
//! network computes is a field here, and nothing has a default.

use serde::{Deserialize, Serialize};
use tch::Kind;

/// Side of the board in tiles; the spatial size of every feature map.
pub const BOARD_SIDE: usize = 8;

/// Tiles on the board.
pub const TILES: usize = BOARD_SIDE * BOARD_SIDE;

/// Outcomes that the value head tells apart: win, draw, loss of the mover.
pub const OUTCOMES: usize = 3;

/// Largest value that is accepted for a count in [`NetConfig`]. It keeps a
/// damaged or hostile file from asking for more memory than there is.
const MAX_COUNT: usize = 4096;

/// Largest number of weights in the tower, 1 GiB of them, for the same reason.
const MAX_TOWER_WEIGHTS: usize = 1 << 28;

/// Shape of a residual network with a policy head and a value head.
///
/// `input_planes` and `policy_planes` are given by the encoding of positions
/// and of actions; the rest is free to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetConfig {
    /// Planes of an encoded position (features of one tile).
    pub input_planes: usize,
    /// Actions with the same from-square, one logit each.
    pub policy_planes: usize,
    /// Residual blocks of two 3x3 convolutions each; 0 leaves only the stem.
    pub blocks: usize,
    /// Channels of the stem and of every block.
    pub channels: usize,
    /// Channels between the two 1x1 convolutions of the policy head.
    pub policy_channels: usize,
    /// Channels that the value head pools over the board.
    pub value_channels: usize,
    /// Width of the value head's hidden layer.
    pub value_hidden: usize,
    /// Added to the variance in batch normalisation.
    pub batch_norm_epsilon: f64,
    /// Share of the newest batch in the running mean and variance.
    pub batch_norm_momentum: f64,
    /// Standard deviation of the initial weights of both output layers. Small:
    /// an untrained network's policy and value are then near uniform.
    pub output_init_std: f64,
}

/// The numbers that a training step multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingPrecision {
    /// f32 throughout.
    Single,
    /// bfloat16 in convolutions and linear maps, forward and backward. Weights,
    /// their gradients, the statistics of batch normalisation and losses stay f32;
    /// bfloat16 has the range of f32, so that no loss needs scaling (Kalamkar et al.
    /// 2019, "A study of BFLOAT16 for deep learning training").
    Bfloat16,
}

impl TrainingPrecision {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Single => Kind::Float,
            Self::Bfloat16 => Kind::BFloat16,
        }
    }
}

/// A [`NetConfig`] that describes no network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("network configuration: {field} is {value}, expected {expected}")]
pub struct ConfigError {
    /// Name of the field at fault.
    pub field: &'static str,
    /// What it was.
    pub value: String,
    /// What would be accepted.
    pub expected: String,
}

impl NetConfig {
    /// Checks that every field is within its bounds.
    ///
    /// # Errors
    ///
    /// Names the first field that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_count("input_planes", self.input_planes, 1)?;
        check_count("policy_planes", self.policy_planes, 1)?;
        check_count("blocks", self.blocks, 0)?;
        check_count("channels", self.channels, 1)?;
        check_count("policy_channels", self.policy_channels, 1)?;
        check_count("value_channels", self.value_channels, 1)?;
        check_count("value_hidden", self.value_hidden, 1)?;
        let tower = 2 * 9 * self.blocks * self.channels * self.channels;
        if tower > MAX_TOWER_WEIGHTS {
            return Err(ConfigError {
                field: "blocks",
                value: self.blocks.to_string(),
                expected: format!("a tower of at most {MAX_TOWER_WEIGHTS} weights, not {tower}"),
            });
        }
        check_share("batch_norm_epsilon", self.batch_norm_epsilon)?;
        check_share("batch_norm_momentum", self.batch_norm_momentum)?;
        if !(0.0..=10.0).contains(&self.output_init_std) {
            return Err(ConfigError {
                field: "output_init_std",
                value: self.output_init_std.to_string(),
                expected: "a number from 0 to 10".into(),
            });
        }
        Ok(())
    }

    /// Floating-point operations of evaluating one position in full: two for
    /// each multiplication of a direct convolution or matrix product, none for
    /// normalisation, activations, pooling and biases.
    pub fn flops(&self) -> usize {
        let channels = self.channels;
        let tower = 9 * TILES * channels * (self.input_planes + 2 * self.blocks * channels);
        let policy = TILES * self.policy_channels * (channels + self.policy_planes);
        let pooled = TILES * channels * self.value_channels;
        let value = pooled + self.value_hidden * (2 * self.value_channels + OUTCOMES);
        2 * (tower + policy + value)
    }

    /// Logits of one position's policy: `64 * policy_planes`.
    pub fn policy_size(&self) -> usize {
        TILES * self.policy_planes
    }

    /// Values of one encoded position: `64 * input_planes`.
    pub fn input_size(&self) -> usize {
        TILES * self.input_planes
    }
}

fn check_count(field: &'static str, value: usize, least: usize) -> Result<(), ConfigError> {
    if (least..=MAX_COUNT).contains(&value) {
        return Ok(());
    }
    Err(ConfigError {
        field,
        value: value.to_string(),
        expected: format!("a whole number from {least} to {MAX_COUNT}"),
    })
}

fn check_share(field: &'static str, value: f64) -> Result<(), ConfigError> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(ConfigError {
        field,
        value: value.to_string(),
        expected: "a number over 0 and at most 1".into(),
    })
}
