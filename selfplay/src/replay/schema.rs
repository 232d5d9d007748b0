//! The schema of replay shards: all that stands in one, version 3.
//!
//! Version 2, which had no `plies/surprise`, is read too: as if nothing were known of it.
//!
//! A shard is an HDF5 file with finished games in the order of their writing. It
//! is written once and never changed. Any HDF5 tool reads it; numbers are
//! little-endian.
//!
//! # Datasets
//!
//! There are `G` games, `P` plies (those of game 0, then those of game 1, ...) and
//! `N` policy entries (those of ply 0, then those of ply 1, ...), each at most
//! [`MAX_ENTRIES`]. `G` is at least 1.
//!
//! | dataset               | shape      | type | meaning                              |
//! |-----------------------|------------|------|--------------------------------------|
//! | `games/slot`          | `[G]`      | u32  | slot of self-play of the game's id   |
//! | `games/sequence`      | `[G]`      | u32  | number of the game within its slot   |
//! | `games/setups`        | `[G,2,32]` | u8   | white's and black's homeland, each in its builder's own view: `tile + 8 * unit` for a1, b1, ... h4 |
//! | `games/sources`       | `[G,2]`    | u8   | where white's and black's setup came from, a [`SetupSource`](crate::SetupSource): 0 drawn uniformly, 1 the setup network, 2 an earlier setup network, 3 a file |
//! | `games/outcome`       | `[G]`      | u8   | 0 white won, 1 black won, 2 draw by repetition, 3 draw by no progress, 4 draw by length |
//! | `games/resigned`      | `[G]`      | u8   | 1 if the side that was to move resigned, which lost it the game; else 0 |
//! | `games/first_ply`     | `[G+1]`    | u32  | game `g` has the plies from `first_ply[g]` up to and without `first_ply[g+1]`; begins with 0, rises strictly, ends with `P` |
//! | `plies/kind`          | `[P]`      | u8   | how the action was found: 0 by a search in full, 1 by a cheap search, 2 by lot in a random opening |
//! | `plies/action`        | `[P]`      | u16  | the action played: its action index in the mover's own view, 0 to 7936 |
//! | `plies/root_value`    | `[P]`      | f32  | the search's value of the position before the ply, for the side to move: -1 a sure loss, 1 a sure win |
//! | `plies/surprise`      | `[P]`      | f32  | divergence of the policy target, small shares included, from the network's priors without noise, KL(target \|\| priors), in nats: 0 or more; 0 where there is no target, and where the position is won at once, which the network is not asked about |
//! | `plies/proven`        | `[P]`      | u8   | 1 if that value is proven, else 0    |
//! | `plies/simulations`   | `[P]`      | u32  | simulations of the search            |
//! | `plies/network_step`  | `[P]`      | u32  | training step of the network that the search used |
//! | `plies/first_policy`  | `[P+1]`    | u32  | ply `p` has the policy entries from `first_policy[p]` up to and without `first_policy[p+1]`; begins with 0, never falls, ends with `N` |
//! | `policy/action`       | `[N]`      | u16  | action index of a legal action, in the mover's own view, 0 to 7936; no action twice in a ply |
//! | `policy/share`        | `[N]`      | f32  | its share of the policy target, over 0; the shares of a ply add up to 1 |
//!
//! White moves at the even plies of a game, black at the odd ones. A ply without
//! policy entries has no policy target; only plies of kind 0 are to be learned from. A
//! ply of kind 2 has no search: its root value is 0, its simulations are 0. Root values, shares and their sums may be
//! off by [`ROUNDING`]. Shares under 1e-3 are left out by who makes the records,
//! not here: what is stored is what is read back, bit by bit.
//!
//! The tile's number is 0 grass, 1 mountain, 2 water, 3 forest, 4 fortress; the
//! unit's is 0 for none and else 1 + its number in the order of the rules file
//! (see [`Setup::to_bytes`](cyvasse_env::Setup::to_bytes)). Action indices are told
//! in `cyvasse_env`'s `index.rs`.
//!
//! # Attributes of the root
//!
//! | attribute              | type   | meaning                                      |
//! |------------------------|--------|----------------------------------------------|
//! | `schema_version`       | u32    | [`SCHEMA_VERSION`]; from [`OLDEST_VERSION`] on |
//! | `action_index_version` | u32    | [`ACTION_INDEX_VERSION`](cyvasse_env::ACTION_INDEX_VERSION) |
//! | `rules_name`           | string | name of the rules, for people                |
//! | `rules_toml`           | string | the rules themselves, as a rules file        |
//! | `rules_fingerprint`    | u64    | [`Rules::fingerprint`](cyvasse_env::Rules::fingerprint) |
//! | `producer`             | string | the program that wrote it, with its version  |
//! | `run_seed`             | u64    | seed of the run                              |
//! | `shard`                | u32    | number of the shard within the run           |
//!
//! Strings are UTF-8 of variable length.
//!
//! # Seal
//!
//! HDF5 leaves a user block of [`SEAL_BYTES`] bytes before its own first byte
//! alone. There stands, as text and then zeros to the end of the block,
//!
//! ```text
//! cyvasse replay shard
//! bytes 123456
//! crc32 89abcdef
//! ```
//!
//! with the number of bytes after the block and their CRC-32 (the one of zip and
//! PNG), in eight hexadecimal digits. It is checked before HDF5 sees a byte, for
//! the HDF5 library may crash on a damaged file; no byte of a shard is outside it.
//!
//! # Storage
//!
//! Datasets are in chunks of [`CHUNK_ROWS`] rows, shuffled and deflated where the
//! HDF5 library at hand can deflate; empty ones are contiguous. The same games
//! and header give the same bytes with the same library.

