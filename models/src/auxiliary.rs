//! Heads that only help the tower to learn: they are trained beside the network's
//! own and never play, so that no checkpoint to play with has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tch::nn::VarStore;
use tch::{Device, Kind, Tensor};

use crate::config::{BOARD_SIDE, ConfigError, NetConfig, OUTCOMES};
use crate::heads::{PolicyHead, ValueHead};
use crate::init::Initializer;
use crate::layers::Mode;

/// Which heads there are, and the network that they stand on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuxiliaryConfig {
    /// The network.
    pub net: NetConfig,
    /// How long the game goes on.
    pub moves_left: bool,
    /// What the opponent will play.
    pub reply: bool,
    /// What searches will say some plies later.
    pub short_term: bool,
}

/// Auxiliary heads and their variables, all of them f32.
#[derive(Debug)]
pub struct AuxiliaryHeads {
    config: AuxiliaryConfig,
    variables: VarStore,
    moves_left: Option<ValueHead>,
    reply: Option<PolicyHead>,
    short_term: Option<ValueHead>,
}

/// What the heads that there are say about a batch of positions, in f32.
#[derive(Debug)]
pub struct AuxiliaryOutputs {
    /// `[B]`: plies that the game goes on, in units of
    /// [`MOVES_LEFT_SCALE`](crate::loss::MOVES_LEFT_SCALE).
    pub moves_left: Option<Tensor>,
    /// Logits `[B, 64 * policy_planes]` of the opponent's next action, numbered as
    /// the network's own policy, but in the opponent's own view.
    pub reply: Option<Tensor>,
    /// Logits `[B, 3]`: win, draw, loss from the mover's point of view.
    pub short_term: Option<Tensor>,
}

impl AuxiliaryConfig {
    /// Checks that the network is within its bounds.
    ///
    /// # Errors
    ///
    /// Names the first field that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.net.validate()
    }
}

impl AuxiliaryHeads {
    /// Builds heads with initial weights drawn from `seed`.
    ///
    /// # Errors
    ///
    /// When `config` is outside its bounds.
    pub fn new(config: &AuxiliaryConfig, seed: u64, device: Device) -> Result<Self, ConfigError> {
        config.validate()?;
        let variables = VarStore::new(device);
        let mut init = Initializer::new(seed, device);
        let (root, net) = (variables.root() / "auxiliary", &config.net);
        Ok(Self {
            moves_left: config
                .moves_left
                .then(|| ValueHead::new(&(&root / "moves_left"), net, 1, &mut init)),
            reply: config.reply.then(|| PolicyHead::new(&(&root / "reply"), net, &mut init)),
            short_term: config
                .short_term
                .then(|| ValueHead::new(&(&root / "short_term"), net, OUTCOMES, &mut init)),
            config: config.clone(),
            variables,
        })
    }

    /// Which heads there are.
    pub fn config(&self) -> &AuxiliaryConfig {
        &self.config
    }

    /// Every variable by its name, none of which a [`crate::Net`] has. The tensors
    /// share the heads' memory.
    pub fn variables(&self) -> BTreeMap<String, Tensor> {
        self.variables.variables().into_iter().collect()
    }

    /// The variables that an optimiser changes, by name.
    pub fn trainable_variables(&self) -> BTreeMap<String, Tensor> {
        self.variables().into_iter().filter(|(_, tensor)| tensor.requires_grad()).collect()
    }

    /// Forward for training, from the tower's last map
    /// (see [`crate::Net::forward_train_with_map`]); gradients flow into the tower.
    pub fn forward_train(&self, map: &Tensor) -> AuxiliaryOutputs {
        let value = |head: &ValueHead| head.forward(map, Mode::Train).to_kind(Kind::Float);
        let policy = |head: &PolicyHead| head.forward(map, Mode::Train).to_kind(Kind::Float);
        AuxiliaryOutputs {
            moves_left: self.moves_left.as_ref().map(|head| value(head).flatten(0, 1)),
            reply: self.reply.as_ref().map(|head| self.as_opponent(&policy(head))),
            short_term: self.short_term.as_ref().map(value),
        }
    }

    /// Turns logits from tiles of the map, in the mover's view, into those from the
    /// same tiles in the opponent's, whose ranks run the other way: each logit is
    /// then computed from the tile that the action starts at.
    fn as_opponent(&self, logits: &Tensor) -> Tensor {
        let side = BOARD_SIDE as i64;
        let planes = self.config.net.policy_planes as i64;
        logits.view([-1, side, side, planes]).flip([1]).flatten(1, 3)
    }
}
