//! Replay shards: finished games in HDF5 files.
//!
//! [`write_shard`] puts games into a new file, whole or not at all;
//! [`Shard::open`] checks a file and keeps it in memory as compact arrays, from
//! which a trainer draws [`Sample`]s and tools read whole games. What stands in
//! a file is told in one place, `replay/schema.rs`.
//!
//! ```no_run
//! use cyvasse_env::Rules;
//! use cyvasse_selfplay::replay::Shard;
//!
//! let shard = Shard::open("000000.h5", &Rules::iron_throne())?;
//! for game in 0..shard.game_count() {
//!     shard.for_each_ply(game, |ply| println!("{} {:?}", ply.position, ply.outcome))?;
//! }
//! # Ok::<(), cyvasse_selfplay::replay::ReplayError>(())
//! ```
//!
//! HDF5 does one call at a time in a process, so one thread that writes is as
//! fast as many. An open [`Shard`] does not need HDF5 any more and can be
//! shared between threads.

mod columns;
mod error;
mod game;
mod reader;
mod sample;
pub mod schema;
mod seal;
mod shard;
mod writer;

pub use error::{GameProblem, ReplayError};
pub use sample::{PlyView, Sample};
pub use shard::{Shard, ShardHeader};
pub use writer::{ShardInfo, write_shard};

/// The version of the HDF5 library in use.
#[must_use]
pub fn hdf5_version() -> String {
    let (major, minor, micro) = hdf5::library_version();
    format!("{major}.{minor}.{micro}")
}
