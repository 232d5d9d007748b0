//! How much of a mixture samples of a setup network are.

use std::collections::HashSet;

use cyvasse_env::{Setup, Square, Tile, Unit};
use cyvasse_models::SampledSetup;
use serde::Serialize;

/// What samples for one seat say about the distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Diversity {
    /// Samples looked at.
    pub samples: usize,
    /// Share of the samples that are different setups.
    pub distinct: f64,
    /// Joint entropy in nats: the mean of -log probability.
    pub entropy: f64,
    /// The same as a share of the uniform distribution's.
    pub entropy_share: f64,
    /// Share of the samples that have the king on its most frequent square.
    pub king_square: f64,
    /// Share of the samples that have the king on the square, or its mirror image, where
    /// it is most often: what mirroring does not hide.
    pub king_square_or_image: f64,
    /// Share of the samples that have the king in a fortress.
    pub king_in_fortress: f64,
}

impl Diversity {
    /// Looks at samples; `uniform_entropy` is that of all legal setups, in nats.
    #[must_use]
    pub fn of(samples: &[SampledSetup], uniform_entropy: f64) -> Diversity {
        let count = samples.len().max(1) as f64;
        let setups: Vec<Setup> = samples.iter().map(|sample| sample.setup).collect();
        let distinct: HashSet<Setup> = setups.iter().copied().collect();
        let entropy = -samples.iter().map(|sample| sample.log_probability).sum::<f64>() / count;
        let marginals = Marginals::of(&setups);
        let king = &marginals.units[Unit::King.index()];
        let image = |square: usize| Square::new(square).mirror().index();
        let either_way = king.iter().enumerate().map(|(at, share)| share + king[image(at)]);
        let sheltered = setups.iter().filter(|setup| {
            let king = setup.units().iter().position(|&unit| unit == Some(Unit::King));
            king.is_some_and(|square| setup.tiles()[square] == Tile::Fortress)
        });
        Diversity {
            samples: samples.len(),
            distinct: distinct.len() as f64 / count,
            entropy,
            entropy_share: if uniform_entropy > 0.0 { entropy / uniform_entropy } else { 1.0 },
            king_square: king.iter().copied().fold(0.0, f64::max),
            king_square_or_image: either_way.fold(0.0, f64::max),
            king_in_fortress: sheltered.count() as f64 / count,
        }
    }

    /// Whether the samples differ at all: at least 99% of them.
    #[must_use]
    pub fn is_distinct(&self) -> bool {
        self.distinct >= 0.99
    }

    /// Whether the joint entropy says that this is neither a collapsed mixture nor
    /// one that has learned nothing: 0.3 to 0.9 of the uniform's.
    #[must_use]
    pub fn is_mixture(&self) -> bool {
        (0.3..=0.9).contains(&self.entropy_share)
    }

    /// Whether the king's square can be told beforehand in at most 60%.
    #[must_use]
    pub fn hides_the_king(&self) -> bool {
        self.king_square <= 0.6
    }
}

/// How often each square has each tile and each unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    /// By the tile's place in [`Tile::LAID`] and [`Square::index`]: shares of the
    /// setups, 0 to 1.
    pub tiles: [[f64; 32]; 5],
    /// The same by [`Unit::index`].
    pub units: [[f64; 32]; Unit::COUNT],
}

impl Marginals {
    /// The marginals of some setups.
    #[must_use]
    pub fn of(setups: &[Setup]) -> Marginals {
        let share = 1.0 / setups.len().max(1) as f64;
        let mut marginals = Marginals { tiles: [[0.0; 32]; 5], units: [[0.0; 32]; Unit::COUNT] };
        for setup in setups {
            for square in 0..Setup::SQUARES {
                marginals.tiles[setup.tiles()[square] as usize][square] += share;
                if let Some(unit) = setup.units()[square] {
                    marginals.units[unit.index()][square] += share;
                }
            }
        }
        marginals
    }

    /// A table of percents for a person: four ranks, the front first.
    #[must_use]
    pub fn table(shares: &[f64; 32]) -> String {
        let row = |rank: usize| {
            let cells = (0..8).map(|file| {
                let percent = 100.0 * shares[Square::at(file, rank).index()];
                match percent.round() as u32 {
                    0 => "   .".to_string(),
                    percent => format!("{percent:4}"),
                }
            });
            format!("{}{}\n", rank + 1, cells.collect::<String>())
        };
        let rows: String = (0..4).rev().map(row).collect();
        format!("    a   b   c   d   e   f   g   h\n{rows}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyvasse_env::Rules;

    #[test]
    fn samples_are_counted() {
        let rules = Rules::iron_throne();
        let one = Setup::parse("m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K2", &rules)
            .unwrap();
        let other = one.mirror();
        let sample = |setup, log_probability| SampledSetup { setup, log_probability };
        let samples = [sample(one, -10.0), sample(one, -10.0), sample(other, -40.0)];
        let diversity = Diversity::of(&samples, 60.0);
        assert!((diversity.distinct - 2.0 / 3.0).abs() < 1e-9);
        assert!((diversity.entropy - 20.0).abs() < 1e-9);
        assert!((diversity.entropy_share - 1.0 / 3.0).abs() < 1e-9);
        assert!((diversity.king_square - 2.0 / 3.0).abs() < 1e-9);
        assert!((diversity.king_square_or_image - 1.0).abs() < 1e-9);
        assert_eq!(diversity.king_in_fortress, 0.0);

        let marginals = Marginals::of(&[one, other]);
        let king = &marginals.units[Unit::King.index()];
        assert_eq!((king[Square::at(5, 0).index()], king[Square::at(2, 0).index()]), (0.5, 0.5));
        let table = Marginals::table(king);
        assert!(table.ends_with("1   .   .  50   .   .  50   .   .\n"), "{table}");
    }
}
