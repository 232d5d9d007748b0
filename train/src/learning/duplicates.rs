//! Whether self-play plays the same games again and again.

use std::collections::HashMap;

use cyvasse_selfplay::replay::Shard;

/// Recognises games whose setups and actions have been seen before.
///
/// A network that learns from many copies of a game learns it by heart, and a
/// match of such games tells nothing.
#[derive(Debug, Default)]
pub struct Duplicates {
    /// The round in which a game, by its fingerprint, was last seen.
    seen: HashMap<u64, u32>,
}

impl Duplicates {
    /// Looks at the games of a shard; how many of them were played before, in it or
    /// in an earlier one.
    pub fn count(&mut self, round: u32, shard: &Shard) -> usize {
        let games = 0..shard.game_count();
        games.filter(|&game| self.seen.insert(shard.fingerprint(game), round).is_some()).count()
    }

    /// Forgets games that were last seen before a round.
    pub fn forget_before(&mut self, round: u32) {
        self.seen.retain(|_, seen| *seen >= round);
    }
}
