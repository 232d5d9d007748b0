//! The crate under test as the reference sees it: through its texts.

// Each test program takes its own part of this module.
#![allow(dead_code)]

use super::reference::variant_text;
use cyvasse_env::{Action, Position, Rules};

/// The variant's rules as the crate reads them.
pub(crate) fn fast_variant(name: &str) -> Rules {
    Rules::from_toml(&variant_text(name)).unwrap()
}

/// Reads a position that the crate has to accept.
pub(crate) fn fast(text: &str, rules: &Rules) -> Position {
    Position::parse(text, rules).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Reads an action that the crate has to accept.
pub(crate) fn action(text: &str) -> Action {
    Action::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The legal actions in the crate's own order.
pub(crate) fn legal_actions(position: &Position, rules: &Rules) -> Vec<Action> {
    let mut actions = Vec::new();
    position.legal_actions(rules, &mut actions);
    actions
}

/// The texts of the legal actions in ascending byte order; doubles stay.
pub(crate) fn sorted_actions(position: &Position, rules: &Rules) -> Vec<String> {
    let mut texts: Vec<String> =
        legal_actions(position, rules).iter().map(Action::to_string).collect();
    texts.sort_unstable();
    texts
}
