//! The network that is trained: a residual tower with a policy and a value head.

use std::collections::BTreeMap;

use tch::nn::VarStore;
use tch::{Device, Kind, Tensor};

use crate::averaging::move_towards;
use crate::config::{BOARD_SIDE, ConfigError, NetConfig, TrainingPrecision};
use crate::heads::{PolicyHead, ValueHead};
use crate::init::Initializer;
use crate::layers::{ConvNorm, ConvNormShape, Mode, ResidualBlock};

/// What a network says about a batch of positions.
#[derive(Debug)]
pub struct Outputs {
    /// Logits `[B, 64 * policy_planes]`, the one of (from-square, plane) at
    /// `from_square * policy_planes + plane`. Only those of legal actions mean
    /// anything.
    pub policy: Tensor,
    /// Logits `[B, 3]`: win, draw, loss from the mover's point of view.
    pub value: Tensor,
}

/// A trainable network and its variables.
///
/// Gradients are tracked by [`Net::forward_train`] only. For play, make an
/// [`crate::InferenceNet`] of it.
#[derive(Debug)]
pub struct Net {
    config: NetConfig,
    variables: VarStore,
    pub(crate) stem: ConvNorm,
    pub(crate) tower: Vec<ResidualBlock>,
    pub(crate) policy: PolicyHead,
    pub(crate) value: ValueHead,
}

impl Net {
    /// Builds a network with initial weights drawn from `seed`. The same
    /// configuration and seed give the same weights on every machine.
    ///
    /// # Errors
    ///
    /// When `config` is outside its bounds.
    pub fn new(config: &NetConfig, seed: u64, device: Device) -> Result<Self, ConfigError> {
        config.validate()?;
        let variables = VarStore::new(device);
        let mut init = Initializer::new(seed, device);
        let root = variables.root();
        let stem = ConvNormShape {
            inputs: config.input_planes,
            outputs: config.channels,
            kernel: 3,
            initial_scale: 1.0,
        };
        Ok(Self {
            stem: ConvNorm::new(&(&root / "stem"), &stem, config, &mut init),
            tower: (0..config.blocks)
                .map(|i| ResidualBlock::new(&(&root / "tower" / i), config, &mut init))
                .collect(),
            policy: PolicyHead::new(&(&root / "policy"), config, &mut init),
            value: ValueHead::new(&(&root / "value"), config, &mut init),
            config: config.clone(),
            variables,
        })
    }

    /// The architecture.
    pub fn config(&self) -> &NetConfig {
        &self.config
    }

    /// Where the variables lie.
    pub fn device(&self) -> Device {
        self.variables.device()
    }

    /// Every variable by its name, the running statistics of batch
    /// normalisation among them. The tensors share the network's memory.
    pub fn variables(&self) -> BTreeMap<String, Tensor> {
        self.variables.variables().into_iter().collect()
    }

    /// The variables that an optimiser changes, by name.
    pub fn trainable_variables(&self) -> BTreeMap<String, Tensor> {
        self.variables().into_iter().filter(|(_, tensor)| tensor.requires_grad()).collect()
    }

    /// Number of trainable weights.
    pub fn weight_count(&self) -> usize {
        self.trainable_variables().values().map(Tensor::numel).sum()
    }

    /// A network with the same weights, which goes its own way.
    pub fn copy(&self) -> Self {
        let copy = Self::new(&self.config, 0, self.device()).expect("the configuration is valid");
        copy.move_towards(self, 1.0);
        copy
    }

    /// Moves every weight and every running statistic by `share` of its way to
    /// the one of `other`, as an exponential moving average does.
    ///
    /// # Panics
    ///
    /// When the networks are of different shapes.
    pub fn move_towards(&self, other: &Self, share: f64) {
        move_towards(self.variables(), &other.variables(), share);
    }

    /// Forward for training: normalises with the batch's own statistics, moves
    /// the running ones, tracks gradients.
    ///
    /// `planes` is f32 `[B, 8, 8, input_planes]` (rank, file, plane) on the
    /// network's device, each position in its mover's view.
    ///
    /// # Panics
    ///
    /// When `planes` has another shape or kind.
    pub fn forward_train(&self, planes: &Tensor) -> Outputs {
        self.forward_train_in(planes, TrainingPrecision::Single)
    }

    /// As [`Net::forward_train`] in a precision; the outputs are f32.
    ///
    /// # Panics
    ///
    /// When `planes` has another shape or kind.
    pub fn forward_train_in(&self, planes: &Tensor, precision: TrainingPrecision) -> Outputs {
        self.forward_in(Mode::Train, planes, precision)
    }

    /// Forward with the running statistics and no gradients; shapes as in
    /// [`Net::forward_train`].
    ///
    /// # Panics
    ///
    /// When `planes` has another shape or kind.
    pub fn forward(&self, planes: &Tensor) -> Outputs {
        tch::no_grad(|| self.forward_in(Mode::Eval, planes, TrainingPrecision::Single))
    }

    fn forward_in(&self, mode: Mode, planes: &Tensor, precision: TrainingPrecision) -> Outputs {
        let input = as_map(planes, self.config.input_planes).to_kind(precision.kind());
        let mut map = self.stem.forward(&input, mode).relu();
        for block in &self.tower {
            map = block.forward(&map, mode);
        }
        let (policy, value) = (self.policy.forward(&map, mode), self.value.forward(&map, mode));
        let [policy, value] = [policy, value].map(|logits| logits.to_kind(Kind::Float));
        Outputs { policy, value }
    }
}

/// Views planes `[B, 8, 8, P]` as a channels-last map `[B, P, 8, 8]`.
///
/// # Panics
///
/// When `planes` has another shape or kind.
pub(crate) fn as_map(planes: &Tensor, input_planes: usize) -> Tensor {
    let (shape, side) = (planes.size(), BOARD_SIDE as i64);
    assert!(
        matches!(shape[..], [_, r, f, p] if (r, f, p) == (side, side, input_planes as i64)),
        "planes have shape {shape:?}, expected [B, 8, 8, {input_planes}]"
    );
    assert_eq!(planes.kind(), Kind::Float, "planes must be f32");
    planes.permute([0, 3, 1, 2])
}
