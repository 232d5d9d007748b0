//! A shard in memory.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{Game, Outcome, Rules, Side};

use super::columns::Columns;
use super::error::{GameProblem, ReplayError};
use super::sample::{PlyView, Sample};
use super::{game, reader};
use crate::record::{GameId, GameRecord, PlyKind, SetupSource};
use crate::value::MoverOutcome;

/// What a shard says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardHeader {
    /// The rules that its games were played by.
    pub rules: Rules,
    /// The program that wrote it, with its version.
    pub producer: String,
    /// The seed of the run.
    pub run_seed: u64,
    /// The number of the shard within the run.
    pub shard: u32,
}

impl ShardHeader {
    /// The header of a shard that this program writes.
    #[must_use]
    pub fn new(rules: &Rules, run_seed: u64, shard: u32) -> ShardHeader {
        let producer = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned();
        ShardHeader { rules: rules.clone(), producer, run_seed, shard }
    }

    /// Reads the header of a shard, checking its seal and versions, not its games.
    ///
    /// # Errors
    /// A file that cannot be read, is no shard, is damaged, or is of another
    /// version.
    pub fn read(path: impl AsRef<Path>) -> Result<ShardHeader, ReplayError> {
        reader::read_header(path.as_ref())
    }
}

/// A shard, checked and held in memory as compact arrays: about 23 bytes a ply
/// and 6 bytes an entry of a policy target.
///
/// Games and plies are numbered from 0.
#[derive(Clone, Debug)]
pub struct Shard {
    path: PathBuf,
    header: ShardHeader,
    rules: Arc<Rules>,
    columns: Columns,
}

impl Shard {
    /// Reads a shard and checks its seal, versions, rules, shapes, offsets and
    /// ranges. Whether the games follow the rules is checked when they are read;
    /// the writer has checked it too.
    ///
    /// # Errors
    /// A file that cannot be read, is no shard, is damaged in any byte, is of
    /// another version, does not fit the schema, or holds games by rules with
    /// another fingerprint than that of `rules`.
    pub fn open(path: impl AsRef<Path>, rules: &Rules) -> Result<Shard, ReplayError> {
        let path = path.as_ref();
        let (header, columns) = reader::read_shard(path, rules)?;
        Ok(Shard { path: path.to_owned(), header, rules: Arc::new(rules.clone()), columns })
    }

    /// Where the shard was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the shard says of itself.
    #[must_use]
    pub fn header(&self) -> &ShardHeader {
        &self.header
    }

    /// The number of games: 1 or more.
    #[must_use]
    pub fn game_count(&self) -> usize {
        self.columns.games()
    }

    /// The number of plies of all games.
    #[must_use]
    pub fn ply_count(&self) -> usize {
        self.columns.action.len()
    }

