//! When a match has told enough: the sequential probability ratio test.
//!
//! Wald 1945, "Sequential tests of statistical hypotheses", generalised to
//! results whose distribution is not known: each hypothesis stands for the
//! most likely distribution with its mean (Van den Bergh, "A practical
//! introduction to the GSPRT", section 3, and the multinomial example there).
//! The observations are pairs of games.

use thiserror::Error;

use super::{Pairs, share_of_elo};

/// A test of "the difference is `elo0`" against "the difference is `elo1`".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// Bounds that test nothing.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SprtError {
    /// The hypotheses are not in order.
    #[error(
        "SPRT bounds {elo0} and {elo1}: expected two differences in Elo from -1000 to 1000, the smaller one first"
    )]
    Bounds {
        /// The first one.
        elo0: f64,
        /// The second one.
        elo1: f64,
    },
    /// An error rate that is none.
    #[error("SPRT error rate {0}: expected a number above 0 and below 0.5")]
    Rate(f64),
}

/// What a test says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The difference is `elo1` rather than `elo0`.
    Accepted,
    /// The difference is `elo0` rather than `elo1`.
    Rejected,
}

/// Pairs before which no verdict is given: the most likely distribution means
/// little before.
const LEAST_PAIRS: u64 = 8;

impl Sprt {
    /// A test that says "accepted" with a chance of at most `alpha` if the
    /// difference is `elo0`, and "rejected" with one of at most `beta` if it is
    /// `elo1` (about: a test that ends between two pairs overshoots a little).
    ///
    /// # Errors
    /// Bounds or rates that make no test.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Sprt, SprtError> {
        let possible = |elo: f64| (-1000.0..=1000.0).contains(&elo);
        if !(possible(elo0) && possible(elo1) && elo0 < elo1) {
            return Err(SprtError::Bounds { elo0, elo1 });
        }
        match [alpha, beta].into_iter().find(|rate| !(*rate > 0.0 && *rate < 0.5)) {
            Some(rate) => Err(SprtError::Rate(rate)),
            None => Ok(Sprt { elo0, elo1, alpha, beta }),
        }
    }

    /// The two hypotheses.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        (self.elo0, self.elo1)
    }

    /// The error rates.
    #[must_use]
    pub fn rates(&self) -> (f64, f64) {
        (self.alpha, self.beta)
    }

    /// The logarithms of likelihood ratios at which the test rejects and
    /// accepts.
    #[must_use]
    pub fn thresholds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The logarithm of the likelihood ratio of `elo1` to `elo0`.
    #[must_use]
    pub fn log_likelihood_ratio(&self, pairs: &Pairs) -> f64 {
        let count = pairs.count() as f64;
        if count == 0.0 {
            return 0.0;
        }
        // A result that has not occurred yet is not impossible.
        let seen = pairs.counts.map(|count| (count as f64).max(1e-3));
        let total: f64 = seen.iter().sum();
        let observed = seen.map(|count| count / total);
        let with_0 = most_likely(&observed, share_of_elo(self.elo0));
        let with_1 = most_likely(&observed, share_of_elo(self.elo1));
        let terms = (0..5).map(|i| observed[i] * (with_1[i] / with_0[i]).ln());
        count * terms.sum::<f64>()
    }

    /// The verdict, if these pairs (all, in the order of their numbers up to
    /// some) allow one. Ask after every pair, and stop at the first verdict.
    #[must_use]
    pub fn verdict(&self, pairs: &Pairs) -> Option<Verdict> {
        if pairs.count() < LEAST_PAIRS {
            return None;
        }
        let ratio = self.log_likelihood_ratio(pairs);
        let (low, high) = self.thresholds();
        match ratio {
            _ if ratio >= high => Some(Verdict::Accepted),
            _ if ratio <= low => Some(Verdict::Rejected),
            _ => None,
        }
    }
}

/// The distribution with mean `mean` under which the observed one is most
/// likely: `observed[i] / (1 + x (share[i] - mean))` with the `x` that makes the
/// mean right. The mean falls as `x` grows, so that halving finds it.
fn most_likely(observed: &[f64; 5], mean: f64) -> [f64; 5] {
    let off = std::array::from_fn::<f64, 5, _>(|i| i as f64 / 4.0 - mean);
    let error = |x: f64| (0..5).map(|i| observed[i] * off[i] / (1.0 + x * off[i])).sum::<f64>();
    // Where one of the denominators vanishes.
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if error(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = f64::midpoint(low, high);
    std::array::from_fn(|i| observed[i] / (1.0 + x * off[i]))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::pairs::tests::sample;
    use super::*;

    fn sprt() -> Sprt {
        Sprt::new(0.0, 60.0, 0.05, 0.05).unwrap()
    }

    #[test]
    fn the_most_likely_distribution_has_its_mean() {
        let observed = [0.1, 0.15, 0.4, 0.25, 0.1];
        for mean in [0.3, 0.5, 0.7] {
            let p = most_likely(&observed, mean);
            let found: f64 = p.iter().zip(0..).map(|(p, i)| p * f64::from(i) / 4.0).sum();
            assert!((found - mean).abs() < 1e-9 && (p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_ratio_is_near_that_of_normal_distributions() {
        // For small differences: count * (s1 - s0) * (2 mean - s0 - s1) / (2 variance).
        let pairs = Pairs { counts: [90, 200, 400, 210, 100] };
        let (s0, s1) = (share_of_elo(0.0), share_of_elo(10.0));
        let variance = (90.0 * 0.25 + 200.0 * 0.0625 + 210.0 * 0.0625 + 100.0 * 0.25) / 1000.0;
        let mean = pairs.share();
        let expected = 1000.0 * (s1 - s0) * (2.0 * mean - s0 - s1) / (2.0 * variance);
        let found = Sprt::new(0.0, 10.0, 0.05, 0.05).unwrap().log_likelihood_ratio(&pairs);
        assert!((found - expected).abs() < 0.05, "{found} {expected}");
    }

    #[test]
    fn bounds_that_test_nothing_are_refused() {
        for (elo0, elo1) in [(5.0, 5.0), (10.0, 0.0), (0.0, f64::NAN), (0.0, 1e9)] {
            assert!(matches!(Sprt::new(elo0, elo1, 0.05, 0.05), Err(SprtError::Bounds { .. })));
        }
        assert_eq!(Sprt::new(0.0, 5.0, 0.05, 0.5), Err(SprtError::Rate(0.5)));
    }

    /// The share of tests that end with "accepted", the difference being such.
    fn accepted(chances: &[f64; 5], runs: u32, rng: &mut ChaCha8Rng) -> f64 {
        let sprt = sprt();
        let mut accepted = 0;
        for _ in 0..runs {
            let mut pairs = Pairs::default();
            let verdict = loop {
                pairs = pairs.plus(&sample(chances, 1, rng));
                if let Some(verdict) = sprt.verdict(&pairs) {
                    break verdict;
                }
            };
            accepted += u32::from(verdict == Verdict::Accepted);
        }
        f64::from(accepted) / f64::from(runs)
    }

    #[test]
    fn the_error_rates_hold() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let even = [0.15, 0.2, 0.3, 0.2, 0.15];
        // The same shape moved to the mean of a lead of 60 Elo.
        let ahead = most_likely(&even, share_of_elo(60.0));
        let (wrong, right) = (accepted(&even, 600, &mut rng), accepted(&ahead, 600, &mut rng));
        // 0.05 with three standard deviations of the count.
        assert!(wrong <= 0.077, "{wrong} of the tests accept what is not there");
        assert!(right >= 0.923, "{right} of the tests accept what is there");
    }
}
