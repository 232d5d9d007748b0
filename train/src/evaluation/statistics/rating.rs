//! Ratings of many players from the games between them.
//!
//! Bradley and Terry's model (1952, "Rank analysis of incomplete block
//! designs") on Elo's scale, a draw being half a win. Each rating has a wide
//! normal prior, so that a player who has won everything is rated as far away
//! as the games tell and no farther. The intervals come from the curvature at
//! the most likely ratings (Laplace's approximation).

use super::{Pairs, Z, share_of_elo};

/// Elo points of one natural unit of log-odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// Standard deviation of the prior in Elo points: next to nothing beside games.
const PRIOR: f64 = 1000.0;

/// The pairs played between some players.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    players: usize,
    /// `[i * players + j]`: what player i scored against player j, for i < j.
    pairs: Vec<Pairs>,
}

/// A player's rating in Elo points, relative to the anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// The most likely one.
    pub elo: f64,
    /// Half the width of the 95% interval of the difference to the anchor.
    pub margin: f64,
}

impl Results {
    /// No games between so many players.
    #[must_use]
    pub fn new(players: usize) -> Results {
        Results { players, pairs: vec![Pairs::default(); players * players] }
    }

    /// Adds pairs of `first` against `second`, another player.
    pub fn add(&mut self, first: usize, second: usize, pairs: &Pairs) {
        let (low, high) = (first.min(second), first.max(second));
        let pairs = if first == low { *pairs } else { pairs.reversed() };
        let cell = &mut self.pairs[low * self.players + high];
        *cell = cell.plus(&pairs);
    }

    /// What `first` scored against `second`.
    #[must_use]
    pub fn between(&self, first: usize, second: usize) -> Pairs {
        let cell = self.pairs[first.min(second) * self.players + first.max(second)];
        if first <= second { cell } else { cell.reversed() }
    }

    /// Pairs that a player has played.
    #[must_use]
    pub fn played(&self, player: usize) -> u64 {
        let others = (0..self.players).filter(|&other| other != player);
        others.map(|other| self.between(player, other).count()).sum()
    }

    /// How many independent games a pair of games tells as much as, over all
    /// results: less than two where the setups decide both games alike.
    fn games_per_pair(&self) -> f64 {
        let (mut of_games, mut of_pairs) = (0.0, 0.0);
        for pairs in self.pairs.iter().filter(|pairs| pairs.count() > 0) {
            let (count, share) = (pairs.count() as f64, pairs.share());
            of_games += count * share * (1.0 - share);
            of_pairs += count * pairs.variance();
        }
        if of_pairs > 0.0 { (of_games / of_pairs).clamp(0.5, 8.0) } else { 1.0 }
    }
}

/// A fit: ratings in natural units and the covariance of their errors.
#[derive(Clone, Debug)]
pub struct Fit {
    strengths: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

impl Fit {
    /// The most likely ratings.
    #[must_use]
    pub fn new(results: &Results) -> Fit {
        let weight = results.games_per_pair();
        let mut strengths = vec![0.0; results.players];
        // Newton's method; the logarithm of the posterior is concave. Steps are
        // bounded, so that it does not leap out of the curve's reach.
        for _ in 0..200 {
            let (gradient, curvature) = slopes(results, weight, &strengths);
            let inverse = inverse(curvature);
            let step: Vec<f64> = inverse.iter().map(|row| dot(row, &gradient)).collect();
            let longest = step.iter().fold(0.0, |longest: f64, step| longest.max(step.abs()));
            let scale = if longest > 1.0 { 1.0 / longest } else { 1.0 };
            strengths.iter_mut().zip(&step).for_each(|(strength, step)| *strength += scale * step);
            if longest < 1e-10 {
                break;
            }
        }
        let (_, curvature) = slopes(results, weight, &strengths);
        Fit { strengths, covariance: inverse(curvature) }
    }

    /// The difference between two players in Elo points.
    #[must_use]
    pub fn difference(&self, first: usize, second: usize) -> f64 {
        ELO * (self.strengths[first] - self.strengths[second])
    }

    /// The variance of that difference in natural units squared.
    fn doubt(&self, first: usize, second: usize) -> f64 {
        let c = &self.covariance;
        (c[first][first] + c[second][second] - 2.0 * c[first][second]).max(0.0)
    }

    /// A player's rating relative to an anchor.
    #[must_use]
    pub fn rating(&self, player: usize, anchor: usize) -> Rating {
        let margin = Z * ELO * self.doubt(player, anchor).sqrt();
        Rating { elo: self.difference(player, anchor), margin }
    }

    /// Half the width of the 95% interval of a player's lead over the mean of all
    /// players, in Elo points.
    #[must_use]
    pub fn margin_in_pool(&self, player: usize) -> f64 {
        let count = self.strengths.len() as f64;
        let row: f64 = self.covariance[player].iter().sum();
        let all: f64 = self.covariance.iter().flatten().sum();
        let variance = self.covariance[player][player] - 2.0 * row / count + all / (count * count);
        Z * ELO * variance.max(0.0).sqrt()
    }

