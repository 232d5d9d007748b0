//! A rules file in the form that the rest of the package works with.
//!
//! Every number of the game that is a matter of choice stands in a rules file
//! (see [`Rules::from_toml`] for its keys and bounds); everything else is code.

use crate::tile::Tile;
use crate::unit::{Unit, UnitSet};

mod file;

pub use file::RulesError;

/// The rules of a game, checked and ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The name that the file gives itself.
    pub name: String,
    /// What a player builds a homeland from.
    pub tiles: TileCounts,
    /// When a game is drawn.
    pub draws: DrawRules,
    /// What each kind of unit may do, by [`Unit::index`].
    pub units: [UnitRules; Unit::COUNT],
}

/// The tiles of one homeland; grass fills the rest of the 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileCounts {
    /// Mountains a player.
    pub mountain: u8,
    /// Water tiles a player.
    pub water: u8,
    /// Forests a player.
    pub forest: u8,
    /// Fortresses a player, 0 or 1.
    pub fortress: u8,
    /// The most mountains that may connect orthogonally inside a homeland.
    pub largest_mountain_group: u8,
}

impl TileCounts {
    /// Grass tiles a player.
    #[must_use]
    pub const fn grass(&self) -> u8 {
        32 - self.mountain - self.water - self.forest - self.fortress
    }

    /// Tiles of this kind a player (no ruins).
    #[must_use]
    pub const fn count(&self, tile: Tile) -> u8 {
        match tile {
            Tile::Grass => self.grass(),
            Tile::Mountain => self.mountain,
            Tile::Water => self.water,
            Tile::Forest => self.forest,
            Tile::Fortress => self.fortress,
            Tile::Ruin => 0,
        }
    }
}

/// When a game is drawn; each number is the one at which the draw is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRules {
    /// Plies without a capture or a ruined fortress.
    pub no_progress_plies: u16,
    /// Occurrences of the same position.
    pub repetitions: u8,
    /// Plies in all.
    pub max_plies: u16,
}

/// What one kind of unit may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRules {
    /// Units of this kind a player.
    pub count: u8,
    /// How it moves.
    pub movement: Movement,
    /// How it shoots; a unit that shoots moves only to empty squares.
    pub shots: Option<Shots>,
    /// The kinds that it may capture.
    pub captures: UnitSet,
}

/// How a unit moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// One or two ways to walk; they are not mixed in one move.
    Walk(Walk, Option<Walk>),
    /// The dragon's: any number of squares in a straight line, over all tiles.
    Flight {
        /// Whether it passes over units (an enemy dragon always stops it).
        over_units: bool,
    },
}

/// A way to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The kind of each step.
    pub steps: Steps,
    /// The most steps, 1 to 3.
    pub reach: u8,
}

/// The kind of a single step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Along files and ranks.
    Orthogonal,
    /// Along diagonals.
    Diagonal,
    /// Either, chosen anew at each step.
    Any,
}

/// How far a unit shoots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shots {
    /// Range along files and ranks, 0 to 4.
    pub orthogonal: u8,
    /// Range along diagonals, 0 to 3.
    pub diagonal: u8,
    /// Whether mountains do not block the shot.
    pub over_mountains: bool,
}

impl Rules {
    /// The default rules, `configs/rules/iron-throne.toml`.
    #[must_use]
    pub fn iron_throne() -> Rules {
        let text = include_str!("../../configs/rules/iron-throne.toml");
        Rules::from_toml(text).expect("the embedded rules file is checked by a test")
    }

    /// What units of `kind` may do.
    #[must_use]
    #[inline]
    pub const fn unit(&self, kind: Unit) -> &UnitRules {
        &self.units[kind as usize]
    }

    /// Units a player, of all kinds.
    #[must_use]
    pub fn unit_count(&self) -> usize {
        self.units.iter().map(|unit| usize::from(unit.count)).sum()
    }
}
