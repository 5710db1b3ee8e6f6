//! Means over all predicted runs.

use elastane_lab::evaluation::{Method, MethodScores, ProgressMissed, Scored};
use elastane_predict::Score;

use super::Judged;

type ScoresOf = fn(&MethodScores) -> [Score; 4];

/// The names of the two predictions of a run, and their scores.
pub(super) const PREDICTIONS: [(&str, ScoresOf); 2] =
    [("at_submission", |scores| scores.at_submission), ("tracked", |scores| scores.tracked)];

pub(super) struct Summary {
    pub(super) predicted: usize,
    /// For each of [`PREDICTIONS`] each of [`Method::ALL`] and each resource. Waste and total are means
    /// over the runs that used some of the resource; coverage is not a number if no run was predicted.
    pub(super) means: [Vec<[Score; 4]>; 2],
    /// None if no run was predicted.
    pub(super) progress_missed: Option<ProgressMissed>,
    /// The same of the runs whose stages are known, and their number.
    pub(super) told_stages: Option<(usize, ProgressMissed)>,
}

impl Summary {
    pub(super) fn of(judged: &[Judged]) -> Self {
        let outcomes = judged.iter().map(|run| run.evaluated.outcome.as_ref());
        let scored: Vec<&Scored> = outcomes.filter_map(Result::ok).collect();
        let means = PREDICTIONS.map(|(_, scores)| {
            let of_method = |method: usize| {
                let of_runs = scored.iter().filter_map(|run| run.methods.get(method));
                let of_runs: Vec<[Score; 4]> = of_runs.map(scores).collect();
                std::array::from_fn(|at| mean_score(of_runs.iter().map(|scores| scores[at])))
            };
            (0..Method::ALL.len()).map(of_method).collect()
        });
        let missed: Vec<ProgressMissed> = scored.iter().map(|run| run.progress_missed).collect();
        let told: Vec<ProgressMissed> =
            missed.iter().filter(|run| run.by_stages.is_some()).copied().collect();
        Self {
            predicted: scored.len(),
            means,
            progress_missed: mean_missed(&missed),
            told_stages: mean_missed(&told).map(|mean| (told.len(), mean)),
        }
    }
}

fn mean_missed(runs: &[ProgressMissed]) -> Option<ProgressMissed> {
    let missed = |of: fn(&ProgressMissed) -> f64| mean(runs.iter().map(|run| Some(of(run))));
    Some(ProgressMissed {
        by_runs: missed(|it| it.by_runs)?,
        by_demand: missed(|it| it.by_demand)?,
        by_clock: missed(|it| it.by_clock)?,
        by_stages: mean(runs.iter().map(|run| run.by_stages)),
    })
}

fn mean_score(scores: impl Iterator<Item = Score> + Clone) -> Score {
    Score {
        coverage: mean(scores.clone().map(|it| Some(it.coverage))).unwrap_or(f64::NAN),
        waste: mean(scores.clone().map(|it| it.waste)),
        total: mean(scores.map(|it| it.total)),
    }
}

/// The mean of the values that are there.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) =
        values.flatten().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
