//! How a player of a match builds its homelands.

use std::fs;
use std::path::{Path, PathBuf};

use cyvasse_env::{Rules, Setup, SetupError, SetupSpace, Side};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

/// How a player builds its homelands, as its text form says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetupChoice {
    /// Any setup, each as likely as the others.
    Uniform,
    /// Any setup of a file with one a line.
    File(PathBuf),
}

/// Where setups are drawn from, ready for use.
#[derive(Clone, Debug)]
pub enum Setups {
    /// All setups of the rules.
    Uniform(SetupSpace),
    /// Some setups, at least one.
    Listed(Vec<Setup>),
}

/// A file that holds no setups.
#[derive(Debug, Error)]
pub enum SetupFileError {
    /// It cannot be read.
    #[error("cannot read the setups in {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A line is no legal setup.
    #[error("{}, line {line}: {source}", path.display())]
    Setup {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// Why.
        source: SetupError,
    },
    /// There is none.
    #[error("{} has no setup; expected one a line, as `cyvasse rules sample-setups` prints them", .0.display())]
    Empty(PathBuf),
}

impl SetupChoice {
    /// Reads what there is to read.
    ///
    /// # Errors
    /// A file that cannot be read, or with a line that is no setup.
    pub fn load(&self, rules: &Rules) -> Result<Setups, SetupFileError> {
        match self {
            SetupChoice::Uniform => Ok(Setups::Uniform(SetupSpace::new(rules))),
            SetupChoice::File(path) => read(path, rules).map(Setups::Listed),
        }
    }
}

fn read(path: &Path, rules: &Rules) -> Result<Vec<Setup>, SetupFileError> {
    let text = fs::read_to_string(path)
        .map_err(|source| SetupFileError::Read { path: path.into(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let setup = |(number, line): (usize, &str)| {
        Setup::parse(line.trim(), rules).map_err(|source| SetupFileError::Setup {
            path: path.into(),
            line: number + 1,
            source,
        })
    };
    let setups = lines.map(setup).collect::<Result<Vec<Setup>, SetupFileError>>()?;
    if setups.is_empty() { Err(SetupFileError::Empty(path.into())) } else { Ok(setups) }
}

impl Setups {
    /// Draws a setup for a seat.
    pub fn draw(&self, _seat: Side, rng: &mut ChaCha8Rng) -> Setup {
        match self {
            Setups::Uniform(space) => space.sample(rng),
            Setups::Listed(setups) => setups[rng.random_range(0..setups.len())],
        }
    }
}
