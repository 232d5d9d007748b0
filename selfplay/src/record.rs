//! What self-play writes down of a game.

use cyvasse_env::{Action, Outcome, Setup};

use crate::value::MoverValue;

/// A finished game, from its setups to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// Which game of the run this is.
    pub id: GameId,
    /// The homelands of white and black, each in its builder's own view.
    pub setups: [Setup; 2],
    /// Where the two setups came from.
    pub sources: [SetupSource; 2],
    /// The plies in the order they were played.
    pub plies: Vec<PlyRecord>,
    /// How the game ended.
    pub outcome: Outcome,
    /// Whether the side that was to move resigned.
    pub resigned: bool,
}

/// A game that is still being played.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedGame {
    /// Which game of the run this is.
    pub id: GameId,
    /// The homelands of white and black, each in its builder's own view.
    pub setups: [Setup; 2],
    /// Where the two setups came from.
    pub sources: [SetupSource; 2],
    /// The plies so far.
    pub plies: Vec<PlyRecord>,
}

impl UnfinishedGame {
    /// The record of the game, now that it has ended.
    #[must_use]
    pub fn finish(self, outcome: Outcome, resigned: bool) -> GameRecord {
        let UnfinishedGame { id, setups, sources, plies } = self;
        GameRecord { id, setups, sources, plies, outcome, resigned }
    }
}

/// Names a game of a run: the same seed and the same id give the same game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId {
    /// The slot of self-play that the game was played in.
    pub slot: u32,
    /// The number of the game within its slot, from 0.
    pub sequence: u32,
}

/// Where a setup came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SetupSource {
    /// Drawn uniformly from all legal setups.
    Uniform = 0,
    /// Sampled from the setup network as it was when the game began.
    Current = 1,
    /// Sampled from the setup network of an earlier round.
    Past = 2,
    /// Taken from a file.
    Fixed = 3,
}

impl SetupSource {
    /// All sources, by their numbers.
    pub const ALL: [SetupSource; 4] =
        [SetupSource::Uniform, SetupSource::Current, SetupSource::Past, SetupSource::Fixed];

    /// The source's name in logs and configs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SetupSource::Uniform => "uniform",
            SetupSource::Current => "current",
            SetupSource::Past => "past",
            SetupSource::Fixed => "fixed",
        }
    }

    /// The source with this number in files.
    #[must_use]
    pub fn from_number(number: u8) -> Option<SetupSource> {
        SetupSource::ALL.into_iter().find(|&source| source as u8 == number)
    }
}

/// How the action of a ply was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PlyKind {
    /// By a search in full: the position is one to learn from.
    Full = 0,
    /// By a cheap search, to get on with the game.
    Cheap = 1,
    /// By lot, in a random opening.
    Opening = 2,
}

impl PlyKind {
    /// All kinds, by their numbers.
    pub const ALL: [PlyKind; 3] = [PlyKind::Full, PlyKind::Cheap, PlyKind::Opening];

    /// The kind with this number in files.
    #[must_use]
    pub fn from_number(number: u8) -> Option<PlyKind> {
        PlyKind::ALL.into_iter().find(|&kind| kind as u8 == number)
    }
}

/// A ply of a game, and what the search found before it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlyRecord {
    /// How the action was found.
    pub kind: PlyKind,
    /// The action that was played.
    pub action: Action,
    /// The policy target: legal actions with their shares, which add up to 1.
    /// Actions without a noticeable share are left out; an empty list means
    /// that the ply has no policy target.
    pub policy: Vec<(Action, f32)>,
    /// How much the target surprised the network: its divergence from the priors,
    /// KL(target || priors), in nats, noise left aside; 0 without a target, and where
    /// it is not known.
    pub surprise: f32,
    /// The search's value of the position before the ply.
    pub root_value: MoverValue,
    /// Whether that value is proven.
    pub proven: bool,
    /// Simulations of the search.
    pub simulations: u32,
    /// The training step of the network that the search used.
    pub network_step: u32,
}
