//! A run, predicted slot by slot by a tracker.

use elastane_core::{Demand, DemandError, Progress, Resources, StageEnds, StagesDone};
use elastane_predict::{Prediction, Score, amount, score};

use super::bounding_tracker::BoundingTracker;

/// The predictions of a tracker before each slot of a run.
pub(super) struct Tracked<'r> {
    pub(super) used: &'r Demand,
    pub(super) bounds: Vec<Resources>,
    pub(super) expected: Vec<Resources>,
    progress: Vec<f64>,
}

/// The mean error of a run's estimated progress over its slots. The true progress is the part of the run's
/// time that is over.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProgressMissed {
    /// Of a tracker of the runs that the prediction was made from.
    pub by_runs: f64,
    /// Of a tracker of the demand, which is the scheduler's.
    pub by_demand: f64,
    /// Of the time since the start over the expected length.
    pub by_clock: f64,
    /// Of the stages that had ended, see [`StageEnds::progress`]; none where the run or those before it told none. Nothing
    /// is known of the running stages' tasks here.
    pub by_stages: Option<f64>,
}

impl<'r> Tracked<'r> {
    pub(super) fn by(mut tracker: BoundingTracker, used: &'r Demand) -> Self {
        let mut tracked =
            Self { used, bounds: Vec::new(), expected: Vec::new(), progress: Vec::new() };
        for usage in used.slots() {
            let ahead = tracker.next(used.slot_ms());
            tracked.progress.push(tracker.progress());
            tracked.bounds.push(ahead.bound);
            tracked.expected.push(ahead.expected);
            tracker.observe(*usage, used.slot_ms());
        }
        tracked
    }

    /// A prediction, read at the estimated progress.
    pub(super) fn read(&self, predicted: &Demand) -> Vec<Resources> {
        let length_ms = predicted.duration_ms().unwrap_or_default() as f64;
        let progress = self.progress.iter();
        progress.map(|progress| predicted.at((progress * length_ms) as i64)).collect()
    }

    pub(super) fn score(
        &self,
        bounds: &[Resources],
        expected: Option<&[Resources]>,
    ) -> Result<[Score; 4], DemandError> {
        let series = |slots| Demand::series(self.used.slot_ms(), slots);
        let bound = series(bounds)?;
        let total = amount(&series(expected.unwrap_or(bounds))?);
        Ok(score(&bound, total, self.used))
    }

    /// The mean error of an estimate of the progress at each slot.
    fn missed(&self, estimated: impl Iterator<Item = f64>) -> f64 {
        let slots = self.used.slots().len() as f64;
        let errors = (0..).zip(estimated).map(|(slot, estimated)| {
            let progress = f64::from(slot) / slots;
            (progress - estimated).abs()
        });
        errors.sum::<f64>() / slots.max(1.0)
    }
}

pub(super) fn missed(
    by_runs: &Tracked<'_>,
    by_demand: &Tracked<'_>,
    prediction: &Prediction,
    stage_ends: &StageEnds,
) -> ProgressMissed {
    let expected_ms = prediction.length_ms();
    let used = by_runs.used;
    let clock = (0..used.slots().len()).map(|slot| {
        let elapsed_ms = slot as f64 * f64::from(used.slot_ms());
        (elapsed_ms / expected_ms.max(1) as f64).min(1.0)
    });
    ProgressMissed {
        by_runs: by_runs.missed(by_runs.progress.iter().copied()),
        by_demand: by_demand.missed(by_demand.progress.iter().copied()),
        by_clock: by_runs.missed(clock),
        by_stages: by_stages(used, prediction, stage_ends)
            .map(|progress| by_runs.missed(progress.into_iter())),
    }
}

/// The progress at each slot of a run whose stages ended at `stage_ends`. Where it has more stages than was predicted, its
/// progress stays; none where no stages are known.
fn by_stages(used: &Demand, prediction: &Prediction, stage_ends: &StageEnds) -> Option<Vec<f64>> {
    if stage_ends.parts().is_empty() || prediction.stage_ends.parts().is_empty() {
        return None;
    }
    let length_ms = used.duration_ms()? as f64;
    let mut latest = 0.0;
    let at = |slot: usize| {
        let now_ms = slot as f64 * f64::from(used.slot_ms());
        let ends_ms = stage_ends.parts().iter().map(|end| f64::from(*end) * length_ms);
        let ended: Vec<f64> = ends_ms.take_while(|end_ms| *end_ms <= now_ms).collect();
        let ended_ms = ended.last().copied().unwrap_or(0.0);
        let done = StagesDone {
            ended: ended.len(),
            since_ms: (now_ms - ended_ms) as i64,
            part_ended: 0.0,
            part_begun: 1.0,
        };
        let progress = prediction.stage_ends.progress(done, prediction.length_ms() as f64);
        latest = progress.map_or(latest, Progress::part);
        latest
    };
    Some((0..used.slots().len()).map(at).collect())
}
