//! Runs of one application with other settings: other numbers in its arguments, other executors,
//! another input. `docs/new-settings.md` has the formulas and how well they do.
//!
//! [`train`] learns from runs whose settings are known, [`SettingsModel::predict`] says what a run
//! with settings that never ran will use, as the same [`Prediction`] that a recurring run has.

mod foreseen;
mod given;
mod numbers;
mod regression;
mod scale;
mod search;
mod shape;
mod targets;

use std::collections::BTreeMap;

use elastane_core::{Demand, DemandError};
use serde::{Deserialize, Serialize};

pub use foreseen::{Earlier, Foreseen, GivenRun, NotPlanned, Way, foresee};
pub use given::{
    AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, MOST_SETTINGS,
    submission_settings,
};
pub use numbers::argument_numbers;

use crate::recurring::{HeldOut, Prediction, RecurringSettings};
use regression::Regression;
use scale::Scale;
use shape::Shapes;
use targets::Targets;

/// With fewer runs there is nothing to hold out.
pub const LEAST_RUNS: usize = 6;

/// More runs teach little and cost time: the latest are taken.
pub const MOST_RUNS: usize = 60;

/// What a submission was given, by name: `executors`, `input_bytes`, `--iterations`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub BTreeMap<String, f64>);

impl Settings {
    /// Whether every setting that both have is equal.
    #[must_use]
    pub fn agree(&self, other: &Self) -> bool {
        let known = |(name, value): (&String, &f64)| other.0.get(name).is_none_or(|it| it == value);
        self.0.iter().all(known)
    }
}

/// A run that succeeded and was seen from beginning to end, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsRun {
    /// Its identity, for reports.
    pub id: String,
    /// What it was given.
    pub settings: Settings,
    /// What one container used from its start.
    pub used: Demand,
}

/// What was learned of one application and one kind of container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsModel {
    scale: Scale,
    /// One for each of the targets; none where no run used any.
    regressions: [Option<Regression>; Targets::COUNT],
    shapes: Shapes,
    error: f64,
    error_without: f64,
    confidence: f64,
    runs: Vec<String>,
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

/// Why there is no model.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NotTrained {
    /// Too few runs to hold some out.
    #[error("runs with known settings: {0}, at least {LEAST_RUNS} are needed")]
    TooFewRuns(usize),
    /// It is a recurring application.
    #[error("no setting differs from run to run")]
    NothingDiffers,
    /// Held-out runs are not predicted well.
    #[error("the confidence is {confidence:.2}, at least {least} is needed")]
    Unsure {
        /// What it is.
        confidence: f64,
        /// What is wanted.
        least: f64,
    },
    /// Amounts that are too large to add up.
    #[error("the runs make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Why the request stands for these settings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotForeseen {
    /// Every run had it.
    #[error("the setting {setting} is not known")]
    Missing {
        /// Its name.
        setting: String,
    },
    /// Nothing like it ran.
    #[error("{setting} is {value}, from {least} to {most} can be foreseen")]
    Beyond {
        /// Its name.
        setting: String,
        /// What it is.
        value: f64,
        /// The least that is like the runs.
        least: f64,
        /// The most.
        most: f64,
    },
    /// What it does is not known.
    #[error("{setting} is {value}, every run had {always}")]
    Always {
        /// Its name.
        setting: String,
        /// What it is.
        value: f64,
        /// What it was.
        always: f64,
    },
    /// Amounts that are too large to add up.
    #[error("the settings make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Learns from runs, the latest last.
///
/// # Errors
/// Fewer than [`LEAST_RUNS`], settings that are all equal, or held-out runs that are missed by too
/// much.
pub fn train(
    runs: &[SettingsRun],
    settings: &RecurringSettings,
) -> Result<SettingsModel, NotTrained> {
    if runs.len() < LEAST_RUNS {
        return Err(NotTrained::TooFewRuns(runs.len()));
    }
    let runs = &runs[runs.len().saturating_sub(MOST_RUNS)..];
    let scale = Scale::of(runs.iter().map(|run| &run.settings));
    if scale.is_empty() {
        return Err(NotTrained::NothingDiffers);
    }
    let points: Vec<Vec<f64>> = runs
        .iter()
        .filter_map(|run| scale.point(&run.settings).ok())
        .collect();
    let were: Vec<Targets> = runs.iter().map(|run| Targets::of(&run.used)).collect();
    let mut said = were.clone();
    let mut without = were.clone();
    let regressions = std::array::from_fn(|target| {
        let logarithms = Targets::logarithms(&were, target)?;
        let searched = search::search(&points, &logarithms);
        let means = search::means_of_others(&logarithms);
        for (said, logarithm) in said.iter_mut().zip(searched.held_out) {
            said.set(target, logarithm.exp());
        }
        for (said, logarithm) in without.iter_mut().zip(means) {
            said.set(target, logarithm.exp());
        }
        Some(searched.regression)
    });
    let error = mean_error(&said, &were);
    let (shapes, held_out) = Shapes::of(runs, &said, settings.coverage)?;
    let confidence = held_out.confidence() * (1.0 - error).max(0.0);
    let least = settings.least_confidence;
    if confidence < least {
        return Err(NotTrained::Unsure { confidence, least });
    }
    Ok(SettingsModel {
        scale,
        regressions,
        shapes,
        error,
        error_without: mean_error(&without, &were),
        confidence,
        runs: runs.iter().rev().map(|run| run.id.clone()).collect(),
    })
}

fn mean_error(said: &[Targets], were: &[Targets]) -> f64 {
    let pairs = said.iter().zip(were);
    let sum: f64 = pairs.map(|(said, was)| said.error(was)).sum();
    sum / were.len().max(1) as f64
}

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
