//! Checkpoint directories: what an agent is made of.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use cyvasse_env::{ACTION_INDEX_VERSION, PLANES_VERSION, Rules};
use cyvasse_models::checkpoint::{self, Compatibility};
use cyvasse_models::{Net, SetupNet};
use tch::Device;

use crate::pipeline::{checkpoint_of, checkpoints_of};

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

/// The play network's file for a path to it, to its checkpoint directory or to
/// a run directory, whose newest checkpoint is meant.
#[must_use]
pub fn find_play_net(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.into());
    }
    let own = path.join(PLAY_NET);
    if own.is_file() {
        return Some(own);
    }
    let newest = *checkpoints_of(path).ok()?.last()?;
    Some(checkpoint_of(path, newest).join(PLAY_NET)).filter(|file| file.is_file())
}

/// The checkpoint directory for a path to it or to a run directory, whose newest
/// one is meant; the path itself if it is neither.
#[must_use]
pub fn find_checkpoint(path: &Path) -> PathBuf {
    let file = find_play_net(path);
    file.as_deref().and_then(Path::parent).unwrap_or(path).into()
}

/// The setup network's file beside a play network's, if there is one. A play
/// network that has another name lies in no checkpoint directory.
#[must_use]
pub fn find_setup_net(play_net: &Path) -> Option<PathBuf> {
    let file = play_net.with_file_name(SETUP_NET);
    (play_net.ends_with(PLAY_NET) && file.is_file()).then_some(file)
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
        let shown = checkpoint.display();
        ensure!(
            checkpoint.is_dir(),
            "{shown} is not there; expected a run directory or a checkpoint in one"
        );
        bail!("{shown} has no {SETUP_NET}: its run did not learn setups, or it is no checkpoint");
    }
    Ok(checkpoint::load(&path, &made_for(rules), device)?.0)
}
