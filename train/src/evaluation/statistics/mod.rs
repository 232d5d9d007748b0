//! What results mean: scores, pairs of games, ratings, and when to stop.
//!
//! Nothing here plays; everything is a function of counts.

mod elo;
mod grouped;
mod nash;
mod pairs;
mod rating;
mod score;
mod sprt;

pub use elo::{elo_of_share, share_of_elo};
pub use grouped::Grouped;
pub use nash::{Nash, nash_average};
pub use pairs::Pairs;
pub use rating::{Fit, Rating, Results};
pub use score::Score;
pub use sprt::{Sprt, SprtError, Verdict};

use cyvasse_selfplay::NORMAL_95 as Z;

/// The `z` beyond which a standard normal variable lies, on either side, with
/// the probability `level` together, 0 to 1: Abramowitz and Stegun 1964,
/// "Handbook of mathematical functions", 26.2.23; right within 0.00045.
#[must_use]
pub fn two_sided_quantile(level: f64) -> f64 {
    let t = (-2.0 * (level / 2.0).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
pub(super) mod tests {
    pub(crate) use super::pairs::tests::sample;
    use super::two_sided_quantile;

    #[test]
    fn the_quantile_is_the_tables() {
        // scipy.stats.norm.isf(level / 2)
        let table = [(0.05, 1.959_964), (0.01, 2.575_829), (0.001, 3.290_527), (1e-5, 4.417_173)];
        for (level, quantile) in table {
            assert!((two_sided_quantile(level) - quantile).abs() < 4.5e-4, "{level}");
        }
    }
}