    /// How much a game between two players would tell about them: the doubt
    /// about their difference, times how open the game is.
    #[must_use]
    pub fn information(&self, first: usize, second: usize) -> f64 {
        let share = share_of_elo(self.difference(first, second));
        self.doubt(first, second) * share * (1.0 - share)
    }
}

/// Gradient and negative curvature of the logarithm of the posterior.
fn slopes(results: &Results, weight: f64, strengths: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let prior = (ELO / PRIOR) * (ELO / PRIOR);
    let players = strengths.len();
    let mut gradient: Vec<f64> = strengths.iter().map(|strength| -prior * strength).collect();
    let mut curvature = vec![vec![0.0; players]; players];
    (0..players).for_each(|i| curvature[i][i] = prior);
    for i in 0..players {
        for j in i + 1..players {
            let pairs = results.between(i, j);
            let games = weight * pairs.count() as f64;
            let expected = 1.0 / (1.0 + (strengths[j] - strengths[i]).exp());
            let slope = games * (pairs.share() - expected);
            gradient[i] += slope;
            gradient[j] -= slope;
            let bend = games * expected * (1.0 - expected);
            curvature[i][i] += bend;
            curvature[j][j] += bend;
            curvature[i][j] -= bend;
            curvature[j][i] -= bend;
        }
    }
    (gradient, curvature)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of a symmetric positive definite matrix, by Gauss-Jordan
/// elimination; none of its pivots vanishes.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let unit = |i: usize| (0..size).map(move |j| f64::from(u8::from(i == j))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for pivot in 0..size {
        let scale = 1.0 / matrix[pivot][pivot];
        for rows in [&mut matrix, &mut inverse] {
            rows[pivot].iter_mut().for_each(|cell| *cell *= scale);
        }
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            for rows in [&mut matrix, &mut inverse] {
                let from = rows[pivot].clone();
                rows[row].iter_mut().zip(from).for_each(|(cell, from)| *cell -= factor * from);
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::pairs::tests::sample;
    use super::*;

    /// Ratings of all players relative to an anchor.
    fn ratings(results: &Results, anchor: usize) -> Vec<Rating> {
        let fit = Fit::new(results);
        (0..results.players).map(|player| fit.rating(player, anchor)).collect()
    }

    #[test]
    fn ratings_are_those_of_another_method() {
        // Hunter 2004 ("MM algorithms for generalized Bradley-Terry models",
        // equation 3), iterated in Python on these points a player scored
        // against another, out of 200 games a pair of players:
        // 0-1: 130, 0-2: 168, 0-3: 182, 1-2: 124, 1-3: 158, 2-3: 118.
        let mut results = Results::new(4);
        for (i, j, won) in [(0, 1, 65), (0, 2, 84), (0, 3, 91), (1, 2, 62), (1, 3, 79), (2, 3, 59)]
        {
            results.add(j, i, &Pairs { counts: [won, 0, 0, 0, 100 - won] });
        }
        let expected = [356.629, 216.661, 90.181, 0.0];
        for (rating, expected) in ratings(&results, 3).iter().zip(expected) {
            // The prior draws them together a little.
            assert!((rating.elo - expected).abs() < 1.0, "{rating:?}, expected {expected}");
        }
    }

    #[test]
    fn intervals_hold_the_true_differences_at_the_nominal_rate() {
        let truth = [0.0, 80.0, 200.0];
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut held, mut asked) = (0, 0);
        for _ in 0..500 {
            let mut results = Results::new(3);
            for (i, j) in [(0, 1), (1, 2), (0, 2)] {
                let share = share_of_elo(truth[i] - truth[j]);
                // Pairs of two independent games without draws.
                let lost = 1.0 - share;
                let chances = [lost * lost, 0.0, 2.0 * lost * share, 0.0, share * share];
                results.add(i, j, &sample(&chances, 60, &mut rng));
            }
            for (player, rating) in ratings(&results, 0).iter().enumerate().skip(1) {
                held += u32::from((rating.elo - truth[player]).abs() <= rating.margin);
                asked += 1;
            }
        }
        let rate = f64::from(held) / f64::from(asked);
        assert!((0.93..=0.97).contains(&rate), "{rate}");
    }

    #[test]
    fn a_clean_sweep_has_a_rating() {
        let mut results = Results::new(2);
        results.add(0, 1, &Pairs { counts: [0, 0, 0, 0, 20] });
        let rating = ratings(&results, 1)[0];
        assert!(rating.elo > 300.0 && rating.elo < 1500.0 && rating.margin > 100.0, "{rating:?}");
    }
}
