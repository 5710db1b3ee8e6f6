//! When the stages of the next run end, from its latest runs.

use elastane_core::StageEnds;

use super::PastRun;

/// The mean end of each stage, over those of the runs, newest first, that had as many stages as the newest. A job that
/// was changed has other stages, and ends of other stages say nothing of them.
pub(crate) fn mean_ends(runs: &[&PastRun]) -> StageEnds {
    let Some(newest) = runs.first() else {
        return StageEnds::default();
    };
    let count = newest.stage_ends.parts().len();
    let alike: Vec<&[f32]> =
        runs.iter().map(|run| run.stage_ends.parts()).filter(|ends| ends.len() == count).collect();
    let mean = |stage: usize| {
        alike.iter().map(|ends| ends[stage]).sum::<f32>() / alike.len().max(1) as f32
    };
    // A mean of ends that do not fall and are at most 1 is such a series, but for the rounding of the sum.
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
        assert_eq!(ends_of(&[&[0.25, 0.75], &[0.5, 1.0], &[0.125, 0.25, 0.5]]), [0.375, 0.875]);
        assert_eq!(ends_of(&[&[0.5], &[0.25, 0.75]]), [0.5]);
    }

    #[test]
    fn a_newest_run_without_stages_has_none_to_follow() {
        assert!(ends_of(&[&[], &[0.5]]).is_empty());
        assert!(ends_of(&[]).is_empty());
    }
}
