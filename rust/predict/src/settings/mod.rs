//! Runs of one application with other settings: other numbers in its arguments, other executors,
//! another input. `docs/new-settings.md` has the formulas and how well they do.
//!
//! [`train`] learns from runs whose settings are known, [`SettingsModel::predict`] says what a run
//! with settings that never ran will use, as the same [`crate::Prediction`] that a recurring run has.

mod curve;
mod fitted;
mod foreseen;
mod given;
mod history;
mod kept;
mod line;
mod model;
mod numbers;
mod regression;
mod scale;
mod search;
mod selection;
mod shape;
mod targets;
mod training;

use elastane_core::{Demand, DemandError};

pub use elastane_runs::{
    AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, RunSettings as Settings,
};
pub use foreseen::{Earlier, Foreseen, GivenRun, NotPlanned, Way, foresee};
pub use given::{MOST_SETTINGS, submission_settings};
pub use history::History;
pub use model::SettingsModel;
pub use numbers::argument_numbers;
pub use training::{trainable, training_is_due};

use crate::recurring::RecurringSettings;
use curve::NotFitted;
use selection::Selected;
use shape::Shapes;

/// With fewer runs there is nothing to hold out.
pub const LEAST_RUNS: usize = 6;

/// More runs teach little and cost time: the latest are taken.
pub const MOST_RUNS: usize = 60;

/// Among so many of the latest runs those with the same settings are looked for.
pub const LOOKED_THROUGH: usize = 200;

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

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
    /// No regression came of them.
    #[error("no regression can be fitted: {reason}")]
    NotFitted {
        /// Why.
        reason: String,
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
    /// What it does now is not known.
    #[error(
        "the application changed {since} runs ago, a model takes {LEAST_RUNS} since then whose \
         settings differ"
    )]
    Changed {
        /// How many runs there are since.
        since: usize,
    },
    /// Amounts that are too large to add up.
    #[error("the settings make no demand: {0}")]
    Demand(#[from] DemandError),
}

impl From<NotFitted> for NotTrained {
    fn from(not_fitted: NotFitted) -> Self {
        Self::NotFitted {
            reason: not_fitted.to_string(),
        }
    }
}

/// Learns from runs, the latest last; outliers, and runs from before the application changed, are
/// left out.
///
/// # Errors
/// Fewer than [`LEAST_RUNS`], settings that are all equal, held-out runs that are missed by too
/// much, or runs that no regression can be fitted to.
pub fn train(
    runs: &[SettingsRun],
    settings: &RecurringSettings,
) -> Result<SettingsModel, NotTrained> {
    if runs.len() < LEAST_RUNS {
        return Err(NotTrained::TooFewRuns(runs.len()));
    }
    let latest: Vec<&SettingsRun> = runs.iter().rev().take(MOST_RUNS).rev().collect();
    let Some(Selected {
        fitted,
        left_out,
        since_change,
    }) = selection::select(&latest)?
    else {
        return Err(NotTrained::NothingDiffers);
    };
    let error = fitted.error();
    let (shapes, held_out) = Shapes::of(&fitted.runs, &fitted.said, settings.coverage)?;
    let confidence = held_out.confidence() * (1.0 - error).max(0.0);
    let least = settings.least_confidence;
    if confidence < least {
        return Err(NotTrained::Unsure { confidence, least });
    }
    // Those that will make a model when they are more: it is trained with the next of them.
    let learned: &[&SettingsRun] = match since_change {
        Some(since) => &latest[latest.len() - since..],
        None => &fitted.runs,
    };
    Ok(SettingsModel {
        error,
        error_without: fitted.error_without(),
        shapes,
        confidence,
        runs: learned.iter().rev().map(|run| run.id.clone()).collect(),
        left_out,
        since_change,
        scale: fitted.scale,
        regressions: fitted.regressions,
    })
}
