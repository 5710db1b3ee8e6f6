//! The mean over all runs that were predicted.

use elastane_lab::evaluation::{Method, ProgressMissed, Scored};
use elastane_predict::Score;

use super::Judged;

/// The mean scores of one resource and method.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    /// None when no run was predicted.
    pub(super) coverage: Option<f64>,
    /// Over the runs that used some; none when there are none.
    pub(super) waste: Option<f64>,
    /// The same.
    pub(super) total: Option<f64>,
}

/// For each method, in the order of [`Method::ALL`], each resource.
pub(super) struct Summary {
    pub(super) predicted: usize,
    pub(super) at_submission: Vec<[Mean; 4]>,
    pub(super) tracked: Vec<[Mean; 4]>,
    /// None when no run was predicted.
    pub(super) progress_missed: Option<ProgressMissed>,
}

impl Summary {
    pub(super) fn of(judged: &[Judged]) -> Self {
        let scored: Vec<_> = judged
            .iter()
            .filter_map(|run| run.evaluated.outcome.as_ref().ok())
            .collect();
        let means = |tracked: bool| {
            let of_method = |method: usize| {
                std::array::from_fn(|resource| {
                    let scores = scored.iter().filter_map(|run| run.methods.get(method));
                    Mean::of(scores.map(|scores| match tracked {
                        true => scores.tracked[resource],
                        false => scores.at_submission[resource],
                    }))
                })
            };
            (0..Method::ALL.len()).map(of_method).collect()
        };
        Self {
            predicted: scored.len(),
            at_submission: means(false),
            tracked: means(true),
            progress_missed: progress_missed(&scored),
        }
    }
}

impl Mean {
    fn of(scores: impl Iterator<Item = Score>) -> Self {
        let scores: Vec<Score> = scores.collect();
        Self {
            coverage: mean(scores.iter().map(|score| Some(score.coverage))),
            waste: mean(scores.iter().map(|score| score.waste)),
            total: mean(scores.iter().map(|score| score.total)),
        }
    }
}

fn progress_missed(scored: &[&Scored]) -> Option<ProgressMissed> {
    let missed = |of: fn(&ProgressMissed) -> f64| {
        mean(scored.iter().map(|run| Some(of(&run.progress_missed))))
    };
    Some(ProgressMissed {
        by_runs: missed(|it| it.by_runs)?,
        by_demand: missed(|it| it.by_demand)?,
        by_clock: missed(|it| it.by_clock)?,
    })
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) = values
        .flatten()
        .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
