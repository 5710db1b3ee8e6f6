//! Progress of an executor, and its pace against the expected one.

use crate::demand::Demand;

/// The completed part of an executor's work, from 0 to 1.
///
/// Callers estimate progress from the executor's use, or get progress from the framework.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Progress(f64);

/// A number that is no progress.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the progress is {0}, 0 to 1 is allowed")]
pub struct ProgressError(pub f64);

impl Progress {
    /// The progress of an executor that has just started.
    pub const START: Progress = Progress(0.0);

    /// A progress of this part of the work.
    ///
    /// The part is not from 0 to 1.
    pub fn new(part: f64) -> Result<Self, ProgressError> {
        if (0.0..=1.0).contains(&part) { Ok(Self(part)) } else { Err(ProgressError(part)) }
    }

    /// From 0 to 1.
    pub fn part(self) -> f64 {
        self.0
    }

    /// Number of completed slots of a demand; all of them only at the end of the work.
    pub(crate) fn slots_of(self, demand: &Demand) -> usize {
        (self.0 * demand.slots().len() as f64) as usize
    }
}

/// Minimum part of the expected time before a pace is measured. Progress is estimated in 64 steps,
/// so an earlier pace would measure the estimate.
const LEAST_PART: f64 = 0.1;

/// Minimum time before a pace is measured: four samples.
const LEAST_MS: i64 = 4 * crate::SLOT_MS as i64;

/// The pace of an executor since a start of measurement.
///
/// Time before the first progress does not count, because executors start late. Idle time does not
/// count either.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    /// Start of the measurement; none before the first progress.
    since: Option<(i64, Progress)>,
    idle_ms: i64,
    /// The executor's own pace: its time over the expected time, once known to be its own.
    own: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { since: None, idle_ms: 0, own: 1.0 }
    }
}

impl Pace {
    /// Records a progress. If the estimate falls below the start of the measurement, the estimate
    /// was wrong and the measurement restarts; it also restarts if a clock was set back.
    pub(crate) fn observe(&mut self, progress: Progress, now_ms: i64) {
        let goes_on =
            self.since.is_some_and(|(since_ms, since)| since_ms <= now_ms && since <= progress);
        if !goes_on {
            self.begin(progress, now_ms);
        }
    }

    /// Restarts the measurement.
    pub(crate) fn begin(&mut self, progress: Progress, now_ms: i64) {
        self.since = Some((now_ms, progress));
        self.idle_ms = 0;
    }

    /// The executor was idle for this time.
    pub(crate) fn idled(&mut self, length_ms: i64) {
        self.idle_ms = self.idle_ms.saturating_add(length_ms.max(0));
    }

    /// Accepts this slowness as the executor's own pace: later slowness is relative to it.
    pub(crate) fn accept_as_own(&mut self, slowness: f64) {
        self.own *= slowness;
    }

    /// Time taken over time expected at the executor's own pace: above 1 the executor is slow. None
    /// before the pace is measurable.
    pub(crate) fn slowness(
        &self,
        progress: Progress,
        expected_ms: i64,
        now_ms: i64,
    ) -> Option<f64> {
        self.slowness_against_prediction(progress, expected_ms as f64 * self.own, now_ms)
    }

    /// Time taken over time predicted, whatever the executor's own pace.
    pub(crate) fn slowness_against_prediction(
        &self,
        progress: Progress,
        expected_ms: f64,
        now_ms: i64,
    ) -> Option<f64> {
        let (since_ms, since) = self.since?;
        let took_ms = now_ms.saturating_sub(since_ms) - self.idle_ms;
        if took_ms < LEAST_MS || (took_ms as f64) < LEAST_PART * expected_ms {
            return None;
        }
        // No progress at all counts as this little, so that the ratio is finite.
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
    fn a_number_outside_0_to_1_is_no_progress() {
        for part in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = Progress::new(part).unwrap_err().to_string();
            assert!(error.ends_with("0 to 1 is allowed"), "{error}");
        }
    }

    #[test]
    fn all_slots_are_complete_only_at_the_end_of_the_work() {
        let demand = Demand::series(3_000, &[Resources::ZERO; 4]).unwrap();
        let completed = [0.0, 0.24, 0.25, 0.99, 1.0].map(|part| at(part).slots_of(&demand));
        assert_eq!(completed, [0, 0, 1, 3, 4]);
    }

    #[test]
    fn a_late_start_is_not_slow() {
        let mut pace = Pace::default();
        pace.observe(at(0.0), 40_000);
        pace.observe(at(0.5), 70_000);
        assert_eq!(pace.slowness(at(0.5), 60_000, 70_000), Some(1.0));
    }

    #[test]
    fn no_pace_is_measured_before_a_tenth_of_the_expected_time() {
        let mut pace = Pace::default();
        pace.observe(Progress::START, 0);
        assert_eq!(pace.slowness(at(0.01), 600_000, 59_000), None);
        let slowness = pace.slowness(at(0.05), 600_000, 60_000).unwrap();
        assert!((slowness - 2.0).abs() < 1e-9);
        assert_eq!(pace.slowness(at(0.01), 30_000, 11_000), None);
    }

    #[test]
    fn idle_time_does_not_count() {
        let mut pace = Pace::default();
        pace.observe(Progress::START, 0);
        pace.idled(30_000);
        assert_eq!(pace.slowness(at(0.5), 60_000, 60_000), Some(1.0));
    }

    #[test]
    fn an_estimate_that_falls_restarts_the_measurement() {
        let mut pace = Pace::default();
        pace.observe(at(0.5), 0);
        pace.observe(at(0.4), 30_000);
        assert_eq!(pace.slowness(at(0.9), 60_000, 60_000), Some(1.0));
    }

    #[test]
    fn an_executor_at_its_own_pace_is_not_slow() {
        let mut pace = Pace::default();
        pace.observe(Progress::START, 0);
        assert_eq!(pace.slowness(at(0.5), 60_000, 60_000), Some(2.0));
        pace.accept_as_own(2.0);
        pace.begin(at(0.5), 60_000);
        assert_eq!(pace.slowness(at(0.75), 60_000, 90_000), Some(1.0));
        assert_eq!(pace.slowness_against_prediction(at(0.75), 60_000.0, 90_000), Some(2.0));
    }

    #[test]
    fn an_executor_without_progress_is_slow() {
        let mut pace = Pace::default();
        pace.observe(at(0.3), 0);
        let slowness = pace.slowness(at(0.3), 60_000, 60_000).unwrap();
        assert!(slowness > 50.0 && slowness.is_finite(), "{slowness}");
    }
}
