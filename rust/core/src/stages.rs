//! Progress by stages: an application that tells which of its stages have ended is at the place where its earlier
//! runs were at that time.

use std::sync::Arc;

use crate::SLOT_MS;
use crate::progress::Progress;

/// When the stages of an application ended, each as a part of a container's life, 0 to 1, in the order of their ends.
/// Cheap to clone. Empty where nothing is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StageEnds(Option<Arc<[f32]>>);

/// A number that is no end of a stage.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("stage {stage} ends at {end}; from the end before it to 1 is allowed")]
pub struct StageEndsError {
    /// Counted from 0.
    pub stage: usize,
    /// The number.
    pub end: f32,
}

/// The stages of a running application, as it told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StagesDone {
    /// The number of stages that have ended.
    pub ended: usize,
    /// The time since the latest of them ended, in milliseconds; where none has ended, the container's age.
    pub since_ms: i64,
    /// The part of the running stages' tasks that have ended, 0 to 1.
    pub part_ended: f64,
    /// The part of them that have begun, ended ones included.
    pub part_begun: f64,
}

impl StageEnds {
    /// These ends.
    ///
    /// # Errors
    /// The first one that is before another or not from 0 to 1.
    pub fn new(ends: &[f32]) -> Result<Self, StageEndsError> {
        let mut before = 0.0;
        for (stage, &end) in ends.iter().enumerate() {
            if !(before..=1.0).contains(&end) {
                return Err(StageEndsError { stage, end });
            }
            before = end;
        }
        Ok(Self((!ends.is_empty()).then(|| ends.into())))
    }

    /// The ends in the life of a container of this length; those after it are at its end.
    ///
    /// # Errors
    /// The first one that is before another.
    pub fn of_ms(ends_ms: &[u32], length_ms: i64) -> Result<Self, StageEndsError> {
        let part = |end_ms: &u32| (f64::from(*end_ms) / length_ms.max(1) as f64).min(1.0) as f32;
        Self::new(&ends_ms.iter().map(part).collect::<Vec<_>>())
    }

    /// The ends.
    pub fn parts(&self) -> &[f32] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The progress of a container whose demand has this length. None where no stages are known, or the application has
    /// had more of them than its earlier runs.
    ///
    /// Between the ends `e_k` and `e_(k+1)` it is `e_k + (e_(k+1) - e_k) × q`. The part `q` of the running stages is the
    /// time since `e_k` over the time that is expected between both, yet within what the tasks say: at least those that
    /// have ended are done, and at most those that have begun. Few large tasks bound it widely, many small ones closely.
    /// The last slot is never done.
    pub fn progress(&self, done: StagesDone, length_ms: f64) -> Option<Progress> {
        let ends = self.parts();
        if ends.is_empty() || done.ended > ends.len() {
            return None;
        }
        let end_of = |stages: usize| match stages.checked_sub(1) {
            Some(latest) => ends.get(latest).map_or(1.0, |end| f64::from(*end)),
            None => 0.0,
        };
        let (from, to) = (end_of(done.ended), end_of(done.ended + 1));
        let expected_ms = (to - from) * length_ms;
        let by_time = if expected_ms > 0.0 { done.since_ms as f64 / expected_ms } else { 1.0 };
        let part = by_time.min(done.part_begun).max(done.part_ended).clamp(0.0, 1.0);
        // A container that tells something is not over, whatever the time says.
        let most = 1.0 - f64::from(SLOT_MS) / length_ms.max(f64::from(SLOT_MS));
        Progress::new((from + (to - from) * part).min(most)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LENGTH_MS: f64 = 100_000.0;

    fn ends() -> StageEnds {
        StageEnds::new(&[0.25, 0.5, 0.875]).unwrap()
    }

    fn at(ended: usize, since_ms: i64, part_ended: f64, part_begun: f64) -> Option<f64> {
        let done = StagesDone { ended, since_ms, part_ended, part_begun };
        ends().progress(done, LENGTH_MS).map(Progress::part)
    }

    #[test]
    fn between_two_ends_it_is_by_time_within_what_the_tasks_say() {
        assert_eq!(at(0, 0, 0.0, 1.0), Some(0.0));
        assert_eq!(at(1, 12_500, 0.0, 1.0), Some(0.375));
        assert_eq!(at(1, 12_500, 0.75, 1.0), Some(0.4375), "faster than expected");
        assert_eq!(at(1, 12_500, 0.0, 0.25), Some(0.3125), "slower than expected");
        assert_eq!(at(2, 900_000, 0.5, 1.0), Some(0.875), "the stage has not ended yet");
        assert_eq!(
            at(3, 6_250, 0.0, 1.0),
            Some(0.9375),
            "between the last end and the container's"
        );
        assert_eq!(at(3, 900_000, 1.0, 1.0), Some(0.97), "the last slot is left while it runs");
    }

    #[test]
    fn nothing_is_said_without_stages_or_beyond_those_of_earlier_runs() {
        assert_eq!(at(4, 0, 0.0, 1.0), None);
        let done = StagesDone { ended: 0, since_ms: 0, part_ended: 0.0, part_begun: 1.0 };
        assert_eq!(StageEnds::default().progress(done, LENGTH_MS), None);
    }

    #[test]
    fn ends_that_fall_or_leave_0_to_1_are_named() {
        for (ends, stage) in [([0.5, 0.25], 1), ([0.5, 1.5], 1), ([f32::NAN, 0.5], 0)] {
            let error = StageEnds::new(&ends).unwrap_err();
            assert_eq!(error.stage, stage);
        }
        let error = StageEnds::new(&[0.5, 0.25]).unwrap_err().to_string();
        assert_eq!(error, "stage 1 ends at 0.25; from the end before it to 1 is allowed");
    }

    proptest! {
        #[test]
        fn it_never_falls_while_time_passes_and_tasks_end(
            mut ends in proptest::collection::vec(0.0_f32..=1.0, 1..6),
            steps in proptest::collection::vec((0_i64..40_000, 0.0..=1.0_f64, 0.0..=1.0_f64), 1..20),
        ) {
            ends.sort_by(f32::total_cmp);
            let ends = StageEnds::new(&ends).unwrap();
            let mut latest = 0.0;
            for stage in 0..=ends.parts().len() {
                let (mut since_ms, mut part_ended, mut part_begun) = (0, 0.0_f64, 0.0_f64);
                for (step_ms, ended, begun) in &steps {
                    since_ms += step_ms;
                    part_ended = part_ended.max(*ended);
                    part_begun = part_begun.max(*begun).max(part_ended);
                    let done = StagesDone { ended: stage, since_ms, part_ended, part_begun };
                    let now = ends.progress(done, LENGTH_MS).unwrap().part();
                    prop_assert!(now >= latest, "{now} after {latest}");
                    latest = now;
                }
            }
        }
    }
}
