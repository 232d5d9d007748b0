//! Scores with the interval that they are known to.

use std::fmt;

/// The score of a match from the first player's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

/// The quantile of the normal distribution for an interval of 95%.
const Z: f64 = 1.959_963_984_540_054;

impl Score {
    /// Games played.
    #[must_use]
    pub fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// The share of the points, a draw being half of one; 0.5 before the
    /// first game.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.games() == 0 {
            return 0.5;
        }
        (f64::from(self.wins) + f64::from(self.draws) / 2.0) / f64::from(self.games())
    }

    /// The 95% interval of the share: Wilson's score interval (Wilson 1927),
    /// which holds near 0 and 1 too. Draws make it wider than it need be.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        let n = f64::from(self.games());
        if n == 0.0 {
            return (0.0, 1.0);
        }
        let p = self.share();
        let centre = p + Z * Z / (2.0 * n);
        let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + Z * Z / n;
        (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
    }
}

impl std::iter::Sum for Score {
    fn sum<I: Iterator<Item = Score>>(scores: I) -> Score {
        scores.fold(Score::default(), |sum, score| Score {
            wins: sum.wins + score.wins,
            draws: sum.draws + score.draws,
            losses: sum.losses + score.losses,
        })
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        write!(
            f,
            "{:.1}% (95%: {:.1}% to {:.1}%; +{} ={} -{})",
            100.0 * self.share(),
            100.0 * low,
            100.0 * high,
            self.wins,
            self.draws,
            self.losses
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // Reference: scipy.stats.binomtest(8, 10).proportion_ci(method="wilson")
        let (low, high) = Score { wins: 8, draws: 0, losses: 2 }.interval();
        assert!((low - 0.490_162_471_5).abs() < 1e-6, "{low}");
        assert!((high - 0.943_317_781_9).abs() < 1e-6, "{high}");
    }

    #[test]
    fn a_clean_sweep_leaves_room_for_doubt() {
        let (low, high) = Score { wins: 200, draws: 0, losses: 0 }.interval();
        assert!(low > 0.97 && low < 1.0 && high == 1.0);
    }
}
