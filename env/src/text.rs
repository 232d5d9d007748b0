//! The text form of a position: six fields separated by one space.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::position::Position;
use crate::rules::Rules;
use crate::square::{Side, Square, SquareSet};
use crate::tile::Tile;
use crate::unit::Unit;

/// Why a text is no position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PositionError {
    /// Not six fields.
    #[error(
        "a position has 6 fields separated by one space \
         (tiles units side frozen quiet-plies plies), not {0}"
    )]
    Fields(usize),
    /// A board field that is not eight ranks of eight files.
    #[error("{field}: {reason}")]
    Board {
        /// `tiles` or `units`.
        field: &'static str,
        /// What is wrong and where.
        reason: String,
    },
    /// The side to move is neither `w` nor `b`.
    #[error("side to move: expected `w` or `b`, not `{0}`")]
    Side(String),
    /// A frozen field that cannot be read.
    #[error(
        "frozen squares: expected squares in ascending order such as `c3f6`, or `-`, not `{0}`"
    )]
    Frozen(String),
    /// A frozen square without a unit that could be frozen.
    #[error("frozen squares: {square} {reason}")]
    NotFrozen {
        /// The square.
        square: Square,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A counter that is no number within 65535.
    #[error("{field}: expected a number from 0 to 65535, not `{value}`")]
    Counter {
        /// `quiet plies` or `plies`.
        field: &'static str,
        /// The text.
        value: String,
    },
    /// A side with several kings, or no king at all.
    #[error("units: {0}")]
    Kings(String),
    /// A unit that may not stand on a mountain.
    #[error("units: the {unit} on {square} stands on a mountain, where only a dragon may")]
    OnMountain {
        /// The unit.
        unit: Unit,
        /// Its square.
        square: Square,
    },
    /// An intact fortress that the rules do not allow.
    #[error("tiles: {0}")]
    Fortress(String),
}

impl Position {
    /// Reads the text form.
    ///
    /// ```
    /// use cyvasse_env::{Position, Rules};
    ///
    /// let rules = Rules::iron_throne();
    /// let text = "8/8/8/4w3/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w e5 0 12";
    /// let position = Position::parse(text, &rules)?;
    /// assert_eq!(position.to_string(), text);
    /// # Ok::<(), cyvasse_env::PositionError>(())
    /// ```
    ///
    /// # Errors
    /// Everything that is not exactly what [`Display`](fmt::Display) writes,
    /// with the reason.
    pub fn parse(text: &str, rules: &Rules) -> Result<Position, PositionError> {
        let fields: Vec<&str> = text.split(' ').collect();
        let &[tiles, units, turn, frozen, quiet_plies, plies] = fields.as_slice() else {
            return Err(PositionError::Fields(fields.len()));
        };
        let mut position = Position::blank();
        for (square, letter) in read_board("tiles", tiles, Tile::from_letter)? {
            position.lay(letter, square);
        }
        let unit = |letter| Some((read_side(letter), Unit::from_letter(letter)?));
        for (square, (side, unit)) in read_board("units", units, unit)? {
            position.put(side, unit, square);
        }
        position.turn = match turn {
            "w" => Side::White,
            "b" => Side::Black,
            _ => return Err(PositionError::Side(shorten(turn))),
        };
        position.frozen = read_frozen(frozen)?;
        position.quiet_plies = read_counter("quiet plies", quiet_plies)?;
        position.plies = read_counter("plies", plies)?;
        position.validate(rules)?;
        position.rehash();
        Ok(position)
    }

