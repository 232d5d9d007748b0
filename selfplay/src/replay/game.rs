//! Stored games, played again by the rules.

use std::sync::Arc;

use cyvasse_env::{Action, Game, Outcome, Position, Rules, Setup, Side};

use super::columns::Columns;
use super::error::GameProblem;
use crate::record::{GameRecord, PlyRecord};

/// A problem and the ply that it is at.
pub(super) type AtPly = (usize, GameProblem);

/// Reads both setups of a game and checks them.
pub(super) fn setups(
    columns: &Columns,
    game: usize,
    rules: &Rules,
) -> Result<[Setup; 2], GameProblem> {
    let setup = |side| {
        let setup = Setup::from_bytes(&columns.setup_bytes(game, side))
            .and_then(|setup| setup.check(rules).map(|()| setup));
        setup.map_err(|reason| GameProblem::Setup { side, reason })
    };
    Ok([setup(Side::White)?, setup(Side::Black)?])
}

/// The beginning of a game.
pub(super) fn start(
    columns: &Columns,
    game: usize,
    rules: &Arc<Rules>,
) -> Result<Game, GameProblem> {
    let [white, black] = setups(columns, game, rules)?;
    Ok(Game::new(rules.clone(), Position::start(&white, &black)))
}

/// The action with an index, legal in `position`.
pub(super) fn action(
    position: &Position,
    index: u16,
    rules: &Rules,
) -> Result<Action, GameProblem> {
    position
        .decode(index.into(), rules)
        .ok_or_else(|| GameProblem::Action { index, position: position.to_string() })
}

/// Reads a whole game and checks that it follows the rules to its end.
pub(super) fn record(
    columns: &Columns,
    game: usize,
    rules: &Arc<Rules>,
) -> Result<GameRecord, AtPly> {
    let setups = setups(columns, game, rules).map_err(|problem| (0, problem))?;
    let mut state = Game::new(rules.clone(), Position::start(&setups[0], &setups[1]));
    let mut plies = Vec::with_capacity(columns.plies(game).len());
    for (ply, row) in columns.plies(game).enumerate() {
        if let Some(outcome) = state.outcome() {
            return Err((ply, GameProblem::Over { outcome }));
        }
        let record = ply_record(columns, row, state.position(), rules);
        let record = record.map_err(|problem| (ply, problem))?;
        state.play_unchecked(record.action);
        plies.push(record);
    }
    let resigned = columns.resigned[game] == 1;
    let stored = columns.outcome(game);
    let replayed = match state.outcome() {
        None if resigned => Some(Outcome::Win(state.position().turn().other())),
        // Nobody can resign a game that has ended.
        Some(_) if resigned => None,
        outcome => outcome,
    };
    if replayed != Some(stored) {
        let replayed = replayed.map_or("no end".to_owned(), |outcome| format!("`{outcome}`"));
        return Err((plies.len(), GameProblem::Outcome { stored, replayed }));
    }
    Ok(GameRecord {
        id: columns.id(game),
        setups,
        sources: columns.sources(game),
        plies,
        outcome: stored,
        resigned,
    })
}

fn ply_record(
    columns: &Columns,
    row: usize,
    position: &Position,
    rules: &Rules,
) -> Result<PlyRecord, GameProblem> {
    let legal = Legal::new(position, rules);
    let index = columns.action[row];
    let place = legal.find(index);
    let place =
        place.ok_or_else(|| GameProblem::Action { index, position: position.to_string() })?;
    Ok(PlyRecord {
        kind: columns.kind(row),
        action: legal.0[place].1,
        policy: policy(columns, row, position, &legal)?,
        surprise: columns.surprise[row],
        root_value: columns.root_value(row),
        proven: columns.proven[row] == 1,
        simulations: columns.simulations[row],
        network_step: columns.network_step[row],
    })
}

/// The legal actions of a position with their indices, in ascending order.
struct Legal(Vec<(u16, Action)>);

impl Legal {
    fn new(position: &Position, rules: &Rules) -> Legal {
        let mut actions = Vec::with_capacity(128);
        position.legal_actions(rules, &mut actions);
        let index = |action: Action| action.index(position.turn()) as u16;
        let mut legal: Vec<_> = actions.iter().map(|&action| (index(action), action)).collect();
        legal.sort_unstable_by_key(|&(index, _)| index);
        Legal(legal)
    }

    /// The place of the action with this index.
    fn find(&self, index: u16) -> Option<usize> {
        self.0.binary_search_by_key(&index, |&(index, _)| index).ok()
    }
}

fn policy(
    columns: &Columns,
    row: usize,
    position: &Position,
    legal: &Legal,
) -> Result<Vec<(Action, f32)>, GameProblem> {
    let mut taken = vec![false; legal.0.len()];
    let (indices, shares) = columns.policy(row);
    let entry = |(&index, &share): (&u16, &f32)| {
        let place = legal.find(index);
        let place =
            place.ok_or_else(|| GameProblem::Policy { index, position: position.to_string() })?;
        if std::mem::replace(&mut taken[place], true) {
            return Err(GameProblem::PolicyTwice { index });
        }
        Ok((legal.0[place].1, share))
    };
    indices.iter().zip(shares).map(entry).collect()
}
