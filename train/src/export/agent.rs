//! What is exported: the networks of a checkpoint and what is known about them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use cyvasse_env::Rules;
use cyvasse_models::checkpoint::{self, CheckpointHeader};
use cyvasse_models::{Net, SetupNet};
use tch::Device;

use crate::checkpoints::{PLAY_NET, find_play_net, find_setup_net, made_for};
use crate::config::read_rules;

/// The networks of a checkpoint.
pub struct Agent {
    /// The rules that they were made for.
    pub rules: Arc<Rules>,
    /// The play network's file.
    pub file: PathBuf,
    /// The run directory that the file lies in, if it lies in one.
    pub run: Option<PathBuf>,
    /// The play network, on the CPU.
    pub play: Net,
    /// What its checkpoint says about itself.
    pub header: CheckpointHeader,
    /// The setup network, where setups are learned.
    pub setup: Option<SetupNet>,
}

impl Agent {
    /// Loads the networks of a checkpoint directory, of its play network's file, or of
    /// the newest checkpoint of a run directory. Without `rules`, those of the run that
    /// the checkpoint lies in are meant, or else those of iron-throne.toml.
    ///
    /// # Errors
    /// No checkpoint, one that is damaged or made for other rules.
    pub fn load(checkpoint: &Path, rules: Option<&Path>) -> anyhow::Result<Agent> {
        let Some(file) = find_play_net(checkpoint) else {
            bail!(
                "{} has no checkpoint: expected a run directory, a checkpoint directory or a `{PLAY_NET}`",
                checkpoint.display()
            );
        };
        let run = run_of(&file);
        let rules = match (rules, &run) {
            (Some(path), _) => read_rules(path)?,
            (None, Some(run)) => read_rules(&run.join("rules.toml"))?,
            (None, None) => Rules::iron_throne(),
        };
        let made_for = made_for(&rules);
        let (play, header) = checkpoint::load(&file, &made_for, Device::Cpu)?;
        let setup = find_setup_net(&file)
            .map(|file| checkpoint::load(&file, &made_for, Device::Cpu))
            .transpose()?;
        let setup = setup.map(|(net, _)| net);
        Ok(Agent { rules: Arc::new(rules), file, run, play, header, setup })
    }

    /// The round of the run whose checkpoint it is.
    #[must_use]
    pub fn round(&self) -> Option<u32> {
        self.run.as_ref()?;
        let folder = self.file.parent()?.file_name()?.to_str()?;
        folder.strip_prefix("round-")?.parse().ok()
    }
}

/// The run directory of `RUN/checkpoints/round-0001/play.safetensors`.
fn run_of(file: &Path) -> Option<PathBuf> {
    let checkpoints = file.parent()?.canonicalize().ok()?;
    let run = checkpoints.parent().filter(|folder| folder.ends_with("checkpoints"))?.parent()?;
    run.join("config.toml").is_file().then(|| run.into())
}
