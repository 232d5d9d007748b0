//! What a search has found out about positions it may meet again.

use cyvasse_env::Action;

/// How a stored value relates to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// It is the true one.
    Exact,
    /// The true one is at least this.
    AtLeast,
    /// The true one is at most this.
    AtMost,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: u64,
    /// The search that wrote it; others do not read it.
    search: u32,
    /// The depth to which the value was searched.
    pub(super) depth: u8,
    pub(super) bound: Bound,
    /// For the side to move, wins counted from this position.
    pub(super) value: i32,
    pub(super) best: Action,
}

/// Entries by hash; a newer one takes the place of an older one. What one
/// search wrote is not read by the next, so that an answer depends on nothing
/// but the question.
#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Entry>,
    search: u32,
}

/// Entries of a table, a power of two.
const SIZE: usize = 1 << 18;

impl Table {
    pub(super) fn new() -> Table {
        let none = Entry {
            key: 0,
            search: 0,
            depth: 0,
            bound: Bound::AtMost,
            value: 0,
            best: Action::Pass,
        };
        Table { entries: vec![none; SIZE], search: 0 }
    }

    /// Forgets everything.
    pub(super) fn start(&mut self) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            *self = Table::new();
            self.search = 1;
        }
    }

    pub(super) fn get(&self, key: u64) -> Option<Entry> {
        let entry = self.entries[key as usize % SIZE];
        (entry.search == self.search && entry.key == key).then_some(entry)
    }

    pub(super) fn put(&mut self, key: u64, depth: u32, bound: Bound, value: i32, best: Action) {
        let depth = depth.min(u8::MAX.into()) as u8;
        self.entries[key as usize % SIZE] =
            Entry { key, search: self.search, depth, bound, value, best };
    }
}
