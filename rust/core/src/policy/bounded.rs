//! Finite scores.

/// `score` as a finite number. Sums of amounts near `f64::MAX` overflow to infinity, and their
/// difference may be NaN, which becomes the worst score.
pub fn bounded(score: f64) -> f64 {
    if score.is_nan() { f64::MAX } else { score.clamp(f64::MIN, f64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_the_worst_score() {
        assert_eq!(bounded(f64::NAN), f64::MAX);
        assert_eq!(bounded(f64::INFINITY), f64::MAX);
        assert_eq!(bounded(f64::NEG_INFINITY), f64::MIN);
        assert_eq!(bounded(-0.25), -0.25);
    }
}
