//! The regressions of some runs, and their predictions.

use super::rbf::NotFitted;
use super::regression::Regression;
use super::scale::Scale;
use super::search::{means_of_others, search};
use super::targets::{LogErrors, Targets};
use super::{NotForeseen, Settings, SettingsRun};

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
    /// The held-out prediction of each run without settings: the mean of the other folds.
    means: Vec<Targets>,
}

impl<'r> Fitted<'r> {
    /// Fits runs, the latest last; none where no setting differs.
    pub(super) fn of(runs: Vec<&'r SettingsRun>) -> Result<Option<Self>, NotFitted> {
        let scale = Scale::of(runs.iter().map(|run| &run.settings));
        if scale.is_empty() {
            return Ok(None);
        }
        let points: Vec<Vec<f64>> = runs
            .iter()
            .filter_map(|run| scale.point(&run.settings).ok())
            .collect();
        let actual: Vec<Targets> = runs.iter().map(|run| Targets::of(&run.used)).collect();
        let mut held_out = actual.clone();
        let mut means = actual.clone();
        let mut regressions = [const { None }; Targets::COUNT];
        for (target, regression) in regressions.iter_mut().enumerate() {
            let Some(logarithms) = Targets::logarithms(&actual, target) else {
                continue;
            };
            let searched = search(&points, &logarithms)?;
            for (run, logarithm) in held_out.iter_mut().zip(searched.held_out) {
                run.set(target, logarithm.exp());
            }
            for (run, logarithm) in means.iter_mut().zip(means_of_others(&logarithms)) {
                run.set(target, logarithm.exp());
            }
            *regression = Some(searched.regression);
        }
        Ok(Some(Self {
            runs,
            scale,
            regressions,
            held_out,
            actual,
            means,
        }))
    }

    /// The held-out log-errors of each run.
    pub(super) fn log_errors(&self) -> Vec<LogErrors> {
        let pairs = self.actual.iter().zip(&self.held_out);
        pairs
            .map(|(actual, predicted)| actual.log_errors(predicted))
            .collect()
    }

    /// The log-errors of a run that is not among these; none where its settings cannot be predicted.
    pub(super) fn log_errors_of(&self, run: &SettingsRun) -> Option<LogErrors> {
        let predicted = predict(&self.scale, &self.regressions, &run.settings).ok()?;
        Some(Targets::of(&run.used).log_errors(&predicted))
    }

    /// See [`super::SettingsModel::error`].
    pub(super) fn error(&self) -> f64 {
        mean_error(&self.held_out, &self.actual)
    }

    /// See [`super::SettingsModel::error_without_settings`].
    pub(super) fn error_without(&self) -> f64 {
        mean_error(&self.means, &self.actual)
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
    let sum: f64 = pairs
        .map(|(predicted, actual)| predicted.error(actual))
        .sum();
    sum / actual.len().max(1) as f64
}
