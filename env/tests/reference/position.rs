//! A position and its text.

use super::board::{At, BLANK, Letters, everywhere};
use super::rules::RefRules;
use std::collections::BTreeSet;
use std::rc::Rc;

pub(crate) const GRASS: char = BLANK;
pub(crate) const MOUNTAIN: char = 'm';
pub(crate) const WATER: char = 'w';
pub(crate) const FOREST: char = 'f';
pub(crate) const FORTRESS: char = 'c';
pub(crate) const RUIN: char = 'r';
pub(crate) const NO_UNIT: char = BLANK;

const TILE_LETTERS: &str = "mwfcr";
const UNIT_LETTERS: &str = "RSXLHECTDKrsxlhectdk";

/// The largest counter that a text may hold.
const LARGEST_COUNTER: u32 = 65535;

/// A position under its rules.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) rules: Rc<RefRules>,
    pub(crate) tiles: Letters,
    /// Upper case is white.
    pub(crate) units: Letters,
    /// `w` or `b`.
    pub(crate) turn: char,
    pub(crate) frozen: BTreeSet<At>,
    pub(crate) quiet_plies: u32,
    pub(crate) plies: u32,
}

pub(crate) fn is_dragon(unit: char) -> bool {
    unit.eq_ignore_ascii_case(&'D')
}

pub(crate) fn side_of(unit: char) -> char {
    if unit.is_ascii_uppercase() { 'w' } else { 'b' }
}

pub(crate) fn other(side: char) -> char {
    if side == 'w' { 'b' } else { 'w' }
}

impl Reference {
    /// Reads a position, or says why it is none.
    pub(crate) fn parse(text: &str, rules: &Rc<RefRules>) -> Result<Reference, String> {
        let fields: Vec<&str> = text.split(' ').collect();
        let &[tiles, units, turn, frozen, quiet_plies, plies] = fields.as_slice() else {
            return Err(format!("{} fields instead of 6", fields.len()));
        };
        let position = Reference {
            rules: Rc::clone(rules),
            tiles: Letters::parse(tiles, TILE_LETTERS)?,
            units: Letters::parse(units, UNIT_LETTERS)?,
            turn: match turn {
                "w" => 'w',
                "b" => 'b',
                _ => return Err(format!("no side is called {turn:?}")),
            },
            frozen: parse_frozen(frozen)?,
            quiet_plies: parse_counter(quiet_plies)?,
            plies: parse_counter(plies)?,
        };
        position.check_kings()?;
        position.check_units_on_mountains()?;
        position.check_frozen()?;
        position.check_fortresses()?;
        Ok(position)
    }

    fn check_kings(&self) -> Result<(), String> {
        match (self.units.count('K'), self.units.count('k')) {
            (0, 0) => Err("no king at all".to_owned()),
            (0..=1, 0..=1) => Ok(()),
            _ => Err("more than one king a side".to_owned()),
        }
    }

    fn check_units_on_mountains(&self) -> Result<(), String> {
        for at in self.tiles.find(MOUNTAIN) {
            let unit = self.units.on(at);
            if unit != NO_UNIT && !is_dragon(unit) {
                return Err(format!("a unit other than a dragon on the mountain {}", at.name()));
            }
        }
        Ok(())
    }

    fn check_frozen(&self) -> Result<(), String> {
        for &at in &self.frozen {
            let unit = self.units.on(at);
            if unit == NO_UNIT || is_dragon(unit) || self.tiles.on(at) != WATER {
                return Err(format!("nothing can be frozen on {}", at.name()));
            }
        }
        Ok(())
    }

    /// A ruin was a fortress once, but only intact fortresses are counted.
    fn check_fortresses(&self) -> Result<(), String> {
        let fortresses = self.tiles.find(FORTRESS);
        let white = fortresses.iter().filter(|at| at.rank < 4).count();
        let black = fortresses.len() - white;
        if white > 1 || black > 1 {
            return Err("two fortresses in one homeland".to_owned());
        }
        if self.rules.fortress == 0 && !fortresses.is_empty() {
            return Err("a fortress under rules without".to_owned());
        }
        Ok(())
    }

    /// The position's text.
    pub(crate) fn text(&self) -> String {
        format!("{} {} {}", self.identity(), self.quiet_plies, self.plies)
    }

    /// What makes a position the same one: all but the counters.
    pub(crate) fn identity(&self) -> String {
        let frozen: String = match self.frozen.is_empty() {
            true => "-".to_owned(),
            false => self.frozen.iter().map(|at| at.name()).collect(),
        };
        format!("{} {} {} {frozen}", self.tiles.text(), self.units.text(), self.turn)
    }
}

fn parse_frozen(text: &str) -> Result<BTreeSet<At>, String> {
    let mut frozen = BTreeSet::new();
    if text == "-" {
        return Ok(frozen);
    }
    if text.is_empty() {
        return Err("no frozen squares are written as -".to_owned());
    }
    for name in text.as_bytes().chunks(2) {
        let place = std::str::from_utf8(name).ok().and_then(At::named);
        let at = place.ok_or(format!("{text:?} is no list of frozen squares"))?;
        if frozen.last().is_some_and(|&last| last >= at) {
            return Err("frozen squares are not in ascending order".to_owned());
        }
        frozen.insert(at);
    }
    Ok(frozen)
}

fn parse_counter(text: &str) -> Result<u32, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_shortest = text == "0" || !text.starts_with('0');
    match text.parse::<u32>() {
        Ok(number) if is_number && is_shortest && number <= LARGEST_COUNTER => Ok(number),
        _ => Err(format!("{text:?} is no counter")),
    }
}

// The symmetries of the game.
impl Reference {
    /// The position with left and right exchanged.
    pub(crate) fn mirrored(&self) -> Reference {
        self.transformed(|at| At { file: 7 - at.file, ..at }, |unit| unit, |side| side)
    }

    /// The position with the sides exchanged, seen from the other end.
    pub(crate) fn with_sides_exchanged(&self) -> Reference {
        self.transformed(|at| At { rank: 7 - at.rank, ..at }, exchanged, other)
    }

    fn transformed(
        &self,
        place: fn(At) -> At,
        unit: fn(char) -> char,
        side: fn(char) -> char,
    ) -> Reference {
        let mut image = self.clone();
        for at in everywhere() {
            image.tiles.put(place(at), self.tiles.on(at));
            image.units.put(place(at), unit(self.units.on(at)));
        }
        image.frozen = self.frozen.iter().map(|&at| place(at)).collect();
        image.turn = side(self.turn);
        image
    }
}

fn exchanged(unit: char) -> char {
    if unit.is_ascii_uppercase() { unit.to_ascii_lowercase() } else { unit.to_ascii_uppercase() }
}
