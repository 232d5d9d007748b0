//! Elo's scale (Elo 1978, "The rating of chessplayers"): a difference of 400
//! points is odds of ten to one.

/// The difference in Elo that an expected share of the points stands for;
/// infinite for 0 and 1.
#[must_use]
pub fn elo_of_share(share: f64) -> f64 {
    -400.0 * (1.0 / share - 1.0).log10()
}

/// The expected share of the points with a lead of `elo`.
#[must_use]
pub fn share_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_elos() {
        // Ten to one, and what FIDE's table of expected scores has for 100.
        assert!((share_of_elo(400.0) - 10.0 / 11.0).abs() < 1e-12);
        assert!((share_of_elo(100.0) - 0.64).abs() < 1e-3);
        for elo in [-300.0, 0.0, 12.5] {
            assert!((elo_of_share(share_of_elo(elo)) - elo).abs() < 1e-9);
        }
        assert_eq!(elo_of_share(1.0), f64::INFINITY);
        assert_eq!(elo_of_share(0.0), f64::NEG_INFINITY);
    }
}
