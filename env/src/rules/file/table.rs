//! Typed access to the tables of a rules file: what is not as it should be
//! becomes an error that names the key by its full path.

use std::ops::RangeInclusive;

use toml::de::{DeTable, DeValue};

use super::RulesError;
use crate::unit::Unit;

/// The keys outside the units' tables by their full paths.
const COMMON_KEYS: [&str; 12] = [
    "name",
    "tiles",
    "draws",
    "units",
    "tiles.mountain",
    "tiles.water",
    "tiles.forest",
    "tiles.fortress",
    "tiles.largest_mountain_group",
    "draws.no_progress_plies",
    "draws.repetitions",
    "draws.max_plies",
];

/// A table of the file with the path that led to it (empty for the root).
pub(super) struct Table<'a> {
    path: String,
    table: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn new(path: String, table: &'a DeTable<'a>) -> Table<'a> {
        Table { path, table }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let key = match !key.is_empty() && key.chars().all(bare) {
            true => key.to_owned(),
            false => shorten(&format!("{key:?}")),
        };
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Refuses a key that other units have.
    pub(super) fn forbid(&self, key: &str, reason: &'static str) -> Result<(), RulesError> {
        if self.has(key) {
            return Err(RulesError::MisplacedKey { key: self.path_of(key), reason });
        }
        Ok(())
    }

    /// Refuses every key but these.
    pub(super) fn allow(&self, known: &[&str]) -> Result<(), RulesError> {
        let unknown = |key: &&str| !known.contains(key);
        let keys = self.table.keys().map(|key| key.get_ref().as_ref());
        match keys.into_iter().find(unknown) {
            None => Ok(()),
            Some(key) => Err(RulesError::UnknownKey {
                key: self.path_of(key),
                nearest: self.nearest(key, known),
            }),
        }
    }

    /// The known key most like `key`: one of this table's, or one of another
    /// table's if that is closer (a key that stands under the wrong heading).
    fn nearest(&self, key: &str, known: &[&str]) -> String {
        let here = known.iter().map(|known| self.path_of(known));
        let elsewhere = COMMON_KEYS.iter().map(|&path| path.to_owned());
        let units = Unit::ALL.iter().map(|unit| format!("units.{}", unit.key()));
        let name = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        here.chain(elsewhere)
            .chain(units)
            .min_by_key(|path| edit_distance(key, &name(path)))
            .expect("there are known keys")
    }

    fn value(&self, key: &str, expected: &str) -> Result<&'a DeValue<'a>, RulesError> {
        self.table.get(key).map(|value| value.get_ref()).ok_or_else(|| RulesError::MissingKey {
            key: self.path_of(key),
            expected: expected.to_owned(),
        })
    }

    /// The error that the value of `key`, which is there, is not as expected.
    pub(super) fn bad(&self, key: &str, expected: &str) -> RulesError {
        let found = self.table.get(key).map_or(String::new(), |value| describe(value.get_ref()));
        bad_value(self.path_of(key), found, expected)
    }

    pub(super) fn table(&self, key: &str) -> Result<Table<'a>, RulesError> {
        match self.value(key, "a table")? {
            DeValue::Table(table) => Ok(Table { path: self.path_of(key), table }),
            _ => Err(self.bad(key, "a table")),
        }
    }

    pub(super) fn array(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Vec<&'a DeValue<'a>>, RulesError> {
        match self.value(key, expected)? {
            DeValue::Array(entries) => Ok(entries.iter().map(|entry| entry.get_ref()).collect()),
            _ => Err(self.bad(key, expected)),
        }
    }

    pub(super) fn string(&self, key: &str, expected: &str) -> Result<&'a str, RulesError> {
        self.value(key, expected)?.as_str().ok_or_else(|| self.bad(key, expected))
    }

    /// Which of `choices` the value is.
    pub(super) fn choice(&self, key: &str, choices: &[&str]) -> Result<usize, RulesError> {
        let expected = one_of(choices);
        let found = self.string(key, &expected)?;
        let index = choices.iter().position(|&choice| choice == found);
        index.ok_or_else(|| self.bad(key, &expected))
    }

    pub(super) fn boolean(&self, key: &str) -> Result<bool, RulesError> {
        let expected = "true or false";
        self.value(key, expected)?.as_bool().ok_or_else(|| self.bad(key, expected))
    }

    pub(super) fn number(&self, key: &str, range: RangeInclusive<u16>) -> Result<u16, RulesError> {
        let expected = match (range.start(), range.end()) {
            (only, end) if only == end => only.to_string(),
            (start, end) => format!("a whole number from {start} to {end}"),
        };
        let value = self.value(key, &expected)?.as_integer();
        value
            .and_then(|integer| i64::from_str_radix(integer.as_str(), integer.radix()).ok())
            .and_then(|number| u16::try_from(number).ok())
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.bad(key, &expected))
    }

    pub(super) fn small(&self, key: &str, range: RangeInclusive<u8>) -> Result<u8, RulesError> {
        let wide = u16::from(*range.start())..=u16::from(*range.end());
        Ok(self.number(key, wide)?.try_into().expect("the range is of small numbers"))
    }
}

pub(super) fn bad_value(key: String, found: String, expected: &str) -> RulesError {
    RulesError::BadValue { key, found, expected: expected.to_owned() }
}

/// A value as the text of an error shows it, on one line.
pub(super) fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => shorten(&format!("{text:?}")),
        DeValue::Integer(number) => shorten(&number.to_string()),
        DeValue::Float(number) => shorten(&number.to_string()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(entries) if entries.is_empty() => "an empty array".to_owned(),
        DeValue::Array(entries) => format!("an array of {}", entries.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The text, or its beginning if it is long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

pub(super) fn one_of(choices: &[&str]) -> String {
    let quoted: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    format!("one of {}", quoted.join(", "))
}

/// The fewest letters to insert, delete or replace to turn one word into the
/// other (Levenshtein), of which only the beginning of a long one is looked at.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
