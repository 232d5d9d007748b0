//! Checkpoint directories: what an agent is made of.

use std::path::Path;

use anyhow::bail;
use cyvasse_env::{ACTION_INDEX_VERSION, PLANES_VERSION, Rules};
use cyvasse_models::checkpoint::{self, Compatibility};
use cyvasse_models::{Net, SetupNet};
use tch::Device;

/// The file of the play network within a checkpoint directory.
pub const PLAY_NET: &str = "play.safetensors";

/// The file of the setup network; absent where setups are not learned.
pub const SETUP_NET: &str = "setup.safetensors";

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

/// The play network of a checkpoint directory.
///
/// # Errors
/// A directory without one, a network made for other rules.
pub fn load_play_net(checkpoint: &Path, rules: &Rules, device: Device) -> anyhow::Result<Net> {
    let path = checkpoint.join(PLAY_NET);
    if !path.is_file() {
        bail!("{} is no checkpoint directory: it has no {PLAY_NET}", checkpoint.display());
    }
    Ok(checkpoint::load(&path, &made_for(rules), device)?.0)
}

/// The setup network of a checkpoint directory.
///
/// # Errors
/// A directory without one, a network made for other rules.
pub fn load_setup_net(
    checkpoint: &Path,
    rules: &Rules,
    device: Device,
) -> anyhow::Result<SetupNet> {
    let path = checkpoint.join(SETUP_NET);
    if !path.is_file() {
        let checkpoint = checkpoint.display();
        bail!(
            "{checkpoint} has no {SETUP_NET}: its run did not learn setups, or it is no checkpoint"
        );
    }
    Ok(checkpoint::load(&path, &made_for(rules), device)?.0)
}
