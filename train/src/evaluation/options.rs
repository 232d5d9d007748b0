//! The options of a player's text form: `key=value` pairs between commas.

use super::spec::SpecError;

/// Options that have not been asked for yet.
pub(super) struct Options<'a> {
    kind: &'static str,
    pairs: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
    /// Splits the text; every key at most once.
    pub(super) fn parse(kind: &'static str, text: Option<&'a str>) -> Result<Self, SpecError> {
        let mut options = Options { kind, pairs: Vec::new(), known: Vec::new() };
        for part in text.unwrap_or_default().split(',').filter(|_| text.is_some()) {
            let (key, value) = part
                .split_once('=')
                .filter(|(key, value)| !key.is_empty() && !value.is_empty())
                .ok_or_else(|| SpecError::NoOption { kind, text: part.into() })?;
            if options.pairs.iter().any(|&(other, _)| other == key) {
                return Err(SpecError::Twice { key: key.into() });
            }
            options.pairs.push((key, value));
        }
        Ok(options)
    }

    /// Takes an option as it is written.
    pub(super) fn text(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let place = self.pairs.iter().position(|&(other, _)| other == key)?;
        Some(self.pairs.remove(place).1)
    }

    /// Takes a whole number from 1 to `most`.
    pub(super) fn count(&mut self, key: &'static str, most: u64) -> Result<Option<u64>, SpecError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        let refuse = || SpecError::Value {
            key,
            value: text.into(),
            expected: format!("a whole number from 1 to {most}"),
        };
        number.map(Some).ok_or_else(refuse)
    }

    /// Refuses what nobody has asked for.
    pub(super) fn finish(self) -> Result<(), SpecError> {
        match self.pairs.first() {
            None => Ok(()),
            Some(&(key, _)) => Err(SpecError::UnknownOption {
                kind: self.kind,
                key: key.into(),
                known: self.known.join(", "),
                nearest: nearest(key, &self.known),
            }),
        }
    }
}

/// ` (did you mean ...?)`, where something known is like the unknown.
pub(super) fn nearest(unknown: &str, known: &[&str]) -> String {
    match crate::nearest::nearest(unknown, known) {
        Some(best) => format!(" (did you mean `{best}`?)"),
        None => String::new(),
    }
}
