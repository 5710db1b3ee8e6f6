//! The regressions of some runs, and their predictions.

use super::curve::NotFitted;
use super::regression::Regression;
use super::scale::Scale;
use super::search::{means_of_others, search};
use super::targets::{Missed, Targets};
use super::{NotForeseen, Settings, SettingsRun};

/// One for each of the targets; none where no run used any.
pub(super) type Regressions = [Option<Regression>; Targets::COUNT];

/// Settings are informative where the held-out error with them is below this part of the error without
/// them. The best of 24 regressions beats the mean a little by chance.
const WORTH: f64 = 0.75;

/// Runs, and the regressions of the least held-out error.
pub(super) struct Fitted<'r> {
    /// The latest last.
    pub(super) runs: Vec<&'r SettingsRun>,
    pub(super) scale: Scale,
    pub(super) regressions: Regressions,
    /// The held-out prediction of each run.
    pub(super) said: Vec<Targets>,
    were: Vec<Targets>,
    /// The held-out prediction of each run without settings.
    without: Vec<Targets>,
}

impl<'r> Fitted<'r> {
    /// Of runs, the latest last; none where no setting differs.
    pub(super) fn of(runs: Vec<&'r SettingsRun>) -> Result<Option<Self>, NotFitted> {
        let scale = Scale::of(runs.iter().map(|run| &run.settings));
        if scale.is_empty() {
            return Ok(None);
        }
        let points: Vec<Vec<f64>> = runs
            .iter()
            .filter_map(|run| scale.point(&run.settings).ok())
            .collect();
        let were: Vec<Targets> = runs.iter().map(|run| Targets::of(&run.used)).collect();
        let mut said = were.clone();
        let mut without = were.clone();
        let mut regressions = [const { None }; Targets::COUNT];
        for (target, regression) in regressions.iter_mut().enumerate() {
            let Some(logarithms) = Targets::logarithms(&were, target) else {
                continue;
            };
            let searched = search(&points, &logarithms)?;
            let means = means_of_others(&logarithms);
            for (said, logarithm) in said.iter_mut().zip(searched.held_out) {
                said.set(target, logarithm.exp());
            }
            for (said, logarithm) in without.iter_mut().zip(means) {
                said.set(target, logarithm.exp());
            }
            *regression = Some(searched.regression);
        }
        Ok(Some(Self {
            runs,
            scale,
            regressions,
            said,
            were,
            without,
        }))
    }

    /// The held-out error of each run.
    pub(super) fn missed(&self) -> Vec<Missed> {
        let pairs = self.were.iter().zip(&self.said);
        pairs.map(|(was, said)| was.missed(said)).collect()
    }

    /// The error of a run that is not among these; none where its settings cannot be predicted.
    pub(super) fn missed_of(&self, run: &SettingsRun) -> Option<Missed> {
        let said = said(&self.scale, &self.regressions, &run.settings).ok()?;
        Some(Targets::of(&run.used).missed(&said))
    }

    /// See [`super::SettingsModel::error`].
    pub(super) fn error(&self) -> f64 {
        mean_error(&self.said, &self.were)
    }

    /// See [`super::SettingsModel::error_without_settings`].
    pub(super) fn error_without(&self) -> f64 {
        mean_error(&self.without, &self.were)
    }

    /// See [`super::SettingsModel::settings_matter`].
    pub(super) fn settings_matter(&self) -> bool {
        settings_matter(self.error(), self.error_without())
    }
}

/// Whether the settings are informative: held-out error with them is clearly below held-out error
/// without them.
pub(super) fn settings_matter(error: f64, error_without: f64) -> bool {
    error < WORTH * error_without
}

/// The prediction of the regressions for these settings.
pub(super) fn said(
    scale: &Scale,
    regressions: &Regressions,
    settings: &Settings,
) -> Result<Targets, NotForeseen> {
    let point = scale.point(settings)?;
    let mut targets = Targets::default();
    for (target, regression) in regressions.iter().enumerate() {
        if let Some(regression) = regression {
            targets.set(target, regression.at(&point).exp());
        }
    }
    Ok(targets)
}

fn mean_error(said: &[Targets], were: &[Targets]) -> f64 {
    let pairs = said.iter().zip(were);
    let sum: f64 = pairs.map(|(said, was)| said.error(was)).sum();
    sum / were.len().max(1) as f64
}
