//! Where a player of a match takes its homelands from.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cyvasse_env::{Rules, Setup, SetupSpace, Side};
use cyvasse_models::checkpoint::{self, CheckpointError};
use cyvasse_models::{SetupNet, SetupNetError};
use cyvasse_selfplay::{Purpose, derive};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tch::Device;

use crate::checkpoints::made_for;

/// Where a player takes its homelands from, as its text form says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetupChoice {
    /// Nothing is said: [`SetupChoice::Own`] for an agent whose checkpoint has a
    /// setup network, [`SetupChoice::Uniform`] for any other.
    Usual,
    /// Any setup, each as likely as the others.
    Uniform,
    /// The setup network of the agent's checkpoint.
    Own,
    /// Any setup of a file with one a line.
    File(PathBuf),
}

/// Where setups are drawn from, ready for use.
#[derive(Debug)]
pub enum Setups {
    /// All setups of the rules.
    Uniform(SetupSpace),
    /// Some setups, at least one.
    Listed(Vec<Setup>),
    /// The mixture of a setup network.
    Learned(Box<Mixture>),
}

/// A setup network that workers draw from.
#[derive(Debug)]
pub struct Mixture {
    /// Its file, by which it is told from others; empty if it has none.
    file: PathBuf,
    space: SetupSpace,
    /// libtorch's tensors may not be looked at by two threads at once.
    net: Mutex<SetupNet>,
}

impl Mixture {
    /// Loads a setup network. It works on the CPU, where one setup at a time is
    /// drawn fastest.
    ///
    /// # Errors
    /// A file that is no sound setup network or was made for other rules.
    pub fn load(file: &Path, rules: &Rules) -> Result<Mixture, CheckpointError> {
        let (net, _) = checkpoint::load(file, &made_for(rules), Device::Cpu)?;
        // The same file may be reached by a run's path and by a checkpoint's.
        let file = file.canonicalize().unwrap_or_else(|_| file.into());
        Ok(Mixture { file, ..Mixture::new(net, SetupSpace::new(rules)) })
    }

    /// The mixture of a network that lies in no file.
    #[must_use]
    pub fn new(net: SetupNet, space: SetupSpace) -> Mixture {
        Mixture { file: PathBuf::new(), space, net: Mutex::new(net) }
    }

    fn draw(&self, seat: Side, seed: u64) -> Result<Setup, SetupNetError> {
        let net = self.net.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(net.sample_setups(&self.space, seat, 1, seed)?[0])
    }
}

impl Setups {
    /// Draws a setup for a seat. Only a setup network cares which seat; what it
    /// draws for one has nothing to do with what it draws for the other.
    ///
    /// # Errors
    /// A setup network whose outputs are not finite.
    pub fn draw(&self, seat: Side, rng: &mut ChaCha8Rng) -> Result<Setup, SetupNetError> {
        match self {
            Setups::Uniform(space) => Ok(space.sample(rng)),
            Setups::Listed(setups) => Ok(setups[rng.random_range(0..setups.len())]),
            Setups::Learned(mixture) => {
                let seed = derive(rng.random(), Purpose::Setups, &[seat.index() as u64]);
                mixture.draw(seat, seed)
            }
        }
    }

    /// Whether setups are drawn from the same place in the same way.
    #[must_use]
    pub fn same_as(&self, other: &Setups) -> bool {
        match (self, other) {
            (Setups::Uniform(_), Setups::Uniform(_)) => true,
            (Setups::Listed(ours), Setups::Listed(theirs)) => ours == theirs,
            (Setups::Learned(ours), Setups::Learned(theirs)) => {
                ours.file == theirs.file && !ours.file.as_os_str().is_empty()
            }
            _ => false,
        }
    }
}
