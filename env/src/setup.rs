//! A setup: the tiles and units of one homeland before the screen is lifted.

use crate::rules::Rules;
use crate::square::{Square, SquareSet};
use crate::tile::Tile;
use crate::unit::Unit;

mod builder;
mod mountains;
mod space;
mod text;

pub use builder::{IllegalToken, SetupBuilder};
pub use space::SetupSpace;

/// One player's setup in its own view: square 0 is a1 and 31 is h4, and the home
/// rank is rank 1 for either side. It says nothing about the side.
///
/// A value of this type need not be legal under any rules: see
/// [`Setup::check`].
///
/// ```
/// use cyvasse_env::{Rules, Setup, Square, Tile, Unit};
///
/// let text = "m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K2";
/// let setup = Setup::parse(text, &Rules::iron_throne())?;
/// assert_eq!(setup.tile(Square::at(0, 3)), Tile::Mountain);
/// assert_eq!(setup.unit(Square::at(0, 3)), Some(Unit::Dragon));
/// assert_eq!(setup.to_string(), text);
/// # Ok::<(), cyvasse_env::SetupError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    tiles: [Tile; Setup::SQUARES],
    units: [Option<Unit>; Setup::SQUARES],
}

/// Why a setup is refused. Each prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The text does not consist of the tiles, one space and the units.
    #[error("a setup is two fields, tiles and units, with one space between; here are {found}")]
    Fields {
        /// How many fields there are.
        found: usize,
    },
    /// A field does not consist of four ranks.
    #[error("the {field} have {found} ranks instead of 4")]
    Ranks {
        /// `tiles` or `units`.
        field: &'static str,
        /// How many ranks there are.
        found: usize,
    },
    /// A rank does not consist of eight squares.
    #[error("rank {rank} of the {field} has {found} squares instead of 8")]
    RankLength {
        /// `tiles` or `units`.
        field: &'static str,
        /// The rank in own view, 1 to 4.
        rank: usize,
        /// How many squares it has.
        found: usize,
    },
    /// A run of grass or of empty squares that is written in pieces.
    #[error("rank {rank} of the {field} has one digit beside another instead of their sum")]
    Digits {
        /// `tiles` or `units`.
        field: &'static str,
        /// The rank in own view, 1 to 4.
        rank: usize,
    },
    /// A character that means nothing in its field.
    #[error("{letter:?} on {square} is none of the {field}, nor a digit from 1 to 8")]
    Letter {
        /// `tiles` or `units`.
        field: &'static str,
        /// The character.
        letter: char,
        /// Where it stands, in own view.
        square: Square,
    },
    /// A byte that is no tile with or without a unit.
    #[error("byte {index} is {byte:#04x}, which is no tile with or without a unit")]
    Byte {
        /// The place of the byte, 0 to 31.
        index: usize,
        /// The byte.
        byte: u8,
    },
    /// A ruin, which nobody lays.
    #[error("a ruin lies on {square}; a setup has none")]
    Ruin {
        /// Where it lies, in own view.
        square: Square,
    },
    /// Too few or too many tiles of a kind.
    #[error("{tile}: {found} instead of {expected}")]
    TileCount {
        /// The kind.
        tile: Tile,
        /// How many there are.
        found: usize,
        /// How many the rules demand.
        expected: usize,
    },
    /// Too few or too many units of a kind.
    #[error("{unit}: {found} instead of {expected}")]
    UnitCount {
        /// The kind.
        unit: Unit,
        /// How many there are.
        found: usize,
        /// How many the rules demand.
        expected: usize,
    },
    /// Too many mountains in a group.
    #[error("the mountain on {square} is in a group of {found}; at most {limit} may be connected")]
    MountainGroup {
        /// The lowest square of the group, in own view.
        square: Square,
        /// The size of the group.
        found: usize,
        /// The largest size that the rules allow.
        limit: usize,
    },
    /// A unit that may not stand on a mountain does.
    #[error("{unit} on {square} stands on a mountain; only a dragon may")]
    OnMountain {
        /// The unit.
        unit: Unit,
        /// Where it stands, in own view.
        square: Square,
    },
}

impl Setup {
    /// The squares of a homeland.
    pub const SQUARES: usize = 32;

    /// A setup from its tiles and units by [`Square::index`] in own view; not
    /// checked.
    #[must_use]
    pub const fn new(tiles: [Tile; 32], units: [Option<Unit>; 32]) -> Setup {
        Setup { tiles, units }
    }

    /// The tiles, by [`Square::index`] in own view.
    #[must_use]
    pub const fn tiles(&self) -> &[Tile; 32] {
        &self.tiles
    }

    /// The units, by [`Square::index`] in own view.
    #[must_use]
    pub const fn units(&self) -> &[Option<Unit>; 32] {
        &self.units
    }

