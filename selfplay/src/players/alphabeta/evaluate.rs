//! What a position is worth at a glance.
//!
//! Written by hand, in points of which a spearmen is worth about a hundred.
//! Everything here is a judgement; nothing here decides what is legal. The
//! weights were chosen by sense; terms that matches against the version without
//! them showed to be of no use were thrown out.

use cyvasse_env::{Action, Position, Side, Square, SquareSet, Tile, Unit};

/// Worth of each kind, by [`Unit::index`]. A king has none: it is never off the
/// board in a game that goes on.
const UNIT_VALUES: [i32; Unit::COUNT] = [60, 100, 240, 190, 280, 430, 420, 480, 650, 0];

/// Worth of an action more.
const MOBILITY: i32 = 3;
/// Worth of each way to a tile beside the enemy king or to the king himself.
const KING_ZONE: i32 = 9;
/// Worth of a king in an intact fortress, which saves him once.
const IN_FORTRESS: i32 = 160;
/// Worth of an intact fortress beside the king.
const BESIDE_FORTRESS: i32 = 30;
/// Worth of a king in a forest while the opponent has a dragon.
const HIDDEN_FROM_DRAGON: i32 = 45;
/// Worth of each own unit or mountain beside the king: nothing gets there.
const WALL: i32 = 7;
/// Cost of a frozen unit.
const FROZEN: i32 = 12;
/// Worth of being to move.
const TEMPO: i32 = 12;
/// Worth of a kind of unit in points, 0 for the king.
#[must_use]
pub fn unit_value(unit: Unit) -> i32 {
    UNIT_VALUES[unit.index()]
}

/// The worth of a position in which both kings stand, for the side to move.
/// `own` are the legal actions, `theirs` those that the opponent would have if
/// the side to move passed.
#[must_use]
pub fn evaluate(position: &Position, own: &[Action], theirs: &[Action]) -> i32 {
    let us = position.turn();
    let them = us.other();
    let mut score = TEMPO + material(position, us) - material(position, them);
    score += king_safety(position, us) - king_safety(position, them);
    score += pressure(position, us, own) - pressure(position, them, theirs);
    score
}

fn material(position: &Position, side: Side) -> i32 {
    let units = position.side(side);
    let count = |unit: Unit| (position.units(unit) & units).len() as i32;
    let worth: i32 = Unit::ALL.iter().map(|&unit| count(unit) * unit_value(unit)).sum();
    worth - FROZEN * (position.frozen() & units).len() as i32
}

/// How safe a side's king is where he stands.
fn king_safety(position: &Position, side: Side) -> i32 {
    let Some(king) = position.king(side) else { return 0 };
    let zone = king.set().adjacent();
    let mut score = 0;
    if position.fortresses().contains(king) {
        score += IN_FORTRESS;
    } else if (zone & position.fortresses() & !position.side(side.other())).any() {
        score += BESIDE_FORTRESS;
    }
    let dragons = position.units(Unit::Dragon) & position.side(side.other());
    if dragons.any() && position.tile(king) == Tile::Forest {
        score += HIDDEN_FROM_DRAGON;
    }
    score + WALL * (zone & position.side(side)).len() as i32
}

/// What a side's actions are worth: their number, and those that lead to the
/// enemy king.
fn pressure(position: &Position, side: Side, actions: &[Action]) -> i32 {
    let zone = position
        .king(side.other())
        .map_or(SquareSet::EMPTY, |king| king.set() | king.set().adjacent());
    let near = actions.iter().filter(|&&action| target(action).is_some_and(|to| zone.contains(to)));
    MOBILITY * actions.len() as i32 + KING_ZONE * near.count() as i32
}

/// The square that an action goes to or shoots at.
pub(super) fn target(action: Action) -> Option<Square> {
    match action {
        Action::Move { to, .. } | Action::Shot { to, .. } | Action::Assault { to, .. } => Some(to),
        Action::Pass => None,
    }
}
