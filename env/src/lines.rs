//! Straight lines: what a dragon sees and what a shot can reach.
//!
//! Sliding attacks use the obstruction difference of the two blockers next to
//! the square (Gerd Isenberg, chessprogramming.org, "Obstruction
//! Difference"): no large tables, so they stay in the first-level cache.

use crate::square::{Square, SquareSet};

/// The eight directions as steps (files, ranks), clockwise from north. Even
/// ones are orthogonal, odd ones diagonal.
pub(crate) const DIRECTIONS: [(i32, i32); 8] =
    [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// A line through a square, split at the square.
#[derive(Clone, Copy)]
struct Line {
    lower: u64,
    upper: u64,
}

/// The squares from `square` in a direction, at most `range` of them.
const fn ray(square: Square, direction: usize, range: i32) -> u64 {
    let (files, ranks) = DIRECTIONS[direction];
    let mut set = 0;
    let mut distance = 1;
    while distance <= range {
        match square.offset(files * distance, ranks * distance) {
            Some(next) => set |= next.set().0,
            None => break,
        }
        distance += 1;
    }
    set
}

/// North-south, north-east to south-west, east-west and north-west to
/// south-east lines of each square; the first of each pair leads upwards.
const LINES: [[Line; 4]; 64] = {
    const PAIRS: [(usize, usize); 4] = [(0, 4), (1, 5), (2, 6), (7, 3)];
    let mut lines = [[Line { lower: 0, upper: 0 }; 4]; 64];
    let mut square = 0;
    while square < 64 {
        let mut line = 0;
        while line < 4 {
            let (up, down) = PAIRS[line];
            lines[square][line] = Line {
                upper: ray(Square::new(square), up, 7),
                lower: ray(Square::new(square), down, 7),
            };
            line += 1;
        }
        square += 1;
    }
    lines
};

/// Squares within a range along the four orthogonal or diagonal directions.
const fn within(first_direction: usize, range: i32) -> [u64; 64] {
    let mut sets = [0; 64];
    let mut square = 0;
    while square < 64 {
        let mut direction = first_direction;
        while direction < 8 {
            sets[square] |= ray(Square::new(square), direction, range);
            direction += 2;
        }
        square += 1;
    }
    sets
}

const ORTHOGONAL_WITHIN: [[u64; 64]; 5] =
    [within(0, 0), within(0, 1), within(0, 2), within(0, 3), within(0, 4)];
const DIAGONAL_WITHIN: [[u64; 64]; 4] = [within(1, 0), within(1, 1), within(1, 2), within(1, 3)];

/// The squares within the ranges along the straight lines, blockers aside.
#[inline]
pub(crate) fn range(square: Square, orthogonal: u8, diagonal: u8) -> SquareSet {
    let orthogonal = ORTHOGONAL_WITHIN[usize::from(orthogonal)][square.index()];
    let diagonal = DIAGONAL_WITHIN[usize::from(diagonal)][square.index()];
    SquareSet(orthogonal | diagonal)
}

/// The squares that the eight lines from `square` reach, each up to and with
/// the first blocker.
#[inline]
pub(crate) fn visible(square: Square, blockers: SquareSet) -> SquareSet {
    let mut seen = 0;
    for line in &LINES[square.index()] {
        let lower = line.lower & blockers.0;
        let upper = line.upper & blockers.0;
        let below = !0u64 << (63 - (lower | 1).leading_zeros());
        let above = upper & upper.wrapping_neg();
        seen |= (line.lower | line.upper) & above.wrapping_mul(2).wrapping_add(below);
    }
    SquareSet(seen)
}

/// The direction that leads from one square to another on a straight line.
#[must_use]
pub(crate) fn direction(from: Square, to: Square) -> Option<usize> {
    let files = to.file() as i32 - from.file() as i32;
    let ranks = to.rank() as i32 - from.rank() as i32;
    if (files, ranks) == (0, 0) || (files != 0 && ranks != 0 && files.abs() != ranks.abs()) {
        return None;
    }
    DIRECTIONS.iter().position(|&step| step == (files.signum(), ranks.signum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_squares_agree_with_walking_the_lines() {
        let mut blockers = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..2000 {
            blockers = blockers.rotate_left(13).wrapping_mul(0x2545_F491_4F6C_DD1D) ^ round;
            let set = SquareSet(blockers & blockers.rotate_left(7));
            for square in Square::all() {
                let mut expected = SquareSet::EMPTY;
                for (files, ranks) in DIRECTIONS {
                    let mut next = square.offset(files, ranks);
                    while let Some(seen) = next {
                        expected |= seen.set();
                        next = if set.contains(seen) { None } else { seen.offset(files, ranks) };
                    }
                }
                assert_eq!(visible(square, set & !square.set()), expected);
            }
        }
    }
}
