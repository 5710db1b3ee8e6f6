//! The runs that the next one is predicted from.

use elastane_runs::Outcome;

use super::PastRun;
use super::exclusion::{Excluded, Exclusion, Measure, OUTLIER_FACTOR};

/// The least factor between older and newer runs that counts as a change.
pub(crate) const DRIFT_FACTOR: f64 = 1.25;

/// The least number of newer runs that show a change; fewer may be chance.
pub(crate) const LEAST_NEWER: usize = 2;

/// One run at either end is ignored for each this many runs: among many runs a few always lie far from the
/// others.
const ENDS_FOR_EACH: usize = 10;

/// The runs that are compared, as a multiple of the runs that are taken.
const COMPARED_FOR_EACH_TAKEN: usize = 2;

/// The runs to predict from, newest first and at most `wanted`, and the runs left out.
pub(crate) fn select(history: &[PastRun], wanted: usize) -> (Vec<&PastRun>, Vec<Excluded>) {
    let mut left_out = Vec::new();
    let mut newest_first: Vec<&PastRun> = history.iter().collect();
    newest_first.sort_by(|a, b| (b.ended_ms, &b.id).cmp(&(a.ended_ms, &a.id)));
    let mut runs = Vec::new();
    for run in newest_first {
        match exclusion(run.outcome) {
            Some(reason) => exclude(&mut left_out, run, reason),
            None if runs.len() < wanted.saturating_mul(COMPARED_FOR_EACH_TAKEN) => runs.push(run),
            None => exclude(&mut left_out, run, Exclusion::Old),
        }
    }
    if let Some((newer, measure)) = drift(&runs) {
        let center = mean_of(&runs[..newer], measure);
        for run in runs.drain(newer..) {
            let factor = (measure.logarithm(&run.used) - center).exp();
            exclude(
                &mut left_out,
                run,
                Exclusion::BeforeDrift { measure, factor },
            );
        }
    }
    let outliers: Vec<Option<Exclusion>> = (0..runs.len()).map(|at| outlier(&runs, at)).collect();
    let mut taken = Vec::new();
    for (run, outlier) in runs.into_iter().zip(outliers) {
        match outlier {
            Some(reason) => exclude(&mut left_out, run, reason),
            None if taken.len() < wanted => taken.push(run),
            None => exclude(&mut left_out, run, Exclusion::Old),
        }
    }
    (taken, left_out)
}

fn exclude(left_out: &mut Vec<Excluded>, run: &PastRun, reason: Exclusion) {
    let id = run.id.clone();
    left_out.push(Excluded { id, reason });
}

fn exclusion(outcome: Outcome) -> Option<Exclusion> {
    match outcome {
        Outcome::Succeeded => None,
        Outcome::Failed => Some(Exclusion::Failed),
        Outcome::CutOff => Some(Exclusion::CutOff),
    }
}

/// The number of newest runs, two at least, that a gap separates from all older ones, and the measure.
fn drift(newest_first: &[&PastRun]) -> Option<(usize, Measure)> {
    (LEAST_NEWER..newest_first.len().saturating_sub(1)).find_map(|newer| {
        let (new, old) = newest_first.split_at(newer);
        let apart = |measure: &Measure| {
            let of = |runs: &[&PastRun]| -> Vec<f64> {
                runs.iter().map(|it| measure.logarithm(&it.used)).collect()
            };
            lie_apart(&of(new), &of(old))
        };
        let measure = Measure::ALL.into_iter().find(apart)?;
        Some((newer, measure))
    })
}

/// Whether a gap separates these logarithms that is wider than [`DRIFT_FACTOR`] and wider than the range
/// of either side.
pub(crate) fn lie_apart(some: &[f64], others: &[f64]) -> bool {
    let (least, most) = without_ends(some);
    let (others_least, others_most) = without_ends(others);
    let gap = (least - others_most).max(others_least - most);
    gap > DRIFT_FACTOR.ln() && gap > most - least && gap > others_most - others_least
}

fn without_ends(logarithms: &[f64]) -> (f64, f64) {
    let mut sorted = logarithms.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ends = sorted.len() / ENDS_FOR_EACH;
    let within = sorted.get(ends..sorted.len() - ends).unwrap_or_default();
    least_and_most(within.iter().copied())
}

/// The reason to exclude a run as an outlier; none among fewer than three runs.
fn outlier(runs: &[&PastRun], at: usize) -> Option<Exclusion> {
    if runs.len() < 3 {
        return None;
    }
    Measure::ALL.into_iter().find_map(|measure| {
        let mut others: Vec<f64> = (0..runs.len())
            .filter(|other| *other != at)
            .map(|other| measure.logarithm(&runs[other].used))
            .collect();
        others.sort_unstable_by(f64::total_cmp);
        let median = (others[(others.len() - 1) / 2] + others[others.len() / 2]) / 2.0;
        let error = measure.logarithm(&runs[at].used) - median;
        (error.abs() > OUTLIER_FACTOR.ln()).then(|| Exclusion::Outlier {
            measure,
            factor: error.exp(),
        })
    })
}

fn least_and_most(logarithms: impl Iterator<Item = f64>) -> (f64, f64) {
    logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| {
        (least.min(it), most.max(it))
    })
}

/// The largest factor between two runs, in any measure.
pub(crate) fn largest_factor(runs: &[&PastRun]) -> f64 {
    let factors = Measure::ALL.map(|measure| {
        let logarithms = runs.iter().map(|run| measure.logarithm(&run.used));
        let (least, most) = least_and_most(logarithms);
        (most - least).exp()
    });
    factors.into_iter().fold(1.0, f64::max)
}

fn mean_of(runs: &[&PastRun], measure: Measure) -> f64 {
    let sum: f64 = runs.iter().map(|run| measure.logarithm(&run.used)).sum();
    sum / runs.len().max(1) as f64
}
