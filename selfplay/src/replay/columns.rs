//! The datasets of a shard in memory: ragged arrays, as they stand in the file.

use std::fmt::Display;
use std::ops::Range;

use cyvasse_env::{ACTION_COUNT, Outcome, Side};

use super::schema;
use crate::record::{GameId, GameRecord, PlyKind, PlyRecord, SetupSource};
use crate::value::MoverValue;

/// Bytes of a setup.
pub(super) const SETUP_BYTES: usize = 32;

/// The datasets by the names of [`schema`], where they are explained.
///
/// Accessors panic on columns that [`Columns::check`] refuses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    pub(super) slot: Vec<u32>,
    pub(super) sequence: Vec<u32>,
    pub(super) setups: Vec<u8>,
    pub(super) sources: Vec<u8>,
    pub(super) outcome: Vec<u8>,
    pub(super) resigned: Vec<u8>,
    pub(super) first_ply: Vec<u32>,
    pub(super) kind: Vec<u8>,
    pub(super) action: Vec<u16>,
    pub(super) root_value: Vec<f32>,
    pub(super) surprise: Vec<f32>,
    pub(super) proven: Vec<u8>,
    pub(super) simulations: Vec<u32>,
    pub(super) network_step: Vec<u32>,
    pub(super) first_policy: Vec<u32>,
    pub(super) policy_action: Vec<u16>,
    pub(super) policy_share: Vec<f32>,
}

/// An entry outside its range.
#[derive(Debug, PartialEq)]
pub(super) struct BadEntry {
    /// The dataset with the index.
    pub(super) place: String,
    pub(super) found: String,
    pub(super) expected: String,
}

impl Columns {
    fn empty() -> Columns {
        Columns {
            slot: Vec::new(),
            sequence: Vec::new(),
            setups: Vec::new(),
            sources: Vec::new(),
            outcome: Vec::new(),
            resigned: Vec::new(),
            first_ply: vec![0],
            kind: Vec::new(),
            action: Vec::new(),
            root_value: Vec::new(),
            surprise: Vec::new(),
            proven: Vec::new(),
            simulations: Vec::new(),
            network_step: Vec::new(),
            first_policy: vec![0],
            policy_action: Vec::new(),
            policy_share: Vec::new(),
        }
    }

    /// The columns of some games. Offsets are right only if [`Columns::check`]
    /// accepts the result.
    pub(super) fn of(games: &[GameRecord]) -> Columns {
        let mut columns = Columns::empty();
        for game in games {
            columns.push_game(game);
        }
        columns
    }

    fn push_game(&mut self, game: &GameRecord) {
        self.slot.push(game.id.slot);
        self.sequence.push(game.id.sequence);
        for (setup, source) in game.setups.iter().zip(game.sources) {
            self.setups.extend(setup.to_bytes());
            self.sources.push(source as u8);
        }
        self.outcome.push(schema::outcome_number(game.outcome));
        self.resigned.push(u8::from(game.resigned));
        for (ply, turn) in game.plies.iter().zip(Side::ALL.into_iter().cycle()) {
            self.push_ply(ply, turn);
        }
        self.first_ply.push(self.action.len() as u32);
    }

    fn push_ply(&mut self, ply: &PlyRecord, turn: Side) {
        self.kind.push(ply.kind as u8);
        self.action.push(ply.action.index(turn) as u16);
        self.root_value.push(ply.root_value.get());
        self.surprise.push(ply.surprise);
        self.proven.push(u8::from(ply.proven));
        self.simulations.push(ply.simulations);
        self.network_step.push(ply.network_step);
        for &(action, share) in &ply.policy {
            self.policy_action.push(action.index(turn) as u16);
            self.policy_share.push(share);
        }
        self.first_policy.push(self.policy_action.len() as u32);
    }

    /// Checks offsets and ranges, of columns whose lengths fit each other.
    pub(super) fn check(&self) -> Result<(), BadEntry> {
        let (plies, entries) = (self.action.len(), self.policy_action.len());
        check_count(schema::OUTCOME, self.outcome.len(), 1)?;
        check_count(schema::ACTION, plies, 1)?;
        check_count(schema::POLICY_ACTION, entries, 0)?;
        check_offsets(schema::FIRST_PLY, &self.first_ply, plies, 1)?;
        check_offsets(schema::FIRST_POLICY, &self.first_policy, entries, 0)?;

        let is_source = |&number: &u8| SetupSource::from_number(number).is_some();
        check_each(schema::SOURCES, &self.sources, "the number of a source", is_source)?;
        check_each(schema::OUTCOME, &self.outcome, "from 0 to 4", |&number| number <= 4)?;
        check_each(schema::RESIGNED, &self.resigned, "0 or 1", |&flag| flag <= 1)?;
        let is_kind = |&number: &u8| PlyKind::from_number(number).is_some();
        check_each(schema::KIND, &self.kind, "from 0 to 2", is_kind)?;
        check_each(schema::PROVEN, &self.proven, "0 or 1", |&flag| flag <= 1)?;
        let is_action = |&index: &u16| usize::from(index) < ACTION_COUNT;
        check_each(schema::ACTION, &self.action, "an action index", is_action)?;
        check_each(schema::POLICY_ACTION, &self.policy_action, "an action index", is_action)?;
        let most = 1.0 + schema::ROUNDING;
        let is_value = |value: &f32| value.abs() <= most;
        check_each(schema::ROOT_VALUE, &self.root_value, "from -1 to 1", is_value)?;
        let is_surprise = |surprise: &f32| surprise.is_finite() && *surprise >= 0.0;
        check_each(schema::SURPRISE, &self.surprise, "finite and not under 0", is_surprise)?;
        let is_share = |&share: &f32| share > 0.0 && share <= most;
        check_each(schema::POLICY_SHARE, &self.policy_share, "over 0 and up to 1", is_share)?;
        self.check_sums()
    }

