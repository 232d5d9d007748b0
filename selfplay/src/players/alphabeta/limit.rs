//! How long to think.

use std::time::{Duration, Instant};

/// How long to think about a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Plies to look ahead, 1 to [`MOST_DEPTH`](super::MOST_DEPTH).
    Depth(u32),
    /// Positions to look at, 1 or more.
    Nodes(u64),
    /// Time to take; what is played then depends on the machine and its load.
    Time(Duration),
}

/// Keeps to a limit.
#[derive(Debug)]
pub(super) struct Budget {
    limit: Limit,
    started: Instant,
    pub(super) nodes: u64,
    pub(super) spent: bool,
}

/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 128;

impl Budget {
    pub(super) fn new(limit: Limit) -> Budget {
        Budget { limit, started: Instant::now(), nodes: 0, spent: false }
    }

    /// The deepest iteration.
    pub(super) fn depth(&self) -> u32 {
        match self.limit {
            Limit::Depth(depth) => depth.clamp(1, super::MOST_DEPTH),
            _ => super::MOST_DEPTH,
        }
    }

    /// Counts a node; `true` when no more are allowed.
    #[inline]
    pub(super) fn count(&mut self) -> bool {
        self.nodes += 1;
        match self.limit {
            Limit::Depth(_) => {}
            Limit::Nodes(nodes) => self.spent |= self.nodes >= nodes,
            Limit::Time(time) => {
                if self.nodes.is_multiple_of(CLOCK_INTERVAL) {
                    self.spent |= self.started.elapsed() >= time;
                }
            }
        }
        self.spent
    }
}
