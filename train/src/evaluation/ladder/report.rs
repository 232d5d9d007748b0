//! What a ladder says: ratings, the pay-off matrix, and where the two disagree.

use std::path::Path;

use serde::Serialize;

use super::{Contender, ResultsError, collect, contenders_of, read};
use crate::evaluation::statistics::{Fit, Results, nash_average, share_of_elo, two_sided_quantile};

/// What the results of a ladder say.
#[derive(Clone, Debug, Serialize)]
pub struct LadderReport {
    /// The players in the order of the plan.
    pub players: Vec<LadderPlayer>,
    /// `[i][j]`: the share of the points of player i against player j; `null`
    /// where they have not played.
    pub shares: Vec<Vec<Option<f64>>>,
    /// Results that the ratings do not explain, the most surprising first:
    /// strength that is not transitive.
    pub surprises: Vec<Surprise>,
}

/// A player of a ladder.
#[derive(Clone, Debug, Serialize)]
pub struct LadderPlayer {
    /// Its name.
    pub name: String,
    /// The round whose checkpoint it is.
    pub round: Option<u32>,
    /// Its rating; the first player has 0.
    pub elo: f64,
    /// Half the width of the 95% interval of the difference to the first player.
    pub margin: f64,
    /// Half the width of the 95% interval of its lead over the mean of the pool,
    /// where the doubt about the first player matters little.
    pub margin_in_pool: f64,
    /// Pairs that it has played.
    pub pairs: u64,
    /// Its share in the Nash mixture of the pool; results that are missing are
    /// filled in from the ratings.
    pub nash_share: f64,
    /// Its expected share of the points against that mixture, less one half.
    pub nash_worth: f64,
}

/// A result that the ratings do not explain.
#[derive(Clone, Debug, Serialize)]
pub struct Surprise {
    /// A player.
    pub first: String,
    /// Its opponent.
    pub second: String,
    /// The share of the points that the first one scored.
    pub share: f64,
    /// The interval of the share: with a probability of 95% all such intervals
    /// of a ladder hold the truth.
    pub interval: (f64, f64),
    /// The share that the ratings foretell.
    pub expected: f64,
}

impl LadderReport {
    /// The report on a file of results; `None` if there are none. Only those of the
    /// newest origin count: those of others were of other players.
    ///
    /// # Errors
    /// A file that cannot be read, or with a line that is no result.
    pub fn read(path: &Path) -> Result<Option<LadderReport>, ResultsError> {
        let mut batches = read(path)?;
        let newest = batches.last().map(|batch| batch.origin.clone());
        batches.retain(|batch| Some(&batch.origin) == newest.as_ref());
        let contenders = contenders_of(&batches);
        let some = !contenders.is_empty();
        Ok(some.then(|| LadderReport::new(&contenders, &collect(&contenders, &batches))))
    }

    /// The report on some results.
    #[must_use]
    pub fn new(contenders: &[Contender], results: &Results) -> LadderReport {
        let fit = Fit::new(results);
        let places = 0..contenders.len();
        let expected = |i: usize, j: usize| share_of_elo(fit.difference(i, j));
        let known = |i: usize, j: usize| {
            let pairs = results.between(i, j);
            (i != j && pairs.count() > 0).then(|| pairs.share())
        };
        let shares: Vec<Vec<Option<f64>>> =
            places.clone().map(|i| places.clone().map(|j| known(i, j)).collect()).collect();
        let filled = |i: usize, j: usize| shares[i][j].unwrap_or_else(|| expected(i, j));
        let matrix: Vec<Vec<f64>> =
            places.clone().map(|i| places.clone().map(|j| filled(i, j)).collect()).collect();
        let nash = nash_average(&matrix);
        let player = |(place, contender): (usize, &Contender)| {
            let rating = fit.rating(place, 0);
            LadderPlayer {
                name: contender.name.clone(),
                round: contender.round,
                elo: rating.elo,
                margin: rating.margin,
                margin_in_pool: fit.margin_in_pool(place),
                pairs: results.played(place),
                nash_share: nash.mixture[place],
                nash_worth: nash.worth[place],
            }
        };
        let players = contenders.iter().enumerate().map(player).collect();
        LadderReport { players, surprises: surprises(contenders, results, expected), shares }
    }
}

/// Pairs that two players must have played before their result can surprise:
/// with fewer the interval is not to be trusted that far out.
const LEAST_PAIRS: u64 = 20;

/// How often anything is to be called a surprise where nothing is one.
const ERROR_RATE: f64 = 0.05;

/// Results whose interval does not hold what the ratings foretell. There are
/// many to look at, so each has its part of the error only (Bonferroni).
fn surprises(
    contenders: &[Contender],
    results: &Results,
    expected: impl Fn(usize, usize) -> f64,
) -> Vec<Surprise> {
    let players = contenders.len();
    let all = (0..players).flat_map(|i| (i + 1..players).map(move |j| (i, j)));
    let tested: Vec<(usize, usize)> =
        all.filter(|&(i, j)| results.between(i, j).count() >= LEAST_PAIRS).collect();
    let quantile = two_sided_quantile(ERROR_RATE / tested.len().max(1) as f64);
    let surprise = |(i, j): (usize, usize)| {
        let (pairs, expected) = (results.between(i, j), expected(i, j));
        let interval = pairs.interval_at(quantile);
        (!(interval.0..=interval.1).contains(&expected)).then(|| Surprise {
            first: contenders[i].name.clone(),
            second: contenders[j].name.clone(),
            share: pairs.share(),
            interval,
            expected,
        })
    };
    let mut surprises: Vec<Surprise> = tested.into_iter().filter_map(surprise).collect();
    let size = |surprise: &Surprise| (surprise.share - surprise.expected).abs();
    surprises.sort_by(|a, b| size(b).total_cmp(&size(a)));
    surprises
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::evaluation::statistics::Pairs;
    use crate::evaluation::statistics::tests::sample;

    fn contenders(count: u32) -> Vec<Contender> {
        let contender = |round| Contender {
            name: format!("player {round}"),
            spec: "random".parse().unwrap(),
            round: Some(round),
        };
        (0..count).map(contender).collect()
    }

    #[test]
    fn equal_players_seldom_surprise_however_many_they_are() {
        let players = contenders(8);
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let surprising = (0..100).filter(|_| {
            let mut results = Results::new(players.len());
            for i in 0..players.len() {
                for j in i + 1..players.len() {
                    let pairs = sample(&[0.1, 0.2, 0.4, 0.2, 0.1], 40, &mut rng);
                    results.add(i, j, &pairs);
                }
            }
            !LadderReport::new(&players, &results).surprises.is_empty()
        });
        // 5 expected at most; each of 28 pairs at 95% would make it about 76.
        assert!(surprising.count() <= 12);
    }

    #[test]
    fn a_circle_of_players_surprises_once_it_is_long_enough() {
        let circle = |pairs: u64| {
            let mut results = Results::new(3);
            for (first, second) in [(0, 1), (1, 2), (2, 0)] {
                results.add(first, second, &Pairs { counts: [0, 0, 0, 0, pairs] });
            }
            LadderReport::new(&contenders(3), &results).surprises.len()
        };
        assert_eq!((circle(19), circle(20)), (0, 3));
    }
}
