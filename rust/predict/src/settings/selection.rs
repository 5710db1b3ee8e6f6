//! The runs that a model is trained on: `docs/new-settings.md`, "How the model works".

use super::fitted::Fitted;
use super::outliers::WithoutOutliers;
use super::rbf::NotFitted;
use super::targets::{LogErrors, Targets};
use super::{LEAST_RUNS, SettingsRun};
use crate::recurring::{DRIFT_FACTOR, Excluded, Exclusion, LEAST_NEWER, OUTLIER_FACTOR, lie_apart};
use crate::statistics::mean;

/// The number of moments examined for a change, in each measure.
const MOST_MOMENTS: usize = 3;

/// Minimum drift, in units of the mean absolute deviation: |mean error after − mean error before| must
/// exceed this multiple.
const TIMES_DEVIATION: f64 = 2.0;

/// The runs that a model is trained on.
pub(super) struct Selected<'r> {
    pub(super) fitted: Fitted<'r>,
    pub(super) left_out: Vec<Excluded>,
    /// The number of runs since the application changed, where they are too few to train on. All runs
    /// are fitted then.
    pub(super) since_change: Option<usize>,
}

/// Selects from runs, the latest last; none where no setting differs.
pub(super) fn select<'r>(runs: &[&'r SettingsRun]) -> Result<Option<Selected<'r>>, NotFitted> {
    let Some(kept) = WithoutOutliers::of(runs)? else {
        return Ok(None);
    };
    let change = match kept.fitted.settings_matter() {
        true => change(runs, &kept.log_errors)?,
        false => None,
    };
    let Some((newer, reason)) = change else {
        return Ok(Some(Selected {
            fitted: kept.fitted,
            left_out: kept.outliers,
            since_change: None,
        }));
    };
    let (older, newest) = runs.split_at(runs.len() - newer);
    let learned = match newer >= LEAST_RUNS {
        true => select(newest)?,
        false => None,
    };
    let mut selected = learned.unwrap_or_else(|| Selected {
        fitted: kept.fitted,
        left_out: Vec::new(),
        since_change: Some(newer),
    });
    let older =
        older.iter().rev().map(|run| Excluded { id: run.id.clone(), reason: reason.clone() });
    selected.left_out.extend(older);
    Ok(Some(selected))
}

/// The number of runs since a change of the application, and the reason that excludes the older ones.
fn change(
    runs: &[&SettingsRun],
    log_errors: &[LogErrors],
) -> Result<Option<(usize, Exclusion)>, NotFitted> {
    for (at, measure) in Targets::MEASURES.into_iter().enumerate() {
        let most = OUTLIER_FACTOR.ln();
        // Clamping bounds the weight of one outlier in the mean.
        let errors = log_errors.iter().map(|it| it[at].clamp(-most, most));
        for newer in moments(&errors.collect::<Vec<f64>>()) {
            if let Some(factor) = older_over_newer(runs, newer, at)? {
                let reason = Exclusion::BeforeDriftForSettings(measure, factor);
                return Ok(Some((newer, reason)));
            }
        }
    }
    Ok(None)
}

/// The moments of the largest change of the error, as numbers of newer runs. The difference of the means
/// before and after is weighted by √(older · newer ÷ all), as in Page's CUSUM.
fn moments(errors: &[f64]) -> Vec<usize> {
    let all = errors.len();
    let mut moments: Vec<(f64, usize)> = (LEAST_NEWER..=all.saturating_sub(LEAST_NEWER))
        // The model of one side predicts the other, so one side needs enough runs.
        .filter(|newer| (*newer).max(all - newer) >= LEAST_RUNS)
        .filter_map(|newer| {
            let (older, newest) = errors.split_at(all - newer);
            let apart = (mean(newest) - mean(older)).abs();
            let deviation = (deviations(older) + deviations(newest)) / all as f64;
            let weight = (older.len() * newest.len()) as f64 / all as f64;
            let is_drift = apart > DRIFT_FACTOR.ln() && apart > TIMES_DEVIATION * deviation;
            is_drift.then_some((apart * weight.sqrt(), newer))
        })
        .collect();
    moments.sort_by(|a, b| b.0.total_cmp(&a.0));
    moments.truncate(MOST_MOMENTS);
    moments.into_iter().map(|(_, newer)| newer).collect()
}

/// Older over newer usage, each run over its prediction by the model of the larger side. None where no gap
/// separates the sides.
fn older_over_newer(
    runs: &[&SettingsRun],
    newer: usize,
    measure: usize,
) -> Result<Option<f64>, NotFitted> {
    let (older, newest) = runs.split_at(runs.len() - newer);
    let newest_are_more = newest.len() > older.len();
    let (more, fewer) = match newest_are_more {
        true => (newest, older),
        false => (older, newest),
    };
    let Some(WithoutOutliers { fitted, .. }) = WithoutOutliers::of(more)? else {
        return Ok(None);
    };
    let of_more: Vec<f64> = fitted.log_errors().iter().map(|it| it[measure]).collect();
    // Settings that the model cannot predict are skipped.
    let errors = fewer.iter().filter_map(|run| fitted.log_errors_of(run));
    let of_fewer: Vec<f64> = errors.map(|it| it[measure]).collect();
    if of_fewer.len() < LEAST_NEWER || !lie_apart(&of_fewer, &of_more) {
        return Ok(None);
    }
    let apart = mean(&of_fewer) - mean(&of_more);
    let older_over_newer = if newest_are_more { apart } else { -apart };
    Ok(Some(older_over_newer.exp()))
}

/// The sum of the absolute deviations from the mean.
fn deviations(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).abs()).sum()
}
