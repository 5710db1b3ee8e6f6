//! How far an executor has come, and how fast it is against what was expected.

use crate::demand::Demand;

/// The part of an executor's work that is done, from 0 to 1.
///
/// It is given from outside: estimated from what the executor used, or told by its framework.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Progress(f64);

/// A progress that is none.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the progress is {0}, 0 to 1 is allowed")]
pub struct ProgressError(pub f64);

impl Progress {
    /// Of an executor that has just started.
    pub const START: Progress = Progress(0.0);

    /// The part of the work that is done.
    ///
    /// # Errors
    /// A part that is not from 0 to 1.
    pub fn new(part: f64) -> Result<Self, ProgressError> {
        if (0.0..=1.0).contains(&part) {
            Ok(Self(part))
        } else {
            Err(ProgressError(part))
        }
    }

    /// From 0 to 1.
    #[must_use]
    pub fn part(self) -> f64 {
        self.0
    }

    /// How many slots of a demand lie behind; all of them only where everything is done.
    pub(crate) fn slots_of(self, demand: &Demand) -> usize {
        (self.0 * demand.slots().len() as f64) as usize
    }
}

/// Below this part of what it is expected to take, a speed says more of the estimate of progress,
/// which is told in 64 steps, than of the executor.
const LEAST_PART: f64 = 0.1;

/// The same of time: four samples.
const LEAST_MS: i64 = 4 * crate::SLOT_MS as i64;

/// How fast an executor is, measured since a moment.
///
/// Time before the first progress is told does not count (executors start late), nor does time in
/// which it is idle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    /// None before anything was told.
    since: Option<(i64, Progress)>,
    idle_ms: i64,
    /// What the executor takes over what was expected, where that is known to be its own.
    own: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            since: None,
            idle_ms: 0,
            own: 1.0,
        }
    }
}

impl Pace {
    /// The progress at a moment. An estimate that goes back below where it was measured from was
    /// wrong, so measuring begins anew; and so it does where a clock went back.
    pub(crate) fn told(&mut self, progress: Progress, now_ms: i64) {
        let goes_on = self
            .since
            .is_some_and(|(since_ms, since)| since_ms <= now_ms && since <= progress);
        if !goes_on {
            self.begin(progress, now_ms);
        }
    }

    /// Measures from here on.
    pub(crate) fn begin(&mut self, progress: Progress, now_ms: i64) {
        self.since = Some((now_ms, progress));
        self.idle_ms = 0;
    }

    /// The executor was idle for this time.
    pub(crate) fn idled(&mut self, length_ms: i64) {
        self.idle_ms = self.idle_ms.saturating_add(length_ms.max(0));
    }

    /// From now on an executor is slow only against this multiple of what was expected.
    pub(crate) fn is_own(&mut self, slowness: f64) {
        self.own *= slowness;
    }

    /// The time that it took over the time that it was expected to take: above 1 it is slow. None
    /// before that can be said.
    pub(crate) fn slowness(
        &self,
        progress: Progress,
        expected_ms: i64,
        now_ms: i64,
    ) -> Option<f64> {
        self.over(progress, expected_ms as f64 * self.own, now_ms)
    }

    /// The same against what was expected at first, whatever its own pace is.
    pub(crate) fn slowness_at_first(
        &self,
        progress: Progress,
        expected_ms: i64,
        now_ms: i64,
    ) -> Option<f64> {
        self.over(progress, expected_ms as f64, now_ms)
    }

    fn over(&self, progress: Progress, expected_ms: f64, now_ms: i64) -> Option<f64> {
        let (since_ms, since) = self.since?;
        let took_ms = now_ms.saturating_sub(since_ms) - self.idle_ms;
        if took_ms < LEAST_MS || (took_ms as f64) < LEAST_PART * expected_ms {
            return None;
        }
        // One that stands still is as slow as can be told.
        let done = (progress.part() - since.part()).max(LEAST_PART * LEAST_PART);
        Some(took_ms as f64 / (done * expected_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Resources;

    fn at(part: f64) -> Progress {
        Progress::new(part).unwrap()
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for part in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = Progress::new(part).unwrap_err().to_string();
            assert!(error.ends_with("0 to 1 is allowed"), "{error}");
        }
    }

    #[test]
    fn all_slots_lie_behind_only_when_everything_is_done() {
        let demand = Demand::series(3_000, &[Resources::ZERO; 4]).unwrap();
        let behind = [0.0, 0.24, 0.25, 0.99, 1.0].map(|part| at(part).slots_of(&demand));
        assert_eq!(behind, [0, 0, 1, 3, 4]);
    }

    #[test]
    fn a_late_start_is_not_slow() {
        let mut pace = Pace::default();
        pace.told(at(0.0), 40_000);
        pace.told(at(0.5), 70_000);
        assert_eq!(pace.slowness(at(0.5), 60_000, 70_000), Some(1.0));
    }

    #[test]
    fn nothing_is_said_before_a_tenth_of_the_expected_time() {
        let mut pace = Pace::default();
        pace.told(Progress::START, 0);
        assert_eq!(pace.slowness(at(0.01), 600_000, 59_000), None);
        let slowness = pace.slowness(at(0.05), 600_000, 60_000).unwrap();
        assert!((slowness - 2.0).abs() < 1e-9);
        assert_eq!(pace.slowness(at(0.01), 30_000, 11_000), None);
    }

    #[test]
    fn idle_time_is_not_slow() {
        let mut pace = Pace::default();
        pace.told(Progress::START, 0);
        pace.idled(30_000);
        assert_eq!(pace.slowness(at(0.5), 60_000, 60_000), Some(1.0));
    }

    #[test]
    fn an_estimate_that_goes_back_is_measured_anew() {
        let mut pace = Pace::default();
        pace.told(at(0.5), 0);
        pace.told(at(0.4), 30_000);
        assert_eq!(pace.slowness(at(0.9), 60_000, 60_000), Some(1.0));
    }

    #[test]
    fn what_is_its_own_pace_is_not_slow_again() {
        let mut pace = Pace::default();
        pace.told(Progress::START, 0);
        assert_eq!(pace.slowness(at(0.5), 60_000, 60_000), Some(2.0));
        pace.is_own(2.0);
        pace.begin(at(0.5), 60_000);
        assert_eq!(pace.slowness(at(0.75), 60_000, 90_000), Some(1.0));
        assert_eq!(pace.slowness_at_first(at(0.75), 60_000, 90_000), Some(2.0));
    }

    #[test]
    fn one_that_stands_still_is_slow() {
        let mut pace = Pace::default();
        pace.told(at(0.3), 0);
        let slowness = pace.slowness(at(0.3), 60_000, 60_000).unwrap();
        assert!(slowness > 50.0 && slowness.is_finite(), "{slowness}");
    }
}
