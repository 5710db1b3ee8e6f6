//! The time by which an application has to be done.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use thiserror::Error;

use crate::recurring::LogNormal;

const DEADLINE_TAG: &str = "elastane.deadline=";

/// A value of the tag that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the tag {DEADLINE_TAG}{0} is ignored: a time since the submission (90m, 2h) or a moment (2026-11-25T18:00Z) is \
     allowed"
)]
pub struct BadDeadline(pub String);

/// The deadline that the tags `elastane.deadline=TIME` give, in Unix milliseconds, and the tags that give none.
///
/// TIME is a duration from the submission on, or a moment by ISO 8601. Of several deadlines the earliest
/// counts: YARN keeps tags without order.
pub fn deadline_ms(tags: &[String], submitted_ms: i64) -> (Option<i64>, Vec<BadDeadline>) {
    let (mut earliest, mut bad) = (None, Vec::new());
    let tags = tags.iter().map(|tag| tag.trim().to_lowercase());
    for given in tags.filter_map(|tag| Some(tag.strip_prefix(DEADLINE_TAG)?.trim().to_owned())) {
        match moment_ms(&given, submitted_ms) {
            Some(at_ms) => earliest = Some(earliest.map_or(at_ms, |other: i64| other.min(at_ms))),
            None => bad.push(BadDeadline(given)),
        }
    }
    (earliest, bad)
}

fn moment_ms(given: &str, submitted_ms: i64) -> Option<i64> {
    if let Ok(moment) = given.parse::<Timestamp>() {
        return Some(moment.as_millisecond());
    }
    let span: Span = given.parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    let after_ms = i64::try_from(duration.as_millis()).ok()?;
    (duration > SignedDuration::ZERO).then(|| submitted_ms.saturating_add(after_ms))
}

/// The probability that the next run is at most this long, where earlier ones give this distribution of lengths.
pub fn chance_within(length_ms: &LogNormal, most_ms: i64) -> f64 {
    if most_ms <= 0 {
        return 0.0;
    }
    let away = length_ms.deviations(most_ms as f64);
    0.5 * libm::erfc(-away / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBMITTED_MS: i64 = 1_700_000_000_000;
    const MINUTE_MS: i64 = 60_000;

    fn of(tags: &[&str]) -> (Option<i64>, Vec<BadDeadline>) {
        let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
        deadline_ms(&tags, SUBMITTED_MS)
    }

    #[test]
    fn a_duration_counts_from_the_submission_and_a_moment_is_itself() {
        for (tag, minutes) in [
            ("elastane.deadline=90m", 90),
            (" Elastane.Deadline= 2h ", 120),
            ("elastane.deadline=1h30m", 90),
            ("elastane.deadline=600s", 10),
            ("elastane.deadline=2d", 2 * 24 * 60),
            // SUBMITTED_MS is 2023-11-14T22:13:20Z.
            ("elastane.deadline=2023-11-14T22:23:20Z", 10),
            ("elastane.deadline=2023-11-14t23:23:20+01:00", 10),
            ("elastane.deadline=2023-11-14t22:03:20z", -10),
        ] {
            let expected = SUBMITTED_MS + minutes * MINUTE_MS;
            assert_eq!(of(&[tag]), (Some(expected), Vec::new()), "{tag}");
        }
    }

    #[test]
    fn a_moment_may_lack_its_seconds() {
        for tag in ["elastane.deadline=2023-11-14T23:00Z", "elastane.deadline=2023-11-14t23:00z"] {
            let at_ms = 1_700_002_800_000;
            assert_eq!(of(&[tag]), (Some(at_ms), Vec::new()), "{tag}");
        }
    }

    #[test]
    fn the_earliest_of_several_counts() {
        let tags = ["elastane.deadline=2h", "nightly", "elastane.deadline=1h"];
        assert_eq!(of(&tags).0, Some(SUBMITTED_MS + 60 * MINUTE_MS));
    }

    #[test]
    fn what_is_no_time_is_named_and_no_deadline() {
        for given in ["", "soon", "90", "-5m", "0s", "2023-11-14", "2h later"] {
            let (deadline, bad) = of(&[&format!("elastane.deadline={given}")]);
            assert_eq!((deadline, bad), (None, vec![BadDeadline(given.into())]));
        }
        let text = BadDeadline("soon".into()).to_string();
        assert!(text.starts_with("the tag elastane.deadline=soon is ignored"), "{text}");
    }

    #[test]
    fn half_of_the_runs_are_shorter_than_the_median() {
        let length_ms = LogNormal::of([100_000.0, 110_000.0, 90_000.0].into_iter());
        let chance = |most_ms| chance_within(&length_ms, most_ms);
        let median_ms = length_ms.center.exp() as i64;
        assert!((chance(median_ms) - 0.5).abs() < 1e-3);
        // One and two standard deviations of a normal distribution.
        let at = |deviations: f64| {
            chance((length_ms.center + deviations * length_ms.deviation).exp() as i64)
        };
        assert!((at(1.0) - 0.8413).abs() < 1e-3);
        assert!((at(-2.0) - 0.0228).abs() < 1e-3);
        assert_eq!(chance(0), 0.0);
        assert_eq!(chance(-1), 0.0);
    }
}