    /// The tile on `square`, in own view.
    ///
    /// # Panics
    ///
    /// If the square is not on ranks 1 to 4.
    #[must_use]
    pub const fn tile(&self, square: Square) -> Tile {
        self.tiles[square.index()]
    }

    /// The unit on `square`, in own view.
    ///
    /// # Panics
    ///
    /// If the square is not on ranks 1 to 4.
    #[must_use]
    pub const fn unit(&self, square: Square) -> Option<Unit> {
        self.units[square.index()]
    }

    /// The setup mirrored left to right, which is legal if this one is.
    #[must_use]
    pub fn mirror(&self) -> Setup {
        let mirrored = |index: usize| Square::new(index).mirror().index();
        Setup {
            tiles: std::array::from_fn(|index| self.tiles[mirrored(index)]),
            units: std::array::from_fn(|index| self.units[mirrored(index)]),
        }
    }

    /// Checks that a player may set up like this.
    ///
    /// # Errors
    ///
    /// The first reason why not: wrong counts, too large a group of mountains,
    /// or a unit other than a dragon on a mountain.
    pub fn check(&self, rules: &Rules) -> Result<(), SetupError> {
        self.check_tile_counts(rules)?;
        self.check_groups(usize::from(rules.tiles.largest_mountain_group))?;
        self.check_unit_counts(rules)?;
        self.check_mountaineers()
    }

    fn check_tile_counts(&self, rules: &Rules) -> Result<(), SetupError> {
        if let Some(index) = self.tiles.iter().position(|&tile| tile == Tile::Ruin) {
            return Err(SetupError::Ruin { square: Square::new(index) });
        }
        // The mistake is named at the tile that is short or over; grass, which
        // makes up the difference, comes last.
        let [grass, rest @ ..] = Tile::LAID;
        for tile in rest.into_iter().chain([grass]) {
            let found = self.tiles.iter().filter(|&&laid| laid == tile).count();
            let expected = usize::from(rules.tiles.count(tile));
            if found != expected {
                return Err(SetupError::TileCount { tile, found, expected });
            }
        }
        Ok(())
    }

    fn check_groups(&self, limit: usize) -> Result<(), SetupError> {
        let mut rest = self.mountains();
        while let Some(square) = rest.first() {
            let mut group = square.set();
            loop {
                let grown = group | group.orthogonal() & rest;
                if grown == group {
                    break;
                }
                group = grown;
            }
            let found = SquareSet::len(group);
            if found > limit {
                return Err(SetupError::MountainGroup { square, found, limit });
            }
            rest &= !group;
        }
        Ok(())
    }

    fn check_unit_counts(&self, rules: &Rules) -> Result<(), SetupError> {
        for unit in Unit::ALL {
            let found = self.units.iter().filter(|&&placed| placed == Some(unit)).count();
            let expected = usize::from(rules.unit(unit).count);
            if found != expected {
                return Err(SetupError::UnitCount { unit, found, expected });
            }
        }
        Ok(())
    }

    fn check_mountaineers(&self) -> Result<(), SetupError> {
        for square in self.mountains() {
            match self.unit(square) {
                None | Some(Unit::Dragon) => {}
                Some(unit) => return Err(SetupError::OnMountain { unit, square }),
            }
        }
        Ok(())
    }

    fn mountains(&self) -> SquareSet {
        let squares = (0..Self::SQUARES).map(Square::new);
        squares.filter(|&square| self.tile(square) == Tile::Mountain).collect()
    }

    /// The setup in 32 bytes, one a square by [`Square::index`] in own view: the
    /// tile's number (its place in [`Tile::LAID`]) in the three low bits, and
    /// above them 0 for no unit or 1 + [`Unit::index`]. (A ruin, which no legal
    /// setup has, is written as the tile 5, and [`Setup::from_bytes`] refuses it.)
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        std::array::from_fn(|index| {
            let unit = self.units[index].map_or(0, |unit| 1 + unit as u8);
            self.tiles[index] as u8 | unit << 3
        })
    }

    /// Reads what [`Setup::to_bytes`] has written.
    ///
    /// # Errors
    ///
    /// If a byte is none that it writes. Whether the setup is legal is not
    /// checked: see [`Setup::check`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Setup, SetupError> {
        let mut setup = Setup { tiles: [Tile::Grass; 32], units: [None; 32] };
        for (index, &byte) in bytes.iter().enumerate() {
            let wrong = SetupError::Byte { index, byte };
            let tile = Tile::LAID.get(usize::from(byte & 7));
            setup.tiles[index] = *tile.ok_or_else(|| wrong.clone())?;
            setup.units[index] = match usize::from(byte >> 3) {
                0 => None,
                code => Some(*Unit::ALL.get(code - 1).ok_or(wrong)?),
            };
        }
        Ok(setup)
    }
}
