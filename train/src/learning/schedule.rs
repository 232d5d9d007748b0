//! How a learning rate falls over a run.

/// The share of the highest learning rate that is left when `run_share` (0 to 1) of a
/// run lies behind: from 1 down to `last` along half a cosine (Loshchilov and Hutter
/// 2017, "SGDR", without restarts).
pub(crate) fn half_cosine(last: f64, run_share: f64) -> f64 {
    let left = (1.0 + (std::f64::consts::PI * run_share.clamp(0.0, 1.0)).cos()) / 2.0;
    last + (1.0 - last) * left
}

#[cfg(test)]
mod tests {
    use super::half_cosine;

    #[test]
    fn it_falls_from_the_whole_to_the_last_share() {
        assert_eq!(half_cosine(0.1, 0.0), 1.0);
        assert!((half_cosine(0.1, 0.5) - 0.55).abs() < 1e-12);
        assert!((half_cosine(0.1, 1.0) - 0.1).abs() < 1e-12);
        assert_eq!(half_cosine(0.1, 1.5), half_cosine(0.1, 1.0));
    }
}
