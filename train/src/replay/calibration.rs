//! Whether values come true: what searches said of positions, and how their
//! games ended.

use cyvasse_env::Side;
use cyvasse_selfplay::{GameRecord, PlyKind, WhiteValue};
use serde::Serialize;

/// Positions by the value that a search gave them, -1 to 1 for the side to move.
#[derive(Clone, Debug)]
pub struct Calibration {
    bins: Vec<Bin>,
    /// Sum of (value - result)^2.
    squares: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    values: f64,
    results: f64,
    positions: u64,
}

/// Positions whose value was about the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The mean value that the search gave, -1 to 1 for the side to move.
    pub predicted: f64,
    /// The mean result of their games, -1 to 1 for the side to move.
    pub actual: f64,
    /// Positions.
    pub positions: u64,
}

impl Calibration {
    /// No positions yet, to be kept in so many bins of equal width.
    ///
    /// # Panics
    /// If `bins` is 0.
    #[must_use]
    pub fn new(bins: usize) -> Calibration {
        assert!(bins > 0, "a value must have a bin");
        Calibration { bins: vec![Bin::default(); bins], squares: 0.0 }
    }

    /// Counts the searched positions of a game that was played to its end. One that
    /// was resigned is left out: its result is what the search had said.
    pub fn add(&mut self, game: &GameRecord) {
        if game.resigned {
            return;
        }
        let result = WhiteValue::of(game.outcome);
        for (ply, turn) in game.plies.iter().zip(Side::ALL.into_iter().cycle()) {
            if ply.kind != PlyKind::Opening {
                self.count(ply.root_value.get().into(), result.for_mover(turn).get().into());
            }
        }
    }

    fn count(&mut self, value: f64, result: f64) {
        let count = self.bins.len();
        let place = ((value + 1.0) / 2.0 * count as f64) as usize;
        let bin = &mut self.bins[place.min(count - 1)];
        bin.values += value;
        bin.results += result;
        bin.positions += 1;
        self.squares += (value - result).powi(2);
    }

    /// Positions so far.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.bins.iter().map(|bin| bin.positions).sum()
    }

    /// The bins by ascending value; `None` for those without positions.
    #[must_use]
    pub fn bins(&self) -> Vec<Option<CalibrationBin>> {
        let told = |bin: &Bin| {
            let count = bin.positions as f64;
            (bin.positions > 0).then(|| CalibrationBin {
                predicted: bin.values / count,
                actual: bin.results / count,
                positions: bin.positions,
            })
        };
        self.bins.iter().map(told).collect()
    }

    /// Mean square of value less result, 0 to 4; `None` without positions.
    #[must_use]
    pub fn mean_square_error(&self) -> Option<f64> {
        let positions = self.positions();
        (positions > 0).then(|| self.squares / positions as f64)
    }

    /// Mean distance of a bin's mean value from its mean result, weighted by
    /// positions (the expected calibration error of Guo et al. 2017, with values in
    /// place of confidences), 0 to 2; `None` without positions.
    #[must_use]
    pub fn calibration_error(&self) -> Option<f64> {
        let positions = self.positions();
        let distance: f64 = self.bins.iter().map(|bin| (bin.values - bin.results).abs()).sum();
        (positions > 0).then(|| distance / positions as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_worked_out_by_hand() {
        let mut calibration = Calibration::new(2);
        assert_eq!(calibration.mean_square_error(), None);
        assert_eq!((calibration.calibration_error(), calibration.bins()), (None, vec![None; 2]));
        for (value, result) in [(-0.5, -1.0), (-0.5, 1.0), (0.5, 1.0), (1.0, 1.0)] {
            calibration.count(value, result);
        }
        // (0.25 + 2.25 + 0.25 + 0) / 4
        assert_eq!(calibration.mean_square_error(), Some(0.6875));
        // The lower bin says -1 and got 0 in sum, the upper says 1.5 and got 2.
        assert_eq!(calibration.calibration_error(), Some(0.375));
        let bin = |predicted, actual| Some(CalibrationBin { predicted, actual, positions: 2 });
        assert_eq!(calibration.bins(), [bin(-0.5, 0.0), bin(0.75, 1.0)]);
    }
}
