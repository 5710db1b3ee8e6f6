//! Runs of one application with new settings: other numbers in its arguments, other executors, another
//! input. `docs/new-settings.md` has the formulas and the measurements.
//!
//! [`train`] learns from runs whose settings are known. [`SettingsModel::predict`] predicts a run with new
//! settings, as the same [`crate::Prediction`] that a recurring run has.

mod fitted;
mod foreseen;
mod given;
mod model;
mod outliers;
mod rbf;
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
pub use foreseen::{Earlier, Foreseen, GivenRun, KnownRuns, NotPlanned, Way, foresee};
pub use given::submission_settings;
pub use model::SettingsModel;
pub use training::{trainable, training_is_due};

use crate::recurring::{RecurringSettings, confidence};
use rbf::NotFitted;
use selection::Selected;
use shape::Shapes;

/// The least runs to train a model on: fewer cannot be held out.
pub const LEAST_RUNS: usize = 6;

/// The most runs to train a model on, the latest: more improve it little and cost time.
pub const MOST_RUNS: usize = 60;

/// The number of latest runs that are searched for runs with the same settings.
pub const LOOKED_THROUGH: usize = 200;

/// A run that succeeded and was measured from beginning to end, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsRun {
    /// Its identity, for reports.
    pub id: String,
    /// Its settings.
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
    /// The application is a recurring one.
    #[error("no setting differs from run to run")]
    NothingDiffers,
    /// Held-out runs are not predicted well.
    #[error("the confidence is {confidence:.2}, at least {least} is needed")]
    Unsure {
        /// The confidence.
        confidence: f64,
        /// The floor.
        least: f64,
    },
    /// No regression could be fitted.
    #[error(transparent)]
    NotFitted(#[from] NotFitted),
    /// Amounts that are too large to add up.
    #[error("the runs make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Why the request stands for these settings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotForeseen {
    /// A setting that every run had is missing.
    #[error("the setting {setting} is not known")]
    Missing {
        /// Its name.
        setting: String,
    },
    /// No run had a setting near this value.
    #[error("{setting} is {value}, from {least} to {most} can be predicted")]
    Beyond {
        /// Its name.
        setting: String,
        /// Its value.
        value: f64,
        /// The least value that can be predicted.
        least: f64,
        /// The largest value that can be predicted.
        most: f64,
    },
    /// A setting that never differed has another value.
    #[error("{setting} is {value}, every run had {always}")]
    Always {
        /// Its name.
        setting: String,
        /// Its value.
        value: f64,
        /// The value in every run.
        always: f64,
    },
    /// Too few runs since the application changed.
    #[error(
        "the application changed {since} runs ago, a model needs {LEAST_RUNS} runs since then whose \
         settings differ"
    )]
    Changed {
        /// The number of runs since the change.
        since: usize,
    },
    /// Amounts that are too large to add up.
    #[error("the settings make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Trains a model on runs, the latest last. Outliers, and runs from before the application changed, are
/// left out.
///
/// # Errors
/// Fewer runs than [`LEAST_RUNS`], settings that are all equal, a confidence below the floor, or runs that
/// no regression can be fitted to.
pub fn train(
    runs: &[SettingsRun],
    settings: &RecurringSettings,
) -> Result<SettingsModel, NotTrained> {
    if runs.len() < LEAST_RUNS {
        return Err(NotTrained::TooFewRuns(runs.len()));
    }
    let latest: Vec<&SettingsRun> = runs.iter().rev().take(MOST_RUNS).rev().collect();
    let selected = selection::select(&latest)?.ok_or(NotTrained::NothingDiffers)?;
    let Selected { fitted, left_out, since_change } = selected;
    let (shapes, demand_error) = Shapes::of(&fitted.runs, &fitted.held_out)?;
    let confidence = confidence(demand_error) * (1.0 - fitted.error).max(0.0);
    let least = settings.least_confidence;
    if confidence < least {
        return Err(NotTrained::Unsure { confidence, least });
    }
    // After a change, only the runs since count as learned: the next run trains the model again.
    let learned: &[&SettingsRun] = match since_change {
        Some(since) => &latest[latest.len() - since..],
        None => &fitted.runs,
    };
    Ok(SettingsModel {
        error: fitted.error,
        error_without: fitted.error_without,
        shapes,
        confidence,
        runs: learned.iter().rev().map(|run| run.id.clone()).collect(),
        left_out,
        since_change,
        scale: fitted.scale,
        regressions: fitted.regressions,
    })
}
