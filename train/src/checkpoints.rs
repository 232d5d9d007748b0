//! Checkpoint directories: what an agent is made of.

use cyvasse_env::{ACTION_INDEX_VERSION, PLANES_VERSION, Rules};
use cyvasse_models::checkpoint::Compatibility;

/// The file of the play network within a checkpoint directory.
pub const PLAY_NET: &str = "play.safetensors";

/// What networks must have been made for to play by these rules.
#[must_use]
pub fn made_for(rules: &Rules) -> Compatibility {
    Compatibility {
        rules_name: rules.name.clone(),
        rules_fingerprint: format!("{:016x}", rules.fingerprint()),
        planes_version: PLANES_VERSION,
        actions_version: ACTION_INDEX_VERSION,
    }
}
