//! The text form of a setup: `tiles units`, four ranks each, the front first.

use std::fmt;

use super::{Setup, SetupError};
use crate::rules::Rules;
use crate::square::Square;
use crate::tile::Tile;
use crate::unit::Unit;

impl Setup {
    /// Reads a setup in the text form that its [`Display`](fmt::Display)
    /// writes, and checks it.
    ///
    /// The form is two fields separated by one space, tiles and units, each the
    /// ranks 4 to 1 separated by `/`, files a to h. Letters are those of
    /// [`Tile::letter`] and [`Unit::letter`]; a digit stands for the longest
    /// possible run of grass or of empty squares.
    ///
    /// # Errors
    ///
    /// The first mistake in the form, or the reason why the setup is not legal
    /// (see [`Setup::check`]).
    ///
    /// ```
    /// use cyvasse_env::{Rules, Setup};
    ///
    /// let text = "m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K1q";
    /// let refused = Setup::parse(text, &Rules::iron_throne()).unwrap_err();
    /// assert_eq!(refused.to_string(), "'q' on h1 is none of the units, nor a digit from 1 to 8");
    /// ```
    pub fn parse(text: &str, rules: &Rules) -> Result<Setup, SetupError> {
        let found = text.split(' ').count();
        let Some((tiles, units)) = text.split_once(' ').filter(|_| found == 2) else {
            return Err(SetupError::Fields { found });
        };
        let unit = |letter: char| Unit::from_letter(letter).filter(|_| letter.is_ascii_uppercase());
        let tiles = read_field("tiles", tiles, Tile::from_letter)?;
        let units = read_field("units", units, unit)?;
        let setup = Setup { tiles: tiles.map(|tile| tile.unwrap_or(Tile::Grass)), units };
        setup.check(rules)?;
        Ok(setup)
    }
}

/// Reads four ranks; what a digit stands for is `None`.
fn read_field<T: Copy>(
    field: &'static str,
    text: &str,
    read: impl Fn(char) -> Option<T>,
) -> Result<[Option<T>; 32], SetupError> {
    let found = text.split('/').count();
    if found != 4 {
        return Err(SetupError::Ranks { field, found });
    }
    let mut squares = [None; 32];
    for (rank, row) in (0..4).rev().zip(text.split('/')) {
        read_row(field, rank, row, &read, &mut squares[8 * rank..8 * rank + 8])?;
    }
    Ok(squares)
}

fn read_row<T>(
    field: &'static str,
    rank: usize,
    text: &str,
    read: impl Fn(char) -> Option<T>,
    row: &mut [Option<T>],
) -> Result<(), SetupError> {
    let mut file = 0;
    let mut after_digit = false;
    for letter in text.chars() {
        if let '1'..='8' = letter {
            if after_digit {
                return Err(SetupError::Digits { field, rank: rank + 1 });
            }
            after_digit = true;
            file += letter as usize - '0' as usize;
            continue;
        }
        after_digit = false;
        // Beyond the edge squares are only counted, for the error below.
        if let Some(square) = row.get_mut(file) {
            let wrong = SetupError::Letter { field, letter, square: Square::at(file, rank) };
            *square = Some(read(letter).ok_or(wrong)?);
        }
        file += 1;
    }
    match file {
        8 => Ok(()),
        found => Err(SetupError::RankLength { field, rank: rank + 1, found }),
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_field(f, &self.tiles.map(Tile::letter))?;
        f.write_str(" ")?;
        write_field(f, &self.units.map(|unit| unit.map(Unit::letter)))
    }
}

fn write_field(f: &mut fmt::Formatter<'_>, letters: &[Option<char>; 32]) -> fmt::Result {
    for (rank, row) in letters.chunks(8).enumerate().rev() {
        let mut run = 0;
        for letter in row {
            let Some(letter) = letter else {
                run += 1;
                continue;
            };
            if run > 0 {
                write!(f, "{run}")?;
            }
            run = 0;
            write!(f, "{letter}")?;
        }
        if run > 0 {
            write!(f, "{run}")?;
        }
        if rank > 0 {
            f.write_str("/")?;
        }
    }
    Ok(())
}
