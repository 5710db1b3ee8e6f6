//! What trackers say of a run while it goes on, against how it went.

use elastane_core::{Demand, DemandError, Resources};

use crate::recurring::{Prediction, Tracker};
use crate::score::{Score, amount, score};

/// What a tracker said before each slot of a run.
pub(crate) struct Tracked<'r> {
    pub(crate) used: &'r Demand,
    pub(crate) bounds: Vec<Resources>,
    pub(crate) expected: Vec<Resources>,
    progress: Vec<f64>,
}

/// How far off the progress of a run was said to be: the mean over its slots, where a run has come
/// so far as the part of its time that is over.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProgressMissed {
    /// By a tracker of the runs that the prediction was made from.
    pub by_runs: f64,
    /// By a tracker of the demand, as the scheduler has it.
    pub by_demand: f64,
    /// By the time since its start over the expected length.
    pub by_clock: f64,
}

impl<'r> Tracked<'r> {
    /// By what earlier runs used.
    pub(crate) fn by_runs(prediction: &Prediction, used: &'r Demand) -> Self {
        Self::by(Tracker::new(prediction), used)
    }

    /// By the demand alone: what the scheduler keeps.
    pub(crate) fn by_demand(demand: &Demand, used: &'r Demand) -> Self {
        Self::by(Tracker::of_demand(demand), used)
    }

    fn by(mut tracker: Tracker, used: &'r Demand) -> Self {
        let mut said = Self {
            used,
            bounds: Vec::new(),
            expected: Vec::new(),
            progress: Vec::new(),
        };
        for usage in used.slots() {
            let ahead = tracker.next(used.slot_ms());
            said.progress.push(tracker.progress());
            said.bounds.push(ahead.bound);
            said.expected.push(ahead.expected);
            tracker.observe(*usage, used.slot_ms());
        }
        said
    }

    /// A prediction at the progress that was said.
    pub(crate) fn read(&self, predicted: &Demand) -> Vec<Resources> {
        let length_ms = predicted.duration_ms().unwrap_or_default() as f64;
        let progress = self.progress.iter();
        progress
            .map(|progress| predicted.at((progress * length_ms) as i64))
            .collect()
    }

    pub(crate) fn score(
        &self,
        bounds: &[Resources],
        expected: Option<&[Resources]>,
    ) -> Result<[Score; 4], DemandError> {
        let series = |slots| Demand::series(self.used.slot_ms(), slots);
        let bound = series(bounds)?;
        let total = amount(&series(expected.unwrap_or(bounds))?);
        Ok(score(&bound, total, self.used))
    }

    /// The part of the run's time that was over before each slot.
    fn parts(&self) -> impl Iterator<Item = f64> {
        let count = self.used.slots().len();
        (0..count).map(move |slot| slot as f64 / count as f64)
    }

    fn missed(&self, said: impl Iterator<Item = f64>) -> f64 {
        let misses = self
            .parts()
            .zip(said)
            .map(|(part, said)| (part - said).abs());
        misses.sum::<f64>() / self.used.slots().len().max(1) as f64
    }
}

/// Of a run that two trackers followed and that was expected to be so long.
pub(crate) fn missed(
    by_runs: &Tracked<'_>,
    by_demand: &Tracked<'_>,
    expected_ms: i64,
) -> ProgressMissed {
    let used = by_runs.used;
    let clock = (0..used.slots().len()).map(|slot| {
        let elapsed_ms = slot as f64 * f64::from(used.slot_ms());
        (elapsed_ms / expected_ms.max(1) as f64).min(1.0)
    });
    ProgressMissed {
        by_runs: by_runs.missed(by_runs.progress.iter().copied()),
        by_demand: by_demand.missed(by_demand.progress.iter().copied()),
        by_clock: by_runs.missed(clock),
    }
}
