//! Squares, sides and sets of squares on the 8x8 board.

use std::fmt;

/// One of the two players. White moves first and owns ranks 1-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Side {
    /// The player whose homeland is ranks 1-4.
    White = 0,
    /// The player whose homeland is ranks 5-8.
    Black = 1,
}

impl Side {
    /// Both sides, white first.
    pub const ALL: [Side; 2] = [Side::White, Side::Black];

    /// The opponent.
    #[must_use]
    #[inline]
    pub const fn other(self) -> Side {
        match self {
            Side::White => Side::Black,
            Side::Black => Side::White,
        }
    }

    /// `w` or `b`, as in the text form of a position.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Side::White => 'w',
            Side::Black => 'b',
        }
    }

    /// 0 for white, 1 for black.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The 32 squares of this side's homeland.
    #[must_use]
    #[inline]
    pub const fn homeland(self) -> SquareSet {
        match self {
            Side::White => SquareSet(0x0000_0000_FFFF_FFFF),
            Side::Black => SquareSet(0xFFFF_FFFF_0000_0000),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::White => "white",
            Side::Black => "black",
        })
    }
}

/// A square of the board: a1 is 0, b1 is 1, h8 is 63.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The number of squares.
    pub const COUNT: usize = 64;

    /// The square with this number; only the six low bits are read.
    #[must_use]
    #[inline]
    pub const fn new(index: usize) -> Square {
        Square((index & 63) as u8)
    }

    /// The square on `file` (0 is a) and `rank` (0 is rank 1); only the three
    /// low bits of each are read.
    #[must_use]
    #[inline]
    pub const fn at(file: usize, rank: usize) -> Square {
        Square::new((rank & 7) * 8 + (file & 7))
    }

    /// All 64 squares in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..64).map(Square::new)
    }

    /// The square's number, 0 to 63.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        // The mask tells the compiler what `new` ensures.
        (self.0 & 63) as usize
    }

    /// The file, 0 (a) to 7 (h).
    #[must_use]
    #[inline]
    pub const fn file(self) -> usize {
        self.index() & 7
    }

    /// The rank, 0 (rank 1) to 7 (rank 8).
    #[must_use]
    #[inline]
    pub const fn rank(self) -> usize {
        self.index() >> 3
    }

    /// The same square on the board flipped top to bottom: from black's view
    /// to white's and back.
    #[must_use]
    #[inline]
    pub const fn flip(self) -> Square {
        Square(self.0 ^ 56)
    }

    /// This square as `side` numbers it in its own view.
    #[must_use]
    #[inline]
    pub const fn in_view_of(self, side: Side) -> Square {
        Square(self.0 ^ (56 * side as u8))
    }

    /// The same square on the board mirrored left to right.
    #[must_use]
    #[inline]
    pub const fn mirror(self) -> Square {
        Square(self.0 ^ 7)
    }

    /// The square `files` to the right and `ranks` up, if it is on the board.
    #[must_use]
    pub const fn offset(self, files: i32, ranks: i32) -> Option<Square> {
        let file = self.file() as i32 + files;
        let rank = self.rank() as i32 + ranks;
        if file < 0 || file > 7 || rank < 0 || rank > 7 {
            return None;
        }
        Some(Square::at(file as usize, rank as usize))
    }

    /// The set of this square alone.
    #[must_use]
    #[inline]
    pub const fn set(self) -> SquareSet {
        SquareSet(1 << self.index())
    }

    /// Reads a square such as `e4` from two bytes.
    #[must_use]
    pub const fn from_text(file: u8, rank: u8) -> Option<Square> {
        if file < b'a' || file > b'h' || rank < b'1' || rank > b'8' {
            return None;
        }
        Some(Square::at((file - b'a') as usize, (rank - b'1') as usize))
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = char::from(b'a' + self.file() as u8);
        let rank = char::from(b'1' + self.rank() as u8);
        write!(f, "{file}{rank}")
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of squares, one bit each: bit 0 is a1, bit 63 is h8.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SquareSet(pub u64);

const NOT_FILE_A: u64 = 0xFEFE_FEFE_FEFE_FEFE;
const NOT_FILE_H: u64 = 0x7F7F_7F7F_7F7F_7F7F;

impl SquareSet {
    /// No square.
    pub const EMPTY: SquareSet = SquareSet(0);
    /// All 64 squares.
    pub const ALL: SquareSet = SquareSet(!0);

    /// The number of squares in the set.
    #[must_use]
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set has no square.
    #[must_use]
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set has any square.
    #[must_use]
    #[inline]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether `square` is in the set.
    #[must_use]
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        self.0 & (1 << square.index()) != 0
    }

    /// The lowest square of the set, if there is one.
    #[must_use]
    #[inline]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square(self.0.trailing_zeros() as u8)) }
    }

    /// The set flipped top to bottom.
    #[must_use]
    #[inline]
    pub const fn flip(self) -> SquareSet {
        SquareSet(self.0.swap_bytes())
    }

    /// The set as `side` sees it in its own view.
    #[must_use]
    #[inline]
    pub const fn in_view_of(self, side: Side) -> SquareSet {
        match side {
            Side::White => self,
            Side::Black => self.flip(),
        }
    }

    /// The set mirrored left to right.
    #[must_use]
    #[inline]
    pub const fn mirror(self) -> SquareSet {
        SquareSet(self.0.reverse_bits().swap_bytes())
    }

    /// The squares one orthogonal step away from any square of the set.
    #[must_use]
    #[inline]
    pub const fn orthogonal(self) -> SquareSet {
        let b = self.0;
        SquareSet(b << 8 | b >> 8 | (b << 1 & NOT_FILE_A) | (b >> 1 & NOT_FILE_H))
    }

    /// The squares one diagonal step away from any square of the set.
    #[must_use]
    #[inline]
    pub const fn diagonal(self) -> SquareSet {
        let b = self.0;
        let sides = [b << 1 & NOT_FILE_A, b >> 1 & NOT_FILE_H];
        let both = sides[0] | sides[1];
        SquareSet(both << 8 | both >> 8)
    }

    /// The squares one step in any direction away from any square of the set
    /// (a square of the set is in it only beside another).
    #[must_use]
    #[inline]
    pub const fn adjacent(self) -> SquareSet {
        let b = self.0;
        let row = b << 1 & NOT_FILE_A | b >> 1 & NOT_FILE_H;
        let three = row | b;
        SquareSet(row | three << 8 | three >> 8)
    }
}

