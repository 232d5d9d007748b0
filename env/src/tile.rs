//! The kinds of tile.

use std::fmt;

/// What lies on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Tile {
    /// No effect.
    Grass = 0,
    /// Impassable to all but the dragon; blocks most shots.
    Mountain = 1,
    /// Ends the move of a unit that enters it and freezes the unit.
    Water = 2,
    /// Costs one more step to enter; hides its occupant from the dragon.
    Forest = 3,
    /// Saves its occupant from the first attack.
    Fortress = 4,
    /// A fortress that has been attacked: grass for the rest of the game.
    Ruin = 5,
}

impl Tile {
    /// The tiles that a player lays, in the order of their numbers (a ruin is
    /// never laid).
    pub const LAID: [Tile; 5] =
        [Tile::Grass, Tile::Mountain, Tile::Water, Tile::Forest, Tile::Fortress];

    /// The letter of the text forms; grass is written as a run of digits.
    #[must_use]
    pub const fn letter(self) -> Option<char> {
        match self {
            Tile::Grass => None,
            Tile::Mountain => Some('m'),
            Tile::Water => Some('w'),
            Tile::Forest => Some('f'),
            Tile::Fortress => Some('c'),
            Tile::Ruin => Some('r'),
        }
    }

    /// The tile with this letter.
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<Tile> {
        match letter {
            'm' => Some(Tile::Mountain),
            'w' => Some(Tile::Water),
            'f' => Some(Tile::Forest),
            'c' => Some(Tile::Fortress),
            'r' => Some(Tile::Ruin),
            _ => None,
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tile::Grass => "grass",
            Tile::Mountain => "mountain",
            Tile::Water => "water",
            Tile::Forest => "forest",
            Tile::Fortress => "fortress",
            Tile::Ruin => "ruin",
        })
    }
}
