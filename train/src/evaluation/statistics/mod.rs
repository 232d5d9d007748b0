//! What results mean: scores, pairs of games, ratings, and when to stop.
//!
//! Nothing here plays; everything is a function of counts.

mod elo;
mod nash;
mod pairs;
mod rating;
mod score;
mod sprt;

pub use elo::{elo_of_share, share_of_elo};
pub use nash::{Nash, nash_average};
pub use pairs::Pairs;
pub use rating::{Fit, Rating, Results, ratings};
pub use score::Score;
pub use sprt::{Sprt, SprtError, Verdict};

/// The quantile of the normal distribution for an interval of 95%.
const Z: f64 = 1.959_963_984_540_054;