use cyvasse_env::{DrawReason, Outcome, Side};

/// The version of this schema; it changes with whatever stands in a shard.
pub const SCHEMA_VERSION: u32 = 3;

/// The oldest version that is read.
pub const OLDEST_VERSION: u32 = 2;

/// The most games, plies or policy entries of a shard.
pub const MAX_ENTRIES: usize = 1 << 28;

/// How far values, shares and their sums may be outside their bounds.
pub const ROUNDING: f32 = 1e-3;

/// The length of the seal at the beginning of the file.
pub const SEAL_BYTES: usize = 512;

/// Rows (games, plies, entries) of a chunk of a dataset.
pub const CHUNK_ROWS: usize = 16 * 1024;

pub(super) const ATTRIBUTE_SCHEMA: &str = "schema_version";
pub(super) const ATTRIBUTE_INDEX: &str = "action_index_version";
pub(super) const ATTRIBUTE_RULES_NAME: &str = "rules_name";
pub(super) const ATTRIBUTE_RULES: &str = "rules_toml";
pub(super) const ATTRIBUTE_FINGERPRINT: &str = "rules_fingerprint";
pub(super) const ATTRIBUTE_PRODUCER: &str = "producer";
pub(super) const ATTRIBUTE_SEED: &str = "run_seed";
pub(super) const ATTRIBUTE_SHARD: &str = "shard";

pub(super) const SLOT: &str = "games/slot";
pub(super) const SEQUENCE: &str = "games/sequence";
pub(super) const SETUPS: &str = "games/setups";
pub(super) const SOURCES: &str = "games/sources";
pub(super) const OUTCOME: &str = "games/outcome";
pub(super) const RESIGNED: &str = "games/resigned";
pub(super) const FIRST_PLY: &str = "games/first_ply";
pub(super) const KIND: &str = "plies/kind";
pub(super) const ACTION: &str = "plies/action";
pub(super) const ROOT_VALUE: &str = "plies/root_value";
pub(super) const SURPRISE: &str = "plies/surprise";
pub(super) const PROVEN: &str = "plies/proven";
pub(super) const SIMULATIONS: &str = "plies/simulations";
pub(super) const NETWORK_STEP: &str = "plies/network_step";
pub(super) const FIRST_POLICY: &str = "plies/first_policy";
pub(super) const POLICY_ACTION: &str = "policy/action";
pub(super) const POLICY_SHARE: &str = "policy/share";

const OUTCOMES: [Outcome; 5] = [
    Outcome::Win(Side::White),
    Outcome::Win(Side::Black),
    Outcome::Draw(DrawReason::Repetition),
    Outcome::Draw(DrawReason::NoProgress),
    Outcome::Draw(DrawReason::Length),
];

/// The number of an outcome in `games/outcome`.
#[must_use]
pub const fn outcome_number(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Win(Side::White) => 0,
        Outcome::Win(Side::Black) => 1,
        Outcome::Draw(DrawReason::Repetition) => 2,
        Outcome::Draw(DrawReason::NoProgress) => 3,
        Outcome::Draw(DrawReason::Length) => 4,
    }
}

/// The outcome with a number of `games/outcome`.
#[must_use]
pub fn outcome_from_number(number: u8) -> Option<Outcome> {
    OUTCOMES.get(usize::from(number)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_their_numbers() {
        for (number, outcome) in (0..).zip(OUTCOMES) {
            assert_eq!(outcome_number(outcome), number);
            assert_eq!(outcome_from_number(number), Some(outcome));
        }
        assert_eq!(outcome_from_number(5), None);
    }
}
