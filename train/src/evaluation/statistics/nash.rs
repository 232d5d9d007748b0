//! What players are worth where strength is not transitive.
//!
//! Nash averaging (Balduzzi, Tuyls, Perolat and Graepel 2018, "Re-evaluating
//! evaluation"): players are weighed by a mixture that no single player beats.
//! Copies of a player, or weak ones to feast on, change nothing.

/// A mixture of players and what each is worth against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Nash {
    /// The share of each player in the mixture; they add up to 1.
    pub mixture: Vec<f64>,
    /// The expected share of the points of each player against the mixture,
    /// less one half: at most about 0.
    pub worth: Vec<f64>,
}

/// Rounds of the solver; the error falls as one over their number.
const ROUNDS: u32 = 20_000;

/// The Nash average of a matrix: `shares[i][j]` is the expected share of the
/// points of player i against player j, `shares[j][i]` one less that.
///
/// Solved by regret matching with regrets cut off at 0 and later rounds weighing
/// more (Tammelin 2014, "Solving large imperfect information games using
/// CFR+").
#[must_use]
pub fn nash_average(shares: &[Vec<f64>]) -> Nash {
    let players = shares.len();
    let mut regrets = vec![0.0; players];
    let mut sum = vec![0.0; players];
    for round in 1..=ROUNDS {
        let mixture = normalised(&regrets);
        for (regret, worth) in regrets.iter_mut().zip(worth(shares, &mixture)) {
            // Against itself the mixture gets one half.
            *regret = f64::max(*regret + worth, 0.0);
        }
        sum.iter_mut().zip(&mixture).for_each(|(sum, p)| *sum += f64::from(round) * p);
    }
    let mixture = normalised(&sum);
    Nash { worth: worth(shares, &mixture), mixture }
}

fn worth(shares: &[Vec<f64>], mixture: &[f64]) -> Vec<f64> {
    let against = |row: &Vec<f64>| row.iter().zip(mixture).map(|(s, p)| (s - 0.5) * p).sum();
    shares.iter().map(against).collect()
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return vec![1.0 / weights.len() as f64; weights.len()];
    }
    weights.iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 0.005, "{found} {expected}");
        }
    }

    #[test]
    fn games_with_known_solutions_are_solved() {
        let half = 0.5;
        // Rock, paper, scissors, and someone who loses to all of them.
        let cycle = vec![
            vec![half, 0.0, 1.0, 1.0],
            vec![1.0, half, 0.0, 1.0],
            vec![0.0, 1.0, half, 1.0],
            vec![0.0, 0.0, 0.0, half],
        ];
        let nash = nash_average(&cycle);
        close(&nash.mixture, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]);
        close(&nash.worth, &[0.0, 0.0, 0.0, -0.5]);
        // Unequal stakes 1, 2, 3 of winning: the mixture is 3/6, 2/6, 1/6 of the
        // opposite ones (solved by hand).
        let stakes = vec![vec![half, 0.4, 0.7], vec![0.6, half, 0.2], vec![0.3, 0.8, half]];
        close(&nash_average(&stakes).mixture, &[0.5, 1.0 / 3.0, 1.0 / 6.0]);
        // Transitive strength: all weight on the best.
        let ladder = vec![vec![half, 0.7, 0.9], vec![0.3, half, 0.7], vec![0.1, 0.3, half]];
        close(&nash_average(&ladder).mixture, &[1.0, 0.0, 0.0]);
    }
}
