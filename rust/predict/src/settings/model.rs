//! The model of an application's settings.

use elastane_runs::Feature;
use serde::{Deserialize, Serialize};

use super::fitted::{Regressions, predict, settings_matter};
use super::scale::Scale;
use super::shape::Shapes;
use super::targets::Targets;
use super::{NotForeseen, Settings};
use crate::recurring::{Excluded, Prediction};

/// A model of one application and one kind of container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsModel {
    pub(super) scale: Scale,
    pub(super) regressions: Regressions,
    pub(super) shapes: Shapes,
    /// The held-out error: the mean of |predicted ÷ used − 1| of the totals, over runs and resources.
    pub error: f64,
    /// The held-out error of the mean of the other runs, whatever the settings.
    pub error_without_settings: f64,
    /// From 0 to 1: the [`confidence`](crate::confidence()) of the demand's leave-one-out error, times
    /// 1 − `error`.
    pub confidence: f64,
    /// The ids of the runs it was trained on, newest first. Where the application changed too few runs
    /// ago ([`NotForeseen::Changed`]), the ids of the runs since.
    pub runs: Vec<String>,
    /// The runs that were left out of the training.
    pub left_out: Vec<Excluded>,
    /// See [`NotForeseen::Changed`].
    pub(super) since_change: Option<usize>,
}

impl SettingsModel {
    /// Predicts a run with these settings.
    ///
    /// # Errors
    /// A setting of the runs that is missing here, that lies outside theirs by more than a quarter, or
    /// that was the same in every run and differs here; or an application that changed too few runs ago.
    pub fn predict(&self, settings: &Settings) -> Result<Prediction, NotForeseen> {
        if let Some(since) = self.since_change {
            return Err(NotForeseen::Changed(since));
        }
        let targets = predict(&self.scale, &self.regressions, settings)?;
        Ok(self.shapes.prediction(&targets, self.confidence, self.runs.clone())?)
    }

    /// Whether the settings are informative: held-out error with them is clearly below held-out error
    /// without them.
    pub fn settings_matter(&self) -> bool {
        settings_matter(self.error, self.error_without_settings)
    }

    /// Whether these settings can be predicted.
    ///
    /// # Errors
    /// As [`SettingsModel::predict`] for settings.
    pub fn knows(&self, settings: &Settings) -> Result<(), NotForeseen> {
        self.scale.point(settings).map(|_| ())
    }

    /// The settings that it goes by.
    pub fn features(&self) -> Vec<Feature> {
        self.scale.features()
    }

    /// The targets by name, and whether their regression is linear. Resources that no run used have
    /// none.
    pub fn regressions(&self) -> Vec<(&'static str, bool)> {
        let named = Targets::NAMES.into_iter().zip(&self.regressions);
        named
            .filter_map(|(name, regression)| Some((name, regression.as_ref()?.is_linear())))
            .collect()
    }
}