    fn validate(&self, rules: &Rules) -> Result<(), PositionError> {
        let kings = Side::ALL.map(|side| (self.units(Unit::King) & self.side(side)).len());
        if kings == [0, 0] {
            return Err(PositionError::Kings("there is no king".into()));
        }
        if let Some(side) = Side::ALL.into_iter().find(|side| kings[side.index()] > 1) {
            let count = kings[side.index()];
            return Err(PositionError::Kings(format!(
                "{side} has {count} kings, at most 1 is possible"
            )));
        }
        let stranded = self.occupied() & self.mountains & !self.units(Unit::Dragon);
        if let Some((square, (_, unit))) = stranded.first().and_then(|s| Some((s, self.unit(s)?))) {
            return Err(PositionError::OnMountain { unit, square });
        }
        for square in self.frozen {
            let reason = match (self.unit(square), self.tile(square)) {
                (None, _) => "is empty",
                (Some((_, Unit::Dragon)), _) => "is under a dragon, which is never frozen",
                (_, Tile::Water) => continue,
                _ => "is not water",
            };
            return Err(PositionError::NotFrozen { square, reason });
        }
        if self.fortresses.any() && rules.tiles.fortress == 0 {
            let reason = format!("the rules `{}` have no fortress", rules.name);
            return Err(PositionError::Fortress(reason));
        }
        for side in Side::ALL {
            let count = (self.fortresses & side.homeland()).len();
            if count > 1 {
                let reason = format!(
                    "{side}'s homeland has {count} intact fortresses, at most 1 is possible"
                );
                return Err(PositionError::Fortress(reason));
            }
        }
        Ok(())
    }
}

/// A text cut to a length that fits a message.
fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

fn read_side(letter: char) -> Side {
    if letter.is_ascii_uppercase() { Side::White } else { Side::Black }
}

/// The squares of a board field that are not left out by a run of digits.
fn read_board<T>(
    field: &'static str,
    text: &str,
    read: impl Fn(char) -> Option<T>,
) -> Result<Vec<(Square, T)>, PositionError> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != 8 {
        let reason = format!("expected 8 ranks separated by `/`, not {}", rows.len());
        return Err(PositionError::Board { field, reason });
    }
    let mut squares = Vec::new();
    for (rank, row) in (0..8).rev().zip(rows) {
        let row = crate::row::read(row, &read).map_err(|reason| PositionError::Board {
            field,
            reason: format!("rank {}: {reason}", rank + 1),
        })?;
        squares.extend(row.into_iter().map(|(file, item)| (Square::at(file, rank), item)));
    }
    Ok(squares)
}

fn read_frozen(text: &str) -> Result<SquareSet, PositionError> {
    let refuse = || PositionError::Frozen(shorten(text));
    if text == "-" {
        return Ok(SquareSet::EMPTY);
    }
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return Err(refuse());
    }
    let squares: Option<Vec<Square>> =
        pairs.iter().map(|&[file, rank]| Square::from_text(file, rank)).collect();
    let squares =
        squares.filter(|squares| squares.is_sorted_by(|a, b| a < b)).ok_or_else(refuse)?;
    Ok(squares.into_iter().collect())
}

fn read_counter(field: &'static str, text: &str) -> Result<u16, PositionError> {
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    u16::from_str(text)
        .ok()
        .filter(|_| plain)
        .ok_or_else(|| PositionError::Counter { field, value: shorten(text) })
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |square| {
            let (side, unit) = self.unit(square)?;
            let letter = unit.letter();
            Some(if side == Side::White { letter } else { letter.to_ascii_lowercase() })
        };
        write_board(f, |square| self.tile(square).letter())?;
        f.write_str(" ")?;
        write_board(f, unit)?;
        write!(f, " {} ", self.turn.letter())?;
        if self.frozen.is_empty() {
            f.write_str("-")?;
        }
        for square in self.frozen {
            write!(f, "{square}")?;
        }
        write!(f, " {} {}", self.quiet_plies, self.plies)
    }
}

fn write_board(f: &mut fmt::Formatter<'_>, letter: impl Fn(Square) -> Option<char>) -> fmt::Result {
    for rank in (0..8).rev() {
        crate::row::write(f, (0..8).map(|file| letter(Square::at(file, rank))))?;
        if rank > 0 {
            f.write_str("/")?;
        }
    }
    Ok(())
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({self})")
    }
}
