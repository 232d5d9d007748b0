//! A position of the play phase, and what an action does to it.

use thiserror::Error;

use crate::action::Action;
use crate::rules::Rules;
use crate::setup::Setup;
use crate::square::{Side, Square, SquareSet};
use crate::tile::Tile;
use crate::unit::Unit;
use crate::zobrist::KEYS;

/// Tiles, units, side to move, frozen squares and the two counters: all that a
/// position is but the history that repetitions are counted by (see
/// [`Game`](crate::Game)).
///
/// 168 bytes without a pointer: undo is keeping a copy.
#[derive(Clone, PartialEq, Eq)]
pub struct Position {
    pub(crate) units: [SquareSet; Unit::COUNT],
    pub(crate) sides: [SquareSet; 2],
    pub(crate) mountains: SquareSet,
    pub(crate) waters: SquareSet,
    pub(crate) forests: SquareSet,
    /// Intact ones.
    pub(crate) fortresses: SquareSet,
    pub(crate) ruins: SquareSet,
    pub(crate) frozen: SquareSet,
    pub(crate) hash: u64,
    pub(crate) quiet_plies: u16,
    pub(crate) plies: u16,
    pub(crate) turn: Side,
}

/// An action that is not legal in the position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{action}` is not legal in `{position}`")]
pub struct IllegalAction {
    /// The action as it was given.
    pub action: Action,
    /// The position's text form.
    pub position: String,
}

impl Position {
    /// The start of a game: the screen is lifted from two setups, each in its
    /// builder's own view, and white is to move. Whether the setups are legal is
    /// not asked (see [`Setup::check`]).
    ///
    /// ```
    /// use cyvasse_env::{Position, Rules, Setup};
    ///
    /// let text = "m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K2";
    /// let setup = Setup::parse(text, &Rules::iron_throne())?;
    /// let start = Position::start(&setup, &setup);
    /// assert_eq!(start, start.swap_sides().swap_sides());
    /// assert_eq!(start.plies(), 0);
    /// # Ok::<(), cyvasse_env::SetupError>(())
    /// ```
    #[must_use]
    pub fn start(white: &Setup, black: &Setup) -> Position {
        let mut position = Position::blank();
        for (side, setup) in Side::ALL.into_iter().zip([white, black]) {
            for own in (0..Setup::SQUARES).map(Square::new) {
                let square = own.in_view_of(side);
                position.lay(setup.tile(own), square);
                if let Some(unit) = setup.unit(own) {
                    position.put(side, unit, square);
                }
            }
        }
        position.rehash();
        position
    }

    /// A board of grass without units, for a builder to fill.
    pub(crate) fn blank() -> Position {
        Position {
            units: [SquareSet::EMPTY; Unit::COUNT],
            sides: [SquareSet::EMPTY; 2],
            mountains: SquareSet::EMPTY,
            waters: SquareSet::EMPTY,
            forests: SquareSet::EMPTY,
            fortresses: SquareSet::EMPTY,
            ruins: SquareSet::EMPTY,
            frozen: SquareSet::EMPTY,
            hash: 0,
            quiet_plies: 0,
            plies: 0,
            turn: Side::White,
        }
    }

    /// Lays a tile on a square that is grass; [`Position::rehash`] follows.
    pub(crate) fn lay(&mut self, tile: Tile, square: Square) {
        match tile {
            Tile::Grass => {}
            Tile::Mountain => self.mountains |= square.set(),
            Tile::Water => self.waters |= square.set(),
            Tile::Forest => self.forests |= square.set(),
            Tile::Fortress => self.fortresses |= square.set(),
            Tile::Ruin => self.ruins |= square.set(),
        }
    }

    /// Puts a unit on an empty square; [`Position::rehash`] follows.
    pub(crate) fn put(&mut self, side: Side, unit: Unit, square: Square) {
        self.units[unit.index()] |= square.set();
        self.sides[side.index()] |= square.set();
    }

    pub(crate) fn rehash(&mut self) {
        self.hash = self.computed_hash();
    }

    /// The tile of a square.
    #[must_use]
    pub fn tile(&self, square: Square) -> Tile {
        let sets = [
            (self.mountains, Tile::Mountain),
            (self.waters, Tile::Water),
            (self.forests, Tile::Forest),
            (self.fortresses, Tile::Fortress),
            (self.ruins, Tile::Ruin),
        ];
        sets.into_iter().find(|(set, _)| set.contains(square)).map_or(Tile::Grass, |(_, tile)| tile)
    }