    fn check_sums(&self) -> Result<(), BadEntry> {
        for ply in 0..self.action.len() {
            let shares = self.policy(ply).1;
            let sum: f32 = shares.iter().sum();
            if !shares.is_empty() && (sum - 1.0).abs() > schema::ROUNDING {
                let place = format!("{}, sum of ply {ply}", schema::POLICY_SHARE);
                return Err(bad_entry(place, sum, "1"));
            }
        }
        Ok(())
    }

    pub(super) fn games(&self) -> usize {
        self.outcome.len()
    }

    /// Bytes of all columns: by their types 80 a game, 24 a ply (an offset
    /// included) and 6 an entry of a policy.
    pub(super) fn memory(&self) -> usize {
        80 * self.games() + 24 * self.action.len() + 6 * self.policy_action.len()
    }

    /// The plies of a game, as indices into the columns of `plies`.
    pub(super) fn plies(&self, game: usize) -> Range<usize> {
        self.first_ply[game] as usize..self.first_ply[game + 1] as usize
    }

    /// Action indices and shares of a ply's policy target, by the ply's index into
    /// the columns of `plies`.
    pub(super) fn policy(&self, ply: usize) -> (&[u16], &[f32]) {
        let range = self.first_policy[ply] as usize..self.first_policy[ply + 1] as usize;
        (&self.policy_action[range.clone()], &self.policy_share[range])
    }

    pub(super) fn id(&self, game: usize) -> GameId {
        GameId { slot: self.slot[game], sequence: self.sequence[game] }
    }

    pub(super) fn outcome(&self, game: usize) -> Outcome {
        schema::outcome_from_number(self.outcome[game]).expect("outcomes have been checked")
    }

    pub(super) fn kind(&self, ply: usize) -> PlyKind {
        PlyKind::from_number(self.kind[ply]).expect("kinds have been checked")
    }

    pub(super) fn sources(&self, game: usize) -> [SetupSource; 2] {
        [0, 1].map(|side| {
            let number = self.sources[2 * game + side];
            SetupSource::from_number(number).expect("sources have been checked")
        })
    }

    /// The setup of one side, in the bytes of `games/setups`.
    pub(super) fn setup_bytes(&self, game: usize, side: Side) -> [u8; SETUP_BYTES] {
        let start = (2 * game + side.index()) * SETUP_BYTES;
        self.setups[start..start + SETUP_BYTES].try_into().expect("the length is right")
    }

    /// How much the policy targets of a game's plies surprised, in nats.
    pub(super) fn surprises(&self, game: usize) -> &[f32] {
        &self.surprise[self.plies(game)]
    }

    pub(super) fn root_value(&self, ply: usize) -> MoverValue {
        MoverValue::new(self.root_value[ply])
    }
}

fn bad_entry(place: String, found: impl Display, expected: &str) -> BadEntry {
    BadEntry { place, found: found.to_string(), expected: expected.to_owned() }
}

fn check_count(dataset: &str, count: usize, least: usize) -> Result<(), BadEntry> {
    if (least..=schema::MAX_ENTRIES).contains(&count) {
        return Ok(());
    }
    let expected = format!("{least} to {}", schema::MAX_ENTRIES);
    Err(bad_entry(format!("{dataset}, length"), count, &expected))
}

/// Offsets begin with 0, rise by at least `least` and end with `length`.
fn check_offsets(
    dataset: &str,
    offsets: &[u32],
    length: usize,
    least: u32,
) -> Result<(), BadEntry> {
    let last = offsets.len() - 1;
    for (index, &offset) in offsets.iter().enumerate() {
        let place = || format!("{dataset}[{index}]");
        if index == 0 && offset != 0 {
            return Err(bad_entry(place(), offset, "0"));
        }
        if index > 0 && u64::from(offset) < u64::from(offsets[index - 1]) + u64::from(least) {
            let expected = u64::from(offsets[index - 1]) + u64::from(least);
            return Err(bad_entry(place(), offset, &format!("at least {expected}")));
        }
        if index == last && offset as usize != length {
            return Err(bad_entry(place(), offset, &length.to_string()));
        }
    }
    Ok(())
}

fn check_each<T: Display>(
    dataset: &str,
    entries: &[T],
    expected: &str,
    is_right: impl Fn(&T) -> bool,
) -> Result<(), BadEntry> {
    match entries.iter().position(|entry| !is_right(entry)) {
        None => Ok(()),
        Some(index) => Err(bad_entry(format!("{dataset}[{index}]"), &entries[index], expected)),
    }
}
