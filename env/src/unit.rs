//! The ten kinds of unit, in the order of their rank.

use std::fmt;

/// A kind of unit. The order is the order of rank that the capture rules use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the units' own
pub enum Unit {
    Rabble = 0,
    Spearmen = 1,
    Crossbowmen = 2,
    LightHorse = 3,
    HeavyHorse = 4,
    Elephant = 5,
    Catapult = 6,
    Trebuchet = 7,
    Dragon = 8,
    King = 9,
}

impl Unit {
    /// The number of kinds.
    pub const COUNT: usize = 10;

    /// All kinds in the order of rank.
    pub const ALL: [Unit; Unit::COUNT] = [
        Unit::Rabble,
        Unit::Spearmen,
        Unit::Crossbowmen,
        Unit::LightHorse,
        Unit::HeavyHorse,
        Unit::Elephant,
        Unit::Catapult,
        Unit::Trebuchet,
        Unit::Dragon,
        Unit::King,
    ];

    /// The kind's number, 0 (rabble) to 9 (king).
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The upper-case letter of the text forms.
    #[must_use]
    pub const fn letter(self) -> char {
        ['R', 'S', 'X', 'L', 'H', 'E', 'C', 'T', 'D', 'K'][self as usize]
    }

    /// The kind with this letter in either case.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Unit> {
        let upper = letter.to_ascii_uppercase();
        Unit::ALL.into_iter().find(|unit| unit.letter() == upper)
    }

    /// The kind's name as the key of a rules file.
    #[must_use]
    pub const fn key(self) -> &'static str {
        [
            "rabble",
            "spearmen",
            "crossbowmen",
            "light_horse",
            "heavy_horse",
            "elephant",
            "catapult",
            "trebuchet",
            "dragon",
            "king",
        ][self as usize]
    }

    /// The kind that a rules file calls `key`.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.key() == key)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key().replace('_', " "))
    }
}

/// A set of kinds, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UnitSet(u16);

impl UnitSet {
    /// No kind.
    pub const EMPTY: UnitSet = UnitSet(0);

    /// The set with `unit` added.
    #[must_use]
    pub const fn with(self, unit: Unit) -> UnitSet {
        UnitSet(self.0 | 1 << unit as u16)
    }

    /// Whether `unit` is in the set.
    #[must_use]
    #[inline]
    pub const fn contains(self, unit: Unit) -> bool {
        self.0 & 1 << unit as u16 != 0
    }
}

impl FromIterator<Unit> for UnitSet {
    fn from_iter<I: IntoIterator<Item = Unit>>(units: I) -> UnitSet {
        units.into_iter().fold(UnitSet::EMPTY, UnitSet::with)
    }
}
