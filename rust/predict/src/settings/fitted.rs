//! The regressions of some runs, and their predictions.

use super::rbf::NotFitted;
use super::regression::Regression;
use super::scale::Scale;
use super::search::{means_of_others, search};
use super::targets::{LogErrors, Targets};
use super::{NotForeseen, Settings, SettingsRun};
use crate::statistics::mean;

/// One for each of the targets; none where no run used the resource.
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
    pub(super) held_out: Vec<Targets>,
    actual: Vec<Targets>,
    /// See [`super::SettingsModel::error`].
    pub(super) error: f64,
    /// See [`super::SettingsModel::error_without_settings`].
    pub(super) error_without: f64,
}

impl<'r> Fitted<'r> {
    /// Fits runs, the latest last; none where no setting differs.
    pub(super) fn of(runs: Vec<&'r SettingsRun>) -> Result<Option<Self>, NotFitted> {
        let scale = Scale::of(runs.iter().map(|run| &run.settings));
        if scale.is_empty() {
            return Ok(None);
        }
        let points: Vec<Vec<f64>> =
            runs.iter().filter_map(|run| scale.point(&run.settings).ok()).collect();
        let actual: Vec<Targets> = runs.iter().map(|run| Targets::of(&run.used)).collect();
        let mut held_out = actual.clone();
        // The held-out predictions without settings: the means of the other folds.
        let mut means = actual.clone();
        let mut regressions = [const { None }; Targets::COUNT];
        for (target, regression) in regressions.iter_mut().enumerate() {
            let Some(logarithms) = Targets::logarithms(&actual, target) else {
                continue;
            };
            let (fitted, predicted) = search(&points, &logarithms)?;
            set(&mut held_out, target, &predicted);
            set(&mut means, target, &means_of_others(&logarithms));
            *regression = Some(fitted);
        }
        Ok(Some(Self {
            runs,
            scale,
            regressions,
            error: mean_error(&held_out, &actual),
            error_without: mean_error(&means, &actual),
            held_out,
            actual,
        }))
    }

    /// The held-out log-errors of each run.
    pub(super) fn log_errors(&self) -> Vec<LogErrors> {
        let pairs = self.actual.iter().zip(&self.held_out);
        pairs.map(|(actual, predicted)| actual.log_errors(predicted)).collect()
    }

    /// The log-errors of a run that is not among these; none where its settings cannot be predicted.
    pub(super) fn log_errors_of(&self, run: &SettingsRun) -> Option<LogErrors> {
        let predicted = predict(&self.scale, &self.regressions, &run.settings).ok()?;
        Some(Targets::of(&run.used).log_errors(&predicted))
    }

    /// See [`super::SettingsModel::settings_matter`].
    pub(super) fn settings_matter(&self) -> bool {
        settings_matter(self.error, self.error_without)
    }
}

/// Whether the settings are informative: held-out error with them is clearly below held-out error
/// without them.
pub(super) fn settings_matter(error: f64, error_without: f64) -> bool {
    error < WORTH * error_without
}

fn set(runs: &mut [Targets], target: usize, logarithms: &[f64]) {
    for (run, logarithm) in runs.iter_mut().zip(logarithms) {
        run.set(target, logarithm.exp());
    }
}

/// The prediction of the regressions for these settings.
pub(super) fn predict(
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

fn mean_error(predicted: &[Targets], actual: &[Targets]) -> f64 {
    let pairs = predicted.iter().zip(actual);
    let errors: Vec<f64> = pairs.map(|(predicted, actual)| predicted.error(actual)).collect();
    mean(&errors)
}
