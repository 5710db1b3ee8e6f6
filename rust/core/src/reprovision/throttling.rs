//! Cost of a CPU limit to its executor.

use super::Slow;

/// Upper bound of the throttled part of the time, so that the slowness stays finite.
const MOST_THROTTLED: f64 = 0.99;

/// Time lost to the CPU limit since the measurement of the executor's pace started.
///
/// An executor limited to its prediction uses what was predicted, so its progress looks on time
/// however much more it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Throttling {
    /// The two latest samples.
    latest: [ThrottledSample; 2],
    lost_ms: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct ThrottledSample {
    part: f64,
    cpu_cores: f64,
}

impl Throttling {
    /// Adds a sample: its throttled part and its CPU use.
    pub(super) fn add(&mut self, part: f64, cpu_cores: f64, length_ms: i64) {
        self.latest = [ThrottledSample { part, cpu_cores }, self.latest[0]];
        self.lost_ms += part * length_ms as f64;
    }

    /// The slowness, if the limit has already cost `lost_ms`. A single throttled sample may be a
    /// burst, so the less throttled one of the two latest counts.
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
    fn the_less_throttled_one_of_two_samples_counts() {
        assert!((times(after(&[0.0, 0.5, 0.75])) - 2.0).abs() < 1e-9);
        assert_eq!(times(after(&[0.5, 0.75, 0.0])), 1.0);
        assert_eq!(times(after(&[0.75])), 1.0);
    }

    #[test]
    fn the_cpu_use_is_the_mean_of_two_samples() {
        let mut throttling = after(&[0.5; 3]);
        throttling.add(0.5, 2.0, 3_000);
        let slow = Slow::Throttled { times: 2.0, cpu_cores: 1.5 };
        assert_eq!(throttling.slow(0.0), Some(slow));
    }

    #[test]
    fn slowness_needs_enough_lost_time() {
        assert_eq!(after(&[0.5; 3]).slow(5_000.0), None);
        assert!(after(&[0.5; 4]).slow(5_000.0).is_some());
    }

    #[test]
    fn an_executor_throttled_all_the_time_has_a_finite_slowness() {
        let times = times(after(&[1.0; 2]));
        assert!(times > 50.0 && times.is_finite(), "{times}");
    }
}
