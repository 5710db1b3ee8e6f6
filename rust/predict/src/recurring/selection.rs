//! The runs that the next one is predicted from.

use elastane_runs::Outcome;

use super::PastRun;
use super::exclusion::{Excluded, Exclusion, Measure, OUTLIER_FACTOR};
use crate::statistics::mean;

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
    let mut exclude = |run: &PastRun, reason| {
        let id = run.id.clone();
        left_out.push(Excluded { id, reason });
    };
    let mut newest_first: Vec<&PastRun> = history.iter().collect();
    newest_first.sort_by(|a, b| (b.ended_ms, &b.id).cmp(&(a.ended_ms, &a.id)));
    let compared = wanted.saturating_mul(COMPARED_FOR_EACH_TAKEN);
    let mut runs = Vec::new();
    for run in newest_first {
        match run.outcome {
            Outcome::Failed => exclude(run, Exclusion::Failed),
            Outcome::CutOff => exclude(run, Exclusion::CutOff),
            Outcome::Succeeded if runs.len() < compared => runs.push(run),
            Outcome::Succeeded => exclude(run, Exclusion::Old),
        }
    }
    if let Some((newer, measure)) = drift(&runs) {
        let center = mean(&logarithms(&runs[..newer], measure));
        for run in runs.drain(newer..) {
            let factor = (measure.logarithm(&run.used) - center).exp();
            exclude(run, Exclusion::BeforeDrift(measure, factor));
        }
    }
    let mut taken = Vec::new();
    for (at, run) in runs.iter().copied().enumerate() {
        match outlier(&runs, at) {
            Some(reason) => exclude(run, reason),
            None if taken.len() < wanted => taken.push(run),
            None => exclude(run, Exclusion::Old),
        }
    }
    (taken, left_out)
}

fn logarithms(runs: &[&PastRun], measure: Measure) -> Vec<f64> {
    runs.iter().map(|it| measure.logarithm(&it.used)).collect()
}

/// The number of newest runs, two at least, that a gap separates from all older ones, and the measure.
fn drift(newest_first: &[&PastRun]) -> Option<(usize, Measure)> {
    (LEAST_NEWER..newest_first.len().saturating_sub(1)).find_map(|newer| {
        let (new, old) = newest_first.split_at(newer);
        let apart =
            |measure: &Measure| lie_apart(&logarithms(new, *measure), &logarithms(old, *measure));
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
    least_and_most(sorted.get(ends..sorted.len() - ends).unwrap_or_default())
}

/// The reason to exclude a run as an outlier; none among fewer than three runs.
fn outlier(runs: &[&PastRun], at: usize) -> Option<Exclusion> {
    if runs.len() < 3 {
        return None;
    }
    Measure::ALL.into_iter().find_map(|measure| {
        let mut others = logarithms(runs, measure);
        let own = others.remove(at);
        others.sort_unstable_by(f64::total_cmp);
        let median = (others[(others.len() - 1) / 2] + others[others.len() / 2]) / 2.0;
        let error = own - median;
        (error.abs() > OUTLIER_FACTOR.ln()).then(|| Exclusion::Outlier(measure, error.exp()))
    })
}

fn least_and_most(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The largest factor between two runs, in any measure.
pub(crate) fn largest_factor(runs: &[&PastRun]) -> f64 {
    let factors = Measure::ALL.map(|measure| {
        let (least, most) = least_and_most(&logarithms(runs, measure));
        (most - least).exp()
    });
    factors.into_iter().fold(1.0, f64::max)
}
