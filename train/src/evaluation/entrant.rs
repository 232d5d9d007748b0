//! A player of a match, loaded from its text form.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{Rules, SetupSpace};
use cyvasse_models::checkpoint::{self, CheckpointError};
use cyvasse_models::{InferenceNet, NetEvaluator};
use cyvasse_selfplay::players::alphabeta::Limit;
use cyvasse_selfplay::players::{
    AlphaBeta, Errant, Greedy, Player, Random, RawPolicy, Rollouts, Searcher,
};
use cyvasse_selfplay::search::{GumbelSettings, PolicySettings, PuctSettings, SearchSettings};
use tch::Device;
use thiserror::Error;

use super::setups::{Mixture, SetupChoice, Setups};
use super::spec::{AgentSearch, PlayerKind, PlayerSpec};
use crate::checkpoints::{PLAY_NET, SETUP_NET, find_play_net, find_setup_net, made_for};
use crate::setups::{SetupFileError, read_setups};

/// A player with all that it needs: makes as many copies of itself as there
/// are workers.
pub struct Entrant {
    /// What it was made from, settled.
    pub spec: PlayerSpec,
    /// Where its setups come from.
    pub setups: Setups,
    rules: Arc<Rules>,
    kind: Loaded,
}

/// A player's kind with what had to be loaded for it.
enum Loaded {
    Random,
    Greedy,
    AlphaBeta(Limit),
    Rollouts(u32),
    Agent(Box<Agent>),
}

struct Agent {
    net: InferenceNet,
    search: AgentSearch,
    file: PathBuf,
    step: u64,
}

/// A player that cannot be loaded.
#[derive(Debug, Error)]
pub enum EntrantError {
    /// Its setups are missing.
    #[error(transparent)]
    Setups(#[from] SetupFileError),
    /// Its checkpoint is not sound, or was made for other rules.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// There is no checkpoint where it should be.
    #[error("{} has no checkpoint: expected a run directory, a checkpoint directory or a `{PLAY_NET}`", .0.display())]
    NoCheckpoint(PathBuf),
    /// It has no setup network.
    #[error(
        "{0}: there are no setups of its own, for its checkpoint has no `{SETUP_NET}`; expected setups=uniform, a file of setups, or a checkpoint of a run that learns them"
    )]
    NoSetupNet(PlayerSpec),
}

impl Entrant {
    /// Loads what the player needs.
    ///
    /// # Errors
    /// A setup file or a network that is not there, not sound, or for other
    /// rules.
    pub fn load(
        spec: &PlayerSpec,
        rules: &Arc<Rules>,
        device: Device,
    ) -> Result<Entrant, EntrantError> {
        let kind = match &spec.kind {
            PlayerKind::Random => Loaded::Random,
            PlayerKind::Greedy => Loaded::Greedy,
            PlayerKind::AlphaBeta(limit) => Loaded::AlphaBeta(*limit),
            PlayerKind::Rollouts(simulations) => Loaded::Rollouts(*simulations),
            PlayerKind::Agent { path, search } => {
                Loaded::Agent(load_agent(path, *search, rules, device)?)
            }
        };
        // Beside the play network that was loaded: the newest of a run may have
        // changed since.
        let own = match &kind {
            Loaded::Agent(agent) => find_setup_net(&agent.file),
            _ => None,
        };
        let spec = spec.settled();
        let setups = match &spec.setups {
            SetupChoice::Own => {
                let file = own.ok_or_else(|| EntrantError::NoSetupNet(spec.clone()))?;
                Setups::Learned(Box::new(Mixture::load(&file, rules)?))
            }
            SetupChoice::File(path) => Setups::Listed(read_setups(path, rules)?),
            SetupChoice::Usual | SetupChoice::Uniform => Setups::Uniform(SetupSpace::new(rules)),
        };
        Ok(Entrant { spec, setups, rules: rules.clone(), kind })
    }

    /// The checkpoint's file and its training step, if the player has one.
    #[must_use]
    pub fn checkpoint(&self) -> Option<(&Path, u64)> {
        match &self.kind {
            Loaded::Agent(agent) => Some((agent.file.as_path(), agent.step)),
            _ => None,
        }
    }

    /// An agent's network for a search of the caller's own; copies share weights.
    /// `None` for a player without a network.
    #[must_use]
    pub fn evaluator(&self) -> Option<NetEvaluator> {
        match &self.kind {
            Loaded::Agent(agent) => Some(NetEvaluator::new(agent.net.share(), self.rules.clone())),
            _ => None,
        }
    }

