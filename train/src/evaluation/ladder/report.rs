//! What a ladder says: ratings, the pay-off matrix, and where the two disagree.

use serde::Serialize;

use super::Contender;
use crate::evaluation::statistics::{Fit, Results, nash_average, share_of_elo};

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
    /// The 95% interval of the share.
    pub interval: (f64, f64),
    /// The share that the ratings foretell.
    pub expected: f64,
}

impl LadderReport {
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

/// Results whose interval does not hold what the ratings foretell.
fn surprises(
    contenders: &[Contender],
    results: &Results,
    expected: impl Fn(usize, usize) -> f64,
) -> Vec<Surprise> {
    let mut surprises = Vec::new();
    for i in 0..contenders.len() {
        for j in i + 1..contenders.len() {
            let (pairs, expected) = (results.between(i, j), expected(i, j));
            let (low, high) = pairs.interval();
            if pairs.count() > 0 && !(low..=high).contains(&expected) {
                surprises.push(Surprise {
                    first: contenders[i].name.clone(),
                    second: contenders[j].name.clone(),
                    share: pairs.share(),
                    interval: (low, high),
                    expected,
                });
            }
        }
    }
    let size = |surprise: &Surprise| (surprise.share - surprise.expected).abs();
    surprises.sort_by(|a, b| size(b).total_cmp(&size(a)));
    surprises
}
