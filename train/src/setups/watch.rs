//! Someone who watches a round of learning.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Is told how far a round of learning is, and may end it.
pub struct Watcher<'a> {
    stop: &'a AtomicBool,
    tell: Box<dyn FnMut(&'static str, u64, u64) + 'a>,
}

impl<'a> Watcher<'a> {
    /// A watcher that ends the round when `stop` is set. `tell` is told what is being
    /// done (valuing the setups of a seat, then learning from all), with how many setups
    /// it is done, and of how many.
    pub fn new(stop: &'a AtomicBool, tell: impl FnMut(&'static str, u64, u64) + 'a) -> Watcher<'a> {
        Watcher { stop, tell: Box::new(tell) }
    }

    pub(super) fn tell(&mut self, what: &'static str, done: u64, all: u64) {
        (self.tell)(what, done, all);
    }

    pub(super) fn wants_an_end(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Watcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("stop", &self.stop).finish_non_exhaustive()
    }
}
