//! Means of numbers that come in groups, as those at the positions of a game.

use std::fmt;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grouped {
    /// The mean of all numbers of all groups.
    pub mean: f64,
    /// Its standard error; not a number of fewer than two groups.
    pub error: f64,
}

impl Grouped {
    /// The mean of the numbers of independent groups. The numbers of a group may
    /// depend on each other: the error is that of a ratio of two sums over groups
    /// (Cochran 1977, "Sampling techniques", section 2.11), that of the numbers and
    /// that of their count.
    #[must_use]
    pub fn of(groups: &[Vec<f64>]) -> Grouped {
        let count: usize = groups.iter().map(Vec::len).sum();
        let mean = groups.iter().flatten().sum::<f64>() / count as f64;
        let deviation = |group: &Vec<f64>| group.iter().map(|number| number - mean).sum::<f64>();
        let squares: f64 = groups.iter().map(|group| deviation(group).powi(2)).sum();
        let many = groups.len() as f64;
        Grouped { mean, error: (squares * many / (many - 1.0)).sqrt() / count as f64 }
    }
}

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4} ± {:.4}", self.mean, self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_give_the_usual_error() {
        let groups = [1.0, 2.0, 4.0, 5.0].map(|number| vec![number]);
        // Variance (4 + 1 + 1 + 4) / 3, of the mean a fourth of it.
        let expected = Grouped { mean: 3.0, error: (10.0f64 / 3.0 / 4.0).sqrt() };
        assert_eq!(Grouped::of(&groups), expected);
    }

    #[test]
    fn copies_within_a_group_tell_nothing_new() {
        let once = [1.0, 2.0, 4.0, 5.0].map(|number| vec![number]);
        let often = [1.0, 2.0, 4.0, 5.0].map(|number| vec![number; 9]);
        let (once, often) = (Grouped::of(&once), Grouped::of(&often));
        assert!((once.mean - often.mean).abs() < 1e-12, "{often}");
        assert!((once.error - often.error).abs() < 1e-12, "{often}");
    }

    #[test]
    fn one_group_has_no_error() {
        assert!(Grouped::of(&[vec![1.0, 3.0]]).error.is_nan());
    }
}
