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

use std::ops::RangeInclusive;

use elastane_core::{Demand, DemandError};

pub use elastane_runs::{
    AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, RunSettings as Settings,
};
pub use foreseen::{Foreseen, KnownRuns, NotPlanned, Way};
pub use given::submission_settings;
pub use model::SettingsModel;
pub use training::{trainable, training_is_due};

use crate::recurring::confidence;
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
    #[error("the setting {0} is not known")]
    Missing(String),
    /// No run had a setting near this value: its name, the value, and the range that can be predicted.
    #[error("{0} is {1}, from {start} to {end} can be predicted", start = .2.start(), end = .2.end())]
    Beyond(String, f64, RangeInclusive<f64>),
    /// A setting that never differed has another value: its name, the value, and that of every run.
    #[error("{0} is {1}, every run had {2}")]
    Always(String, f64, f64),
    /// Too few runs since the application changed.
    #[error(
        "the application changed {0} runs ago, a model needs {LEAST_RUNS} runs since then whose \
         settings differ"
    )]
    Changed(usize),
    /// Amounts that are too large to add up.
    #[error("the settings make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Trains a model on runs, the latest last. Outliers, and runs from before the application changed, are
/// left out.
///
/// # Errors
/// Fewer runs than [`LEAST_RUNS`], settings that are all equal, or runs that no regression can be fitted to.
pub fn train(runs: &[SettingsRun]) -> Result<SettingsModel, NotTrained> {
    if runs.len() < LEAST_RUNS {
        return Err(NotTrained::TooFewRuns(runs.len()));
    }
    let latest: Vec<&SettingsRun> = runs.iter().rev().take(MOST_RUNS).rev().collect();
    let selected = selection::select(&latest)?.ok_or(NotTrained::NothingDiffers)?;
    let Selected { fitted, left_out, since_change } = selected;
    let (shapes, demand_error) = Shapes::of(&fitted.runs, &fitted.held_out)?;
    // After a change, only the runs since count as learned: the next run trains the model again.
    let learned: &[&SettingsRun] = match since_change {
        Some(since) => &latest[latest.len() - since..],
        None => &fitted.runs,
    };
    Ok(SettingsModel {
        error: fitted.error,
        error_without_settings: fitted.error_without,
        shapes,
        confidence: confidence(demand_error) * (1.0 - fitted.error).max(0.0),
        runs: learned.iter().rev().map(|run| run.id.clone()).collect(),
        left_out,
        since_change,
        scale: fitted.scale,
        regressions: fitted.regressions,
    })
}
