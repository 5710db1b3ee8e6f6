//! When the stages of the next run end, from its latest runs.

use elastane_core::StageEnds;

use super::PastRun;
use crate::statistics;

/// A run that ends with its last stage may not have told that end.
const MAY_BE_UNTOLD: usize = 1;

/// The mean end of each stage that the newest of the runs, which are newest first, has told, over those that told as many or
/// nearly so. A job that was changed has other stages, and ends of other stages say nothing of them.
pub(crate) fn mean_ends(runs: &[&PastRun]) -> StageEnds {
    let Some(newest) = runs.first() else {
        return StageEnds::default();
    };
    let told = newest.stage_ends.parts().len();
    if told == 0 {
        return StageEnds::default();
    }
    let all = runs.iter().map(|run| run.stage_ends.parts());
    let alike: Vec<&[f32]> =
        all.filter(|ends| ends.len().abs_diff(told) <= MAY_BE_UNTOLD).collect();
    let count = alike.iter().map(|ends| ends.len()).max().unwrap_or(0);
    let mean = |stage: usize| {
        let ends: Vec<f64> =
            alike.iter().filter_map(|ends| Some(f64::from(*ends.get(stage)?))).collect();
        statistics::mean(&ends) as f32
    };
    // The last end is the mean of fewer runs, perhaps, and may lie before the one before it.
    let mut before = 0.0_f32;
    let ends: Vec<f32> = (0..count)
        .map(|stage| {
            before = mean(stage).clamp(before, 1.0);
            before
        })
        .collect();
    StageEnds::new(&ends).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::{Demand, Resources};
    use elastane_runs::Outcome;

    fn run(ends: &[f32]) -> PastRun {
        PastRun {
            id: String::new(),
            ended_ms: 0,
            outcome: Outcome::Succeeded,
            used: Demand::series(3_000, &[Resources::ONE]).unwrap(),
            stage_ends: StageEnds::new(ends).unwrap(),
        }
    }

    fn ends_of(runs: &[&[f32]]) -> Vec<f32> {
        let runs: Vec<PastRun> = runs.iter().map(|ends| run(ends)).collect();
        mean_ends(&runs.iter().collect::<Vec<_>>()).parts().to_vec()
    }

    #[test]
    fn runs_with_the_newest_number_of_stages_are_averaged() {
        let changed: &[f32] = &[0.125, 0.25, 0.375, 0.5];
        assert_eq!(ends_of(&[&[0.25, 0.75], &[0.5, 1.0], changed]), [0.375, 0.875]);
    }

    #[test]
    fn an_end_that_one_of_them_did_not_tell_is_that_of_the_others() {
        assert_eq!(ends_of(&[&[0.5], &[0.25, 0.75]]), [0.375, 0.75]);
        assert_eq!(ends_of(&[&[0.25, 0.75], &[0.5]]), [0.375, 0.75]);
        assert_eq!(ends_of(&[&[0.25, 0.25], &[1.0]]), [0.625, 0.625], "never falls");
    }

    #[test]
    fn a_newest_run_without_stages_has_none_to_follow() {
        assert!(ends_of(&[&[], &[0.5]]).is_empty());
        assert!(ends_of(&[]).is_empty());
    }
}