macro_rules! set_operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident, $op:tt) => {
        impl std::ops::$trait for SquareSet {
            type Output = SquareSet;
            #[inline]
            fn $method(self, other: SquareSet) -> SquareSet {
                SquareSet(self.0 $op other.0)
            }
        }
        impl std::ops::$assign for SquareSet {
            #[inline]
            fn $assign_method(&mut self, other: SquareSet) {
                self.0 = self.0 $op other.0;
            }
        }
    };
}
set_operator!(BitAnd, bitand, BitAndAssign, bitand_assign, &);
set_operator!(BitOr, bitor, BitOrAssign, bitor_assign, |);
set_operator!(BitXor, bitxor, BitXorAssign, bitxor_assign, ^);

impl std::ops::Not for SquareSet {
    type Output = SquareSet;
    #[inline]
    fn not(self) -> SquareSet {
        SquareSet(!self.0)
    }
}

impl Iterator for SquareSet {
    type Item = Square;

    /// Takes the lowest square out of the set.
    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.first()?;
        self.0 &= self.0.wrapping_sub(1);
        Some(square)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (SquareSet::len(*self), Some(SquareSet::len(*self)))
    }
}

impl FromIterator<Square> for SquareSet {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> SquareSet {
        squares.into_iter().fold(SquareSet::EMPTY, |set, square| set | square.set())
    }
}

impl fmt::Debug for SquareSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_agree_with_offsets() {
        const ORTHOGONAL: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
        const DIAGONAL: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
        let walk = |square: Square, steps: &[(i32, i32)]| -> SquareSet {
            steps.iter().filter_map(|&(f, r)| square.offset(f, r)).collect()
        };
        for square in Square::all() {
            assert_eq!(square.set().orthogonal(), walk(square, &ORTHOGONAL));
            assert_eq!(square.set().diagonal(), walk(square, &DIAGONAL));
            assert_eq!(square.set().adjacent(), walk(square, &[ORTHOGONAL, DIAGONAL].concat()));
        }
    }

    #[test]
    fn flips_and_mirrors_agree_with_squares() {
        for square in Square::all() {
            assert_eq!(square.set().flip(), square.flip().set());
            assert_eq!(square.set().mirror(), square.mirror().set());
            let text = square.to_string();
            assert_eq!(Square::from_text(text.as_bytes()[0], text.as_bytes()[1]), Some(square));
        }
    }
}
