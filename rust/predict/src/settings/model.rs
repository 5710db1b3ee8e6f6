//! What was learned of an application's settings, and what it says.

use serde::{Deserialize, Serialize};

use super::regression::Regression;
use super::scale::Scale;
use super::shape::Shapes;
use super::targets::Targets;
use super::{NotForeseen, Settings};
use crate::recurring::{HeldOut, Prediction};

/// What was learned of one application and one kind of container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsModel {
    pub(super) scale: Scale,
    /// One for each of the targets; none where no run used any.
    pub(super) regressions: [Option<Regression>; Targets::COUNT],
    pub(super) shapes: Shapes,
    pub(super) error: f64,
    pub(super) error_without: f64,
    pub(super) confidence: f64,
    pub(super) runs: Vec<String>,
}

/// A setting that a model knows, and from where to where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// The least that can be foreseen.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// Settings say something where the regressions miss held-out runs by less than this part of what
/// their mean misses them by: the best of 24 regressions is a little better than the mean by chance.
const WORTH: f64 = 0.75;

impl SettingsModel {
    /// What a run with these settings will use.
    ///
    /// # Errors
    /// A setting that the runs had and this has not, one that lies outside theirs by more than a
    /// quarter, or one that was the same in every run and is another here: nothing is known there.
    pub fn predict(&self, settings: &Settings) -> Result<Prediction, NotForeseen> {
        let point = self.scale.point(settings)?;
        let mut targets = Targets::default();
        for (target, regression) in self.regressions.iter().enumerate() {
            if let Some(regression) = regression {
                targets.set(target, regression.at(&point).exp());
            }
        }
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
        self.error < WORTH * self.error_without
    }

    /// Whether it knows runs like one with these settings.
    ///
    /// # Errors
    /// As [`SettingsModel::predict`].
    pub fn knows(&self, settings: &Settings) -> Result<(), NotForeseen> {
        self.scale.point(settings).map(|_| ())
    }

    /// The settings that it goes by.
    #[must_use]
    pub fn features(&self) -> Vec<Feature> {
        self.scale.features()
    }

    /// The ids of the runs it was trained on, newest first.
    #[must_use]
    pub fn runs(&self) -> &[String] {
        &self.runs
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
