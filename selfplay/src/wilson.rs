//! An interval for a share that was counted.

/// A standard normal variable is within this of 0 with a probability of 95%.
pub const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Wilson's score interval (Wilson 1927, "Probable inference, the law of
/// succession, and statistical inference"), which holds near 0 and 1 too, of a
/// `share` among `count` independent trials, more than none. `z` is the
/// quantile of the normal distribution for the interval's level.
#[must_use]
pub fn wilson(share: f64, count: f64, z: f64) -> (f64, f64) {
    let centre = share + z * z / (2.0 * count);
    let spread = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let scale = 1.0 + z * z / count;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // By scipy's binomtest(...).proportion_ci(method="wilson").
        let (low, high) = wilson(0.8, 10.0, NORMAL_95);
        assert!((low - 0.490_162_471_5).abs() < 1e-9 && (high - 0.943_317_848_5).abs() < 1e-9);
        assert!((wilson(0.03, 100.0, NORMAL_95).1 - 0.084_519).abs() < 1e-5);
        let (low, high) = wilson(0.0, 50.0, NORMAL_95);
        assert!((0.0..1e-12).contains(&low) && (high - 0.071_348).abs() < 1e-5);
        assert!(wilson(1.0, 50.0, NORMAL_95).1 == 1.0);
    }
}
