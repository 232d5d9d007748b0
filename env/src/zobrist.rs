//! Keys of the incremental position hash (Zobrist 1970).
//!
//! The hash covers what makes two positions the same for the repetition rule:
//! tiles, units, side to move and frozen squares; the counters are left out.

use crate::square::{Side, Square};
use crate::tile::Tile;
use crate::unit::Unit;

pub(crate) struct Keys {
    pub(crate) units: [[[u64; 64]; Unit::COUNT]; 2],
    tiles: [[u64; 64]; 6],
    pub(crate) frozen: [u64; 64],
    /// Present when black is to move.
    pub(crate) black: u64,
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014).
const fn next(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31), state)
}

const fn row(mut state: u64) -> ([u64; 64], u64) {
    let mut keys = [0; 64];
    let mut square = 0;
    while square < 64 {
        (keys[square], state) = next(state);
        square += 1;
    }
    (keys, state)
}

pub(crate) static KEYS: Keys = {
    let mut state = 0x4359_5641_5353_4531;
    let mut units = [[[0; 64]; Unit::COUNT]; 2];
    let mut side = 0;
    while side < 2 {
        let mut unit = 0;
        while unit < Unit::COUNT {
            (units[side][unit], state) = row(state);
            unit += 1;
        }
        side += 1;
    }
    let mut tiles = [[0; 64]; 6];
    // Grass keeps the key 0, so that an empty board hashes to 0.
    let mut tile = 1;
    while tile < 6 {
        (tiles[tile], state) = row(state);
        tile += 1;
    }
    let (frozen, state) = row(state);
    Keys { units, tiles, frozen, black: next(state).0 }
};

impl Keys {
    #[inline]
    pub(crate) fn unit(&self, side: Side, unit: Unit, square: Square) -> u64 {
        self.units[side.index()][unit.index()][square.index()]
    }

    #[inline]
    pub(crate) fn tile(&self, tile: Tile, square: Square) -> u64 {
        self.tiles[tile as usize][square.index()]
    }
}