    /// The unit on a square and its side.
    #[must_use]
    pub fn unit(&self, square: Square) -> Option<(Side, Unit)> {
        let side = Side::ALL.into_iter().find(|side| self.side(*side).contains(square))?;
        Some((side, self.unit_at(square)))
    }

    /// The squares of one side's units.
    #[must_use]
    #[inline]
    pub fn side(&self, side: Side) -> SquareSet {
        self.sides[side.index()]
    }

    /// The squares of the units of a kind, of both sides.
    #[must_use]
    #[inline]
    pub fn units(&self, unit: Unit) -> SquareSet {
        self.units[unit.index()]
    }

    /// All squares with a unit.
    #[must_use]
    #[inline]
    pub fn occupied(&self) -> SquareSet {
        self.sides[0] | self.sides[1]
    }

    /// The side to move.
    #[must_use]
    #[inline]
    pub fn turn(&self) -> Side {
        self.turn
    }

    /// The squares of frozen units, of both sides.
    #[must_use]
    pub fn frozen(&self) -> SquareSet {
        self.frozen
    }

    /// The intact fortresses.
    #[must_use]
    pub fn fortresses(&self) -> SquareSet {
        self.fortresses
    }

    /// Plies since the last capture or ruined fortress.
    #[must_use]
    #[inline]
    pub fn quiet_plies(&self) -> u16 {
        self.quiet_plies
    }

    /// Plies since the start of the game.
    #[must_use]
    #[inline]
    pub fn plies(&self) -> u16 {
        self.plies
    }

    /// The square of a side's king; `None` when it has been captured.
    #[must_use]
    #[inline]
    pub fn king(&self, side: Side) -> Option<Square> {
        (self.units(Unit::King) & self.side(side)).first()
    }

    /// The side that has captured the other's king.
    #[must_use]
    #[inline]
    pub fn winner(&self) -> Option<Side> {
        Side::ALL.into_iter().find(|side| self.king(side.other()).is_none())
    }

    /// A hash of tiles, units, side to move and frozen squares, kept up to
    /// date as actions are played; positions that differ only in their
    /// counters have the same one.
    #[must_use]
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The hash computed from nothing: equal to [`Position::hash`].
    #[must_use]
    pub fn computed_hash(&self) -> u64 {
        let mut hash = if self.turn == Side::Black { KEYS.black } else { 0 };
        for square in Square::all() {
            hash ^= KEYS.tile(self.tile(square), square);
            if let Some((side, unit)) = self.unit(square) {
                hash ^= KEYS.unit(side, unit, square);
            }
        }
        self.frozen.fold(hash, |hash, square| hash ^ KEYS.frozen[square.index()])
    }

    /// The position mirrored left to right; the game is symmetric under it.
    #[must_use]
    pub fn mirror(&self) -> Position {
        self.transformed(SquareSet::mirror)
    }

    /// The position with the colours changed and the board flipped: the same
    /// game for the other seat.
    #[must_use]
    pub fn swap_sides(&self) -> Position {
        let mut swapped = self.transformed(SquareSet::flip);
        swapped.sides.swap(0, 1);
        swapped.turn = self.turn.other();
        swapped.rehash();
        swapped
    }

    fn transformed(&self, change: impl Fn(SquareSet) -> SquareSet) -> Position {
        let mut position = Position {
            units: self.units.map(&change),
            sides: self.sides.map(&change),
            mountains: change(self.mountains),
            waters: change(self.waters),
            forests: change(self.forests),
            fortresses: change(self.fortresses),
            ruins: change(self.ruins),
            frozen: change(self.frozen),
            ..*self
        };
        position.rehash();
        position
    }

    /// Whether an action that is legal here captures the enemy king, and with
    /// it wins the game.
    #[must_use]
    #[inline]
    pub fn captures_king(&self, action: Action) -> bool {
        let king = self.units(Unit::King) & self.side(self.turn.other());
        match action {
            Action::Move { to, .. } => king.contains(to),
            Action::Shot { to, .. } => (king & !self.fortresses).contains(to),
            Action::Assault { .. } | Action::Pass => false,
        }
    }

