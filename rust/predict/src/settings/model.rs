//! What was learned of an application's settings, and what it says.

use elastane_runs::Feature;
use serde::{Deserialize, Serialize};

use super::fitted::{Regressions, said, settings_matter};
use super::regression::Regression;
use super::scale::Scale;
use super::shape::Shapes;
use super::targets::Targets;
use super::{NotForeseen, Settings};
use crate::recurring::{Excluded, HeldOut, Prediction};

/// What was learned of one application and one kind of container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsModel {
    pub(super) scale: Scale,
    pub(super) regressions: Regressions,
    pub(super) shapes: Shapes,
    pub(super) error: f64,
    pub(super) error_without: f64,
    pub(super) confidence: f64,
    pub(super) runs: Vec<String>,
    pub(super) left_out: Vec<Excluded>,
    /// See [`NotForeseen::Changed`].
    pub(super) since_change: Option<usize>,
}

impl SettingsModel {
    /// What a run with these settings will use.
    ///
    /// # Errors
    /// A setting that the runs had and this has not, one that lies outside theirs by more than a
    /// quarter, or one that was the same in every run and is another here: nothing is known there.
    /// Nor is it where the application changed and too few runs were since.
    pub fn predict(&self, settings: &Settings) -> Result<Prediction, NotForeseen> {
        if let Some(since) = self.since_change {
            return Err(NotForeseen::Changed { since });
        }
        let targets = said(&self.scale, &self.regressions, settings)?;
        Ok(self
            .shapes
            .prediction(&targets, self.confidence, self.runs.clone())?)
    }

    /// How far held-out runs were missed: the mean of |predicted ÷ used − 1| over runs and
    /// resources, of all that a run used.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The same where each held-out run is said to be like the mean of the others, whatever its
    /// settings.
    #[must_use]
    pub fn error_without_settings(&self) -> f64 {
        self.error_without
    }

    /// Whether settings say something: what they are known by is clearly missed less than what they
    /// are not.
    #[must_use]
    pub fn settings_matter(&self) -> bool {
        settings_matter(self.error, self.error_without)
    }

    /// Whether it knows runs like one with these settings.
    ///
    /// # Errors
    /// As [`SettingsModel::predict`] has for settings.
    pub fn knows(&self, settings: &Settings) -> Result<(), NotForeseen> {
        self.scale.point(settings).map(|_| ())
    }

    /// The settings that it goes by.
    #[must_use]
    pub fn features(&self) -> Vec<Feature> {
        self.scale.features()
    }

    /// The ids of the runs it was trained on, newest first; where the application changed and they
    /// are too few ([`NotForeseen::Changed`]), of those since.
    #[must_use]
    pub fn runs(&self) -> &[String] {
        &self.runs
    }

    /// The runs it was not trained on, and why.
    #[must_use]
    pub fn left_out(&self) -> &[Excluded] {
        &self.left_out
    }

    /// What is learned, by name, and whether its regression is linear; without what no run used.
    #[must_use]
    pub fn regressions(&self) -> Vec<(&'static str, bool)> {
        let named = Targets::NAMES.into_iter().zip(&self.regressions);
        named
            .filter_map(|(name, regression)| Some((name, regression.as_ref()?.is_linear())))
            .collect()
    }

    /// From 0 to 1: the confidence of a recurring run ([`HeldOut::confidence`]) on held-out runs,
    /// times what [`SettingsModel::error`] leaves of 1.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// How well held-out runs were covered.
    #[must_use]
    pub fn held_out(&self) -> HeldOut {
        self.shapes.held_out()
    }

    /// How many of the five regressions are linear; the others have the RBF kernel.
    #[must_use]
    pub fn linear_regressions(&self) -> usize {
        let linear = |it: &&Regression| it.is_linear();
        self.regressions.iter().flatten().filter(linear).count()
    }
}
