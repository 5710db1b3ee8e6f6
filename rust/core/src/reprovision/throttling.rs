//! What its CPU limit costs an executor.

use super::Slow;

/// Upper bound of the throttled part of the time, so that the slowdown stays finite.
const MOST_THROTTLED: f64 = 0.99;

/// How much of the time its CPU limit held an executor back since its speed was last measured anew.
///
/// What is held to its prediction uses what was predicted, so that its progress looks on time however
/// much more it wants.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Throttling {
    /// The two latest samples.
    latest: [Sample; 2],
    lost_ms: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sample {
    part: f64,
    cpu_cores: f64,
}

impl Throttling {
    /// One more sample: the part of it in which the limit held the executor back, and what it used.
    pub(super) fn add(&mut self, part: f64, cpu_cores: f64, length_ms: i64) {
        self.latest = [Sample { part, cpu_cores }, self.latest[0]];
        self.lost_ms += part * length_ms as f64;
    }

    /// How slow it is, where its limit already cost it `lost_ms`. A single sample is a burst: the one
    /// that was throttled less counts.
    pub(super) fn slow(&self, lost_ms: f64) -> Option<Slow> {
        let [newest, before] = self.latest;
        let part = newest.part.min(before.part).min(MOST_THROTTLED);
        (self.lost_ms >= lost_ms).then(|| Slow::Throttled {
            times: 1.0 / (1.0 - part),
            cpu_cores: f64::midpoint(newest.cpu_cores, before.cpu_cores),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(parts: &[f64]) -> Throttling {
        let mut throttling = Throttling::default();
        for part in parts {
            throttling.add(*part, 1.0, 3_000);
        }
        throttling
    }

    fn times(throttling: Throttling) -> f64 {
        throttling.slow(0.0).unwrap().times()
    }

    #[test]
    fn of_two_samples_the_one_that_was_throttled_less_counts() {
        assert!((times(after(&[0.0, 0.5, 0.75])) - 2.0).abs() < 1e-9);
        assert_eq!(times(after(&[0.5, 0.75, 0.0])), 1.0);
        assert_eq!(times(after(&[0.75])), 1.0);
    }

    #[test]
    fn what_it_uses_is_the_mean_of_the_two() {
        let mut throttling = after(&[0.5; 3]);
        throttling.add(0.5, 2.0, 3_000);
        let slow = Slow::Throttled {
            times: 2.0,
            cpu_cores: 1.5,
        };
        assert_eq!(throttling.slow(0.0), Some(slow));
    }

    #[test]
    fn it_is_told_once_enough_was_lost() {
        assert_eq!(after(&[0.5; 3]).slow(5_000.0), None);
        assert!(after(&[0.5; 4]).slow(5_000.0).is_some());
    }

    #[test]
    fn one_that_is_always_throttled_is_slow_by_a_number() {
        let times = times(after(&[1.0; 2]));
        assert!(times > 50.0 && times.is_finite(), "{times}");
    }
}
