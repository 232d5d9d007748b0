//! Results by pairs of games.
//!
//! The two games of a pair share their setups, so that their results depend on
//! each other: a setup that wins for whoever has white gives a point to each
//! player. The pair, not the game, is the independent observation. Its score
//! has five values, hence "pentanomial".

use cyvasse_selfplay::wilson;
use serde::{Deserialize, Serialize};

use super::{Z, elo_of_share};

/// How many pairs ended with 0, half a point, 1, one and a half and 2 points
/// for the first player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pairs {
    /// By half-points.
    pub counts: [u64; 5],
}

impl Pairs {
    /// Counts a pair by its half-points, 0 to 4.
    pub fn add(&mut self, half_points: usize) {
        self.counts[half_points] += 1;
    }

    /// Both counts together.
    #[must_use]
    pub fn plus(&self, other: &Pairs) -> Pairs {
        Pairs { counts: std::array::from_fn(|i| self.counts[i] + other.counts[i]) }
    }

    /// The counts from the second player's point of view.
    #[must_use]
    pub fn reversed(&self) -> Pairs {
        Pairs { counts: std::array::from_fn(|i| self.counts[4 - i]) }
    }

    /// The number of pairs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The share of the points; 0.5 before the first pair.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self.count() {
            0 => 0.5,
            count => self.mean(|share| share, count as f64),
        }
    }

    fn mean(&self, of: impl Fn(f64) -> f64, count: f64) -> f64 {
        let terms = self.counts.iter().enumerate().map(|(i, &n)| n as f64 * of(i as f64 / 4.0));
        terms.sum::<f64>() / count
    }

    /// The variance of a pair's share. One imaginary pair with the greatest
    /// variance is counted in, so that a few equal results do not pass for
    /// certainty.
    pub(super) fn variance(&self) -> f64 {
        let (count, share) = (self.count() as f64, self.share());
        let sum = count * self.mean(|x| (x - share) * (x - share), count.max(1.0));
        (sum + share * (1.0 - share)) / (count + 1.0)
    }

    /// The 95% interval of the share: Wilson's score interval (Wilson 1927) for
    /// as many independent wins and losses as tell equally much, which is how
    /// surveys by clusters are counted (Korn and Graubard 1998, "Confidence
    /// intervals for proportions with small expected number of positive
    /// counts").
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        self.interval_at(Z)
    }

    /// The same for another level, whose quantile of the normal distribution
    /// is `z`.
    #[must_use]
    pub fn interval_at(&self, z: f64) -> (f64, f64) {
        let count = self.count() as f64;
        if count == 0.0 {
            return (0.0, 1.0);
        }
        let p = self.share();
        let of_wins_and_losses = p * (1.0 - p);
        let n = if of_wins_and_losses > 0.0 {
            count * of_wins_and_losses / self.variance()
        } else {
            count
        };
        wilson(p, n, z)
    }

    /// The difference in Elo: what the share says, and its 95% interval. Ends
    /// of it may be infinite.
    #[must_use]
    pub fn elo(&self) -> (f64, (f64, f64)) {
        let (low, high) = self.interval();
        (elo_of_share(self.share()), (elo_of_share(low), elo_of_share(high)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_interval_is_the_normal_one_where_there_are_many_pairs() {
        // In Python: x = [0]*100 + [1/4]*200 + [1/2]*400 + [3/4]*200 + [1]*100,
        // mean(x) +- 1.96 * stdev(x) / sqrt(1000) = 0.5 +- 0.016976.
        let pairs = Pairs { counts: [100, 200, 400, 200, 100] };
        let (low, high) = pairs.interval();
        assert!((low - 0.483_024).abs() < 1e-4 && (high - 0.516_976).abs() < 1e-4, "{low} {high}");
        let (elo, (low, high)) = pairs.elo();
        assert!(elo.abs() < 1e-9 && (low + 11.8).abs() < 0.1 && (high - 11.8).abs() < 0.1);
    }

    #[test]
    fn a_clean_sweep_leaves_room_for_doubt() {
        let sweep = Pairs { counts: [0, 0, 0, 0, 50] };
        let (low, high) = sweep.interval();
        assert!(low > 0.9 && low < 0.95 && high == 1.0, "{low}");
        let drawn = Pairs { counts: [0, 0, 50, 0, 0] };
        let (low, high) = drawn.interval();
        assert!(low < 0.49 && high > 0.51);
    }

    #[test]
    fn the_interval_holds_the_truth_at_the_nominal_rate() {
        // Chances of the five scores: even, uneven with seats that decide, and
        // a crushing one.
        let cases =
            [[0.1, 0.2, 0.4, 0.2, 0.1], [0.05, 0.0, 0.55, 0.1, 0.3], [0.0, 0.0, 0.06, 0.04, 0.9]];
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for chances in cases {
            let truth: f64 = chances.iter().zip(0..).map(|(c, i)| c * f64::from(i) / 4.0).sum();
            for pairs in [30, 200] {
                let held = (0..4000).filter(|_| {
                    let (low, high) = sample(&chances, pairs, &mut rng).interval();
                    (low..=high).contains(&truth)
                });
                let rate = held.count() as f64 / 4000.0;
                // 0.95 with three standard deviations of the count, and what
                // discrete counts add.
                assert!((0.935..=0.985).contains(&rate), "{chances:?}, {pairs} pairs: {rate}");
            }
        }
    }

    pub(crate) fn sample(chances: &[f64; 5], pairs: u32, rng: &mut ChaCha8Rng) -> Pairs {
        let mut counted = Pairs::default();
        for _ in 0..pairs {
            let mut lot: f64 = rng.random();
            let score = chances.iter().position(|&chance| {
                lot -= chance;
                lot < 0.0
            });
            counted.add(score.unwrap_or(4));
        }
        counted
    }
}
