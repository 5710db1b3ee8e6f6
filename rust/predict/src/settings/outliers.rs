//! Outliers among runs with different settings.

use super::fitted::Fitted;
use super::rbf::NotFitted;
use super::targets::{LogErrors, Targets};
use super::{LEAST_RUNS, SettingsRun};
use crate::recurring::{Excluded, Exclusion, Measure, OUTLIER_FACTOR};

/// At most one run of this many is an outlier.
const RUNS_FOR_EACH_OUTLIER: usize = 4;

/// The error of an outlier is at least this multiple of the largest error of the other runs. Where all
/// runs are predicted badly, none of them is an outlier.
const TIMES_THE_OTHERS: f64 = 2.0;

/// Runs without their outliers.
pub(super) struct WithoutOutliers<'r> {
    pub(super) fitted: Fitted<'r>,
    pub(super) outliers: Vec<Excluded>,
    /// The log-errors of each run as predicted by the others, outliers included, the latest last.
    pub(super) log_errors: Vec<LogErrors>,
}

impl<'r> WithoutOutliers<'r> {
    /// Fits runs, the latest last, without the outliers among them; none where no setting differs.
    pub(super) fn of(runs: &[&'r SettingsRun]) -> Result<Option<Self>, NotFitted> {
        let Some(all) = Fitted::of(runs.to_vec())? else {
            return Ok(None);
        };
        let mut log_errors = all.log_errors();
        // Where the settings are not informative, the error of a run says nothing about it.
        let suspects = match all.settings_matter() {
            true => suspects(&log_errors),
            false => Vec::new(),
        };
        let rest = match suspects.is_empty() {
            true => None,
            false => without(runs, &suspects)?,
        };
        let Some(rest) = rest else {
            return Ok(Some(Self { fitted: all, outliers: Vec::new(), log_errors }));
        };
        // An outlier spoils the predictions of its neighbours, which are no outliers without it.
        let usual = farthest(&rest.log_errors());
        let mut outliers = Vec::new();
        let mut left_out = Vec::new();
        for at in suspects.iter().copied() {
            let Some(errors_by_rest) = rest.log_errors_of(runs[at]) else {
                continue;
            };
            if let Some((measure, factor)) = outlying(&errors_by_rest, &usual) {
                log_errors[at] = errors_by_rest;
                left_out.push(at);
                outliers.push(Excluded {
                    id: runs[at].id.clone(),
                    reason: Exclusion::OutlierForSettings(measure, factor),
                });
            }
        }
        let fitted = match left_out.len() {
            0 => all,
            found if found == suspects.len() => rest,
            _ => without(runs, &left_out)?.unwrap_or(all),
        };
        let others = (0..runs.len()).filter(|at| !left_out.contains(at));
        for (at, errors_by_others) in others.zip(fitted.log_errors()) {
            log_errors[at] = errors_by_others;
        }
        Ok(Some(Self { fitted, outliers, log_errors }))
    }
}

/// The runs of the largest errors, as many as may be outliers.
fn suspects(log_errors: &[LogErrors]) -> Vec<usize> {
    let farthest = |at: usize| log_errors[at].into_iter().map(f64::abs).fold(0.0, f64::max);
    let mut suspects: Vec<usize> =
        (0..log_errors.len()).filter(|at| farthest(*at) > OUTLIER_FACTOR.ln()).collect();
    suspects.sort_by(|a, b| farthest(*b).total_cmp(&farthest(*a)));
    let most = log_errors.len() / RUNS_FOR_EACH_OUTLIER;
    suspects.truncate(most.min(log_errors.len().saturating_sub(LEAST_RUNS)));
    suspects
}

/// The measure in which a run is farthest outlying, and the factor; none where it is no outlier.
fn outlying(log_errors: &LogErrors, usual: &LogErrors) -> Option<(Measure, f64)> {
    let measures = Targets::MEASURES.into_iter().zip(log_errors.iter().zip(usual));
    let outlying = measures.filter(|(_, (log_errors, usual))| {
        log_errors.abs() > OUTLIER_FACTOR.ln() && log_errors.abs() > TIMES_THE_OTHERS * **usual
    });
    let farthest = outlying.max_by(|(_, (a, _)), (_, (b, _))| a.abs().total_cmp(&b.abs()));
    farthest.map(|(measure, (log_errors, _))| (measure, log_errors.exp()))
}

/// The largest error in each measure.
fn farthest(log_errors: &[LogErrors]) -> LogErrors {
    std::array::from_fn(|measure| {
        let errors = log_errors.iter().map(|it| it[measure].abs());
        errors.fold(0.0, f64::max)
    })
}

fn without<'r>(
    runs: &[&'r SettingsRun],
    left_out: &[usize],
) -> Result<Option<Fitted<'r>>, NotFitted> {
    let others = (0..runs.len()).filter(|at| !left_out.contains(at));
    Fitted::of(others.map(|at| runs[at]).collect())
}