    /// Plays a legal action and returns the position after it.
    ///
    /// # Errors
    /// An action that is not legal here; nothing is changed.
    pub fn play(&self, action: Action, rules: &Rules) -> Result<Position, IllegalAction> {
        if !self.is_legal(action, rules) {
            return Err(IllegalAction { action, position: self.to_string() });
        }
        let mut next = self.clone();
        next.play_unchecked(action);
        Ok(next)
    }

    /// Plays an action that is known to be legal.
    ///
    /// An action that is not legal leaves a position that may break the rules
    /// (never memory safety); use [`Position::play`] where in doubt.
    #[inline]
    pub fn play_unchecked(&mut self, action: Action) {
        let us = self.turn;
        let mut frozen = self.frozen & !self.side(us);
        let mut progress = false;
        match action {
            Action::Move { from, to } => {
                if self.side(us.other()).contains(to) {
                    self.remove(us.other(), to);
                    frozen &= !to.set();
                    progress = true;
                }
                let unit = self.relocate(us, from, to);
                if self.waters.contains(to) && unit != Unit::Dragon {
                    frozen |= to.set();
                }
            }
            Action::Shot { to, .. } => {
                progress = true;
                if self.fortresses.contains(to) {
                    self.ruin(to);
                } else {
                    self.remove(us.other(), to);
                    frozen &= !to.set();
                }
            }
            Action::Assault { from, to, rest } => {
                progress = true;
                self.ruin(to);
                if rest != from {
                    self.relocate(us, from, rest);
                }
            }
            Action::Pass => {}
        }
        self.set_frozen(frozen);
        self.end_turn(progress);
    }

    /// The kind of the unit on an occupied square (the king's for an empty
    /// one).
    #[inline]
    fn unit_at(&self, square: Square) -> Unit {
        let others = Unit::ALL[..Unit::COUNT - 1].iter();
        others.copied().find(|unit| self.units(*unit).contains(square)).unwrap_or(Unit::King)
    }

    #[inline]
    fn remove(&mut self, side: Side, square: Square) {
        let unit = self.unit_at(square);
        self.units[unit.index()] ^= square.set();
        self.sides[side.index()] ^= square.set();
        self.hash ^= KEYS.unit(side, unit, square);
    }

    #[inline]
    fn relocate(&mut self, side: Side, from: Square, to: Square) -> Unit {
        let unit = self.unit_at(from);
        let both = from.set() | to.set();
        self.units[unit.index()] ^= both;
        self.sides[side.index()] ^= both;
        self.hash ^= KEYS.unit(side, unit, from) ^ KEYS.unit(side, unit, to);
        unit
    }

    fn ruin(&mut self, square: Square) {
        self.fortresses ^= square.set();
        self.ruins |= square.set();
        self.hash ^= KEYS.tile(Tile::Fortress, square) ^ KEYS.tile(Tile::Ruin, square);
    }

    #[inline]
    fn set_frozen(&mut self, frozen: SquareSet) {
        for square in self.frozen ^ frozen {
            self.hash ^= KEYS.frozen[square.index()];
        }
        self.frozen = frozen;
    }

    #[inline]
    fn end_turn(&mut self, progress: bool) {
        self.quiet_plies = if progress { 0 } else { self.quiet_plies.saturating_add(1) };
        self.plies = self.plies.saturating_add(1);
        self.turn = self.turn.other();
        self.hash ^= KEYS.black;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_starts_with_each_setup_on_its_own_side() {
        let rules = Rules::iron_throne();
        let text = "m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K2";
        let setup = Setup::parse(text, &rules).unwrap();
        let start = Position::start(&setup, &setup.mirror());

        for own in (0..Setup::SQUARES).map(Square::new) {
            let far = own.mirror().flip();
            let unit = |side| setup.unit(own).map(|unit| (side, unit));
            assert_eq!((start.tile(own), start.unit(own)), (setup.tile(own), unit(Side::White)));
            assert_eq!((start.tile(far), start.unit(far)), (setup.tile(own), unit(Side::Black)));
        }
        assert_eq!((start.turn(), start.plies(), start.quiet_plies()), (Side::White, 0, 0));
        assert_eq!(start.hash(), start.computed_hash());
        assert_eq!(Position::parse(&start.to_string(), &rules), Ok(start));
    }
}