    /// The number of plies of a game: 1 or more.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn plies_of(&self, game: usize) -> usize {
        self.columns.plies(game).len()
    }

    /// The game and ply of a ply that is numbered through all games of the shard,
    /// from 0 to [`Shard::ply_count`]: for drawing plies uniformly.
    ///
    /// # Panics
    /// If there is no such ply.
    #[must_use]
    pub fn locate(&self, ply: usize) -> (usize, usize) {
        assert!(ply < self.ply_count(), "ply {ply} of {}", self.ply_count());
        let first_ply = &self.columns.first_ply;
        let game = first_ply.partition_point(|&first| first as usize <= ply) - 1;
        (game, ply - first_ply[game] as usize)
    }

    /// The id of a game.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn id(&self, game: usize) -> GameId {
        self.columns.id(game)
    }

    /// How a game ended, as it is stored.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn outcome(&self, game: usize) -> Outcome {
        self.columns.outcome(game)
    }

    /// Where the setups of white and black in a game came from.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn sources(&self, game: usize) -> [SetupSource; 2] {
        self.columns.sources(game)
    }

    /// How the actions of a game were found, ply by ply.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn kinds(&self, game: usize) -> impl Iterator<Item = PlyKind> {
        self.columns.plies(game).map(|ply| self.columns.kind(ply))
    }

    /// How much the policy targets of a game surprised the network, ply by ply, in
    /// nats (see [`PlyRecord::surprise`](crate::PlyRecord::surprise)).
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn surprises(&self, game: usize) -> &[f32] {
        self.columns.surprises(game)
    }

    /// A number that two games share if they have the same setups and actions,
    /// and else by an accident of one in 2^64. Only good within a process.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn fingerprint(&self, game: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        Side::ALL.map(|side| self.columns.setup_bytes(game, side)).hash(&mut hasher);
        self.columns.action[self.columns.plies(game)].hash(&mut hasher);
        hasher.finish()
    }

    /// Bytes of memory that the games take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.columns.memory()
    }

    /// Reads a whole game as it was written, playing it through by the rules.
    ///
    /// # Errors
    /// An illegal setup, an illegal action in play or in a policy target, or an
    /// outcome that is not that of the plies; with game and ply.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn game(&self, game: usize) -> Result<GameRecord, ReplayError> {
        let record = game::record(&self.columns, game, &self.rules);
        record.map_err(|(ply, problem)| self.problem(game, ply, problem))
    }

    /// Plays a game up to a ply. It takes time in proportion to the ply's number;
    /// [`Shard::for_each_ply`] gives all plies of a game for little more.
    ///
    /// # Errors
    /// An illegal setup, or an illegal action before the ply; the policy target and
    /// the outcome are not checked.
    ///
    /// # Panics
    /// If there is no such game or ply.
    pub fn sample(&self, game: usize, ply: usize) -> Result<Sample, ReplayError> {
        let rows = self.columns.plies(game);
        assert!(ply < rows.len(), "ply {ply} of {} in game {game}", rows.len());
        let mut state = self.start(game)?;
        for earlier in 0..ply {
            let index = self.columns.action[rows.start + earlier];
            let action = game::action(state.position(), index, &self.rules)
                .map_err(|problem| self.problem(game, earlier, problem))?;
            state.play_unchecked(action);
        }
        let row = rows.start + ply;
        let (actions, shares) = self.columns.policy(row);
        Ok(Sample {
            position: state.position().clone(),
            occurrences: state.occurrences(),
            policy: actions.iter().copied().zip(shares.iter().copied()).collect(),
            outcome: MoverOutcome::of(self.outcome(game), state.position().turn()),
            root_value: self.columns.root_value(row),
            plies_left: (rows.end - row) as u32,
        })
    }

    /// Plays a game through and shows every ply of it, in order.
    ///
    /// # Errors
    /// An illegal setup, or an illegal action; the plies before it have been shown.
    /// Policy targets and the outcome are not checked.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn for_each_ply(
        &self,
        game: usize,
        mut visit: impl FnMut(PlyView<'_>),
    ) -> Result<(), ReplayError> {
        let mut state = self.start(game)?;
        let outcome = self.outcome(game);
        let rows = self.columns.plies(game);
        for (ply, row) in rows.clone().enumerate() {
            let position = state.position();
            let action = game::action(position, self.columns.action[row], &self.rules)
                .map_err(|problem| self.problem(game, ply, problem))?;
            let (policy_actions, policy_shares) = self.columns.policy(row);
            visit(PlyView {
                ply,
                position,
                occurrences: state.occurrences(),
                kind: self.columns.kind(row),
                action,
                policy_actions,
                policy_shares,
                outcome: MoverOutcome::of(outcome, position.turn()),
                root_value: self.columns.root_value(row),
                proven: self.columns.proven[row] == 1,
                plies_left: (rows.end - row) as u32,
            });
            state.play_unchecked(action);
        }
        Ok(())
    }

    fn start(&self, game: usize) -> Result<Game, ReplayError> {
        let start = game::start(&self.columns, game, &self.rules);
        start.map_err(|problem| self.problem(game, 0, problem))
    }

    fn problem(&self, game: usize, ply: usize, problem: GameProblem) -> ReplayError {
        ReplayError::Game { path: self.path.clone(), game, ply, problem }
    }
}
