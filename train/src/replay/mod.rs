//! What stored games tell: statistics over them, whether values came true, and
//! games as lines of JSON.
//!
//! The loop uses the same statistics for the numbers of a round as
//! `cyvasse replay stats` does for shards.

mod calibration;
mod line;
mod statistics;

pub use calibration::{Calibration, CalibrationBin};
pub use line::{GameLine, PlyLine};
pub use statistics::{Ends, GameStatistics, Lengths, SourceScore, Summary, ValueSummary};