    /// A copy of the player for a worker; copies share weights.
    #[must_use]
    pub fn player(&self) -> Box<dyn Player> {
        let player = self.faultless();
        match self.spec.errors {
            0 => player,
            percent => Box::new(Errant::new(player, percent)),
        }
    }

    fn faultless(&self) -> Box<dyn Player> {
        let rules = self.rules.clone();
        match &self.kind {
            Loaded::Random => Box::new(Random),
            Loaded::Greedy => Box::new(Greedy),
            Loaded::AlphaBeta(limit) => Box::new(AlphaBeta::new(rules, *limit)),
            Loaded::Rollouts(simulations) => Box::new(Rollouts::player(rules, *simulations)),
            Loaded::Agent(agent) => {
                let evaluator = NetEvaluator::new(agent.net.share(), rules);
                match search_settings(agent.search) {
                    Some(settings) => Box::new(Searcher::new(evaluator, settings)),
                    None => Box::new(RawPolicy::new(evaluator)),
                }
            }
        }
    }
}

/// The same player with the checkpoint that its path stands for now, so that
/// its text means the same player later on.
///
/// # Errors
/// An agent without a checkpoint.
pub fn pinned(spec: &PlayerSpec) -> Result<PlayerSpec, EntrantError> {
    let mut spec = spec.clone();
    if let PlayerKind::Agent { path, .. } = &mut spec.kind {
        let file = find_play_net(path).ok_or_else(|| EntrantError::NoCheckpoint(path.clone()))?;
        let folder = file.parent().filter(|_| file.ends_with(PLAY_NET));
        *path = folder.map_or(file.clone(), Path::to_path_buf);
    }
    Ok(spec)
}

/// The settings of an agent's search at its strongest: without noise. `None` where
/// it does not search.
#[must_use]
pub fn search_settings(search: AgentSearch) -> Option<SearchSettings> {
    let (simulations, policy) = match search {
        AgentSearch::Policy => return None,
        AgentSearch::Gumbel(simulations) => {
            let paper =
                GumbelSettings { max_considered: 16, c_visit: 50.0, c_scale: 1.0, noise: 0.0 };
            (simulations, PolicySettings::Gumbel(paper))
        }
        AgentSearch::Puct(simulations) => {
            let alphazero = PuctSettings {
                c_init: 1.25,
                c_base: 19652.0,
                fpu_reduction: 0.2,
                noise_share: 0.0,
                noise_concentration: 10.83,
                temperature: 0.0,
                temperature_plies: 0,
            };
            (simulations, PolicySettings::Puct(alphazero))
        }
    };
    Some(SearchSettings { simulations, max_nodes: simulations.saturating_add(2), policy })
}

fn load_agent(
    path: &Path,
    search: AgentSearch,
    rules: &Rules,
    device: Device,
) -> Result<Box<Agent>, EntrantError> {
    let file = find_play_net(path).ok_or_else(|| EntrantError::NoCheckpoint(path.into()))?;
    let (net, header) = checkpoint::load(&file, &made_for(rules), device)?;
    Ok(Box::new(Agent { net: InferenceNet::new(&net), search, file, step: header.step }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_run_stands_for_its_newest_whole_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        assert_eq!(find_play_net(run), None);
        // As text, the first is the greatest; the others are none of the run's.
        for name in ["round-9999", "round-10000", "round-10001.4711.partial", "round-x", "z"] {
            let round = run.join("checkpoints").join(name);
            fs::create_dir_all(&round).unwrap();
            fs::write(round.join(PLAY_NET), "weights").unwrap();
        }
        let newest = run.join("checkpoints/round-10000");
        assert_eq!(find_play_net(run), Some(newest.join(PLAY_NET)));
        let spec = |path: &Path| -> PlayerSpec {
            format!("agent:{}?search=policy", path.display()).parse().unwrap()
        };
        for path in [run, &newest, &newest.join(PLAY_NET)] {
            assert_eq!(pinned(&spec(path)).unwrap(), spec(&newest));
        }
        assert!(pinned(&spec(&run.join("nowhere"))).is_err());
        let other: PlayerSpec = "greedy".parse().unwrap();
        assert_eq!(pinned(&other).unwrap(), other);
    }
}
