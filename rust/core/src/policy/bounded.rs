//! Scores are numbers, whatever they are made from.

/// `score`, or the number next to it: sums of amounts near the largest number pass it, and what they
/// leave may not be a number at all, which is the worst of all scores.
pub(super) fn bounded(score: f64) -> f64 {
    if score.is_nan() {
        f64::MAX
    } else {
        score.clamp(f64::MIN, f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_the_worst_score() {
        assert_eq!(bounded(f64::NAN), f64::MAX);
        assert_eq!(bounded(f64::INFINITY), f64::MAX);
        assert_eq!(bounded(f64::NEG_INFINITY), f64::MIN);
        assert_eq!(bounded(-0.25), -0.25);
    }
}
