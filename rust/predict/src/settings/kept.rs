//! Outliers among runs with different settings.

use super::curve::NotFitted;
use super::fitted::Fitted;
use super::targets::{Missed, Targets};
use super::{LEAST_RUNS, SettingsRun};
use crate::recurring::{Excluded, Exclusion, Measure, OUTLIER_FACTOR};

/// At most one run of this many is an outlier.
const RUNS_FOR_EACH_OUTLIER: usize = 4;

/// The error of an outlier is at least this multiple of the largest error of the other runs. Where all
/// runs are predicted badly, none of them is an outlier.
const TIMES_THE_OTHERS: f64 = 2.0;

/// Runs without their outliers.
pub(super) struct Kept<'r> {
    pub(super) fitted: Fitted<'r>,
    pub(super) outliers: Vec<Excluded>,
    /// The error of each run as predicted by the others, outliers included, the latest last.
    pub(super) missed: Vec<Missed>,
}

impl<'r> Kept<'r> {
    /// Of runs, the latest last; none where no setting differs.
    pub(super) fn of(runs: &[&'r SettingsRun]) -> Result<Option<Self>, NotFitted> {
        let Some(all) = Fitted::of(runs.to_vec())? else {
            return Ok(None);
        };
        let mut missed = all.missed();
        // Where the settings are not informative, the error of a run says nothing about it.
        let suspects = if all.settings_matter() {
            suspects(&missed)
        } else {
            Vec::new()
        };
        let rest = match suspects.as_slice() {
            [] => None,
            suspects => without(runs, suspects)?,
        };
        let Some(rest) = rest else {
            let outliers = Vec::new();
            return Ok(Some(Self {
                fitted: all,
                outliers,
                missed,
            }));
        };
        // An outlier spoils the predictions of its neighbours, which are no outliers without it.
        let usual = farthest(&rest.missed());
        let mut outliers = Vec::new();
        let mut left_out = Vec::new();
        for at in suspects.iter().copied() {
            let Some(by_rest) = rest.missed_of(runs[at]) else {
                continue;
            };
            if let Some((measure, factor)) = far_off(&by_rest, &usual) {
                missed[at] = by_rest;
                left_out.push(at);
                outliers.push(Excluded {
                    id: runs[at].id.clone(),
                    reason: Exclusion::OutlierForSettings { measure, factor },
                });
            }
        }
        let fitted = match left_out.len() {
            0 => all,
            found if found == suspects.len() => rest,
            _ => without(runs, &left_out)?.unwrap_or(all),
        };
        let others = (0..runs.len()).filter(|at| !left_out.contains(at));
        for (at, by_others) in others.zip(fitted.missed()) {
            missed[at] = by_others;
        }
        Ok(Some(Self {
            fitted,
            outliers,
            missed,
        }))
    }
}

/// The runs of the largest errors, as many as may be outliers.
fn suspects(missed: &[Missed]) -> Vec<usize> {
    let farthest = |at: usize| missed[at].into_iter().map(f64::abs).fold(0.0, f64::max);
    let mut suspects: Vec<usize> = (0..missed.len())
        .filter(|at| farthest(*at) > OUTLIER_FACTOR.ln())
        .collect();
    suspects.sort_by(|a, b| farthest(*b).total_cmp(&farthest(*a)));
    let alone = missed.len() / RUNS_FOR_EACH_OUTLIER;
    suspects.truncate(alone.min(missed.len().saturating_sub(LEAST_RUNS)));
    suspects
}

/// The measure in which a run is an outlier, and the factor.
fn far_off(missed: &Missed, usual: &Missed) -> Option<(Measure, f64)> {
    let measures = Targets::MEASURES.into_iter().zip(missed.iter().zip(usual));
    let far = measures.filter(|(_, (missed, usual))| {
        missed.abs() > OUTLIER_FACTOR.ln() && missed.abs() > TIMES_THE_OTHERS * **usual
    });
    let farthest = far.max_by(|(_, (a, _)), (_, (b, _))| a.abs().total_cmp(&b.abs()));
    farthest.map(|(measure, (missed, _))| (measure, missed.exp()))
}

/// The largest error in each measure.
fn farthest(missed: &[Missed]) -> Missed {
    std::array::from_fn(|measure| {
        let apart = missed.iter().map(|it| it[measure].abs());
        apart.fold(0.0, f64::max)
    })
}

fn without<'r>(
    runs: &[&'r SettingsRun],
    left_out: &[usize],
) -> Result<Option<Fitted<'r>>, NotFitted> {
    let others = runs.iter().enumerate();
    let others = others.filter(|(at, _)| !left_out.contains(at));
    Fitted::of(others.map(|(_, run)| *run).collect())
}
