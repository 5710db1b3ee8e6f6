//! How a prediction was made, and how accurate it was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a prediction was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionMade {
    /// A word for the way it was made: `recurring`, `settings` or `others`.
    pub method: String,
    /// Why this way was chosen, in words.
    pub reason: Option<String>,
    /// The settings of the run that were known when the prediction was made.
    pub settings: BTreeMap<String, f64>,
    /// The model of the application's settings, whether or not the prediction was made by it.
    pub model: Option<ModelUsed>,
    /// From 0 to 1; none where too few runs were known.
    pub confidence: Option<f64>,
    /// The application ids of the runs that the prediction was made from, newest first.
    pub runs: Vec<String>,
    /// The runs that were left out.
    pub left_out: Vec<LeftOutRun>,
    /// Why the request was planned by instead of a prediction.
    pub not_predicted: Option<String>,
    /// The predicted length of the run.
    pub expected_length_ms: Option<i64>,
}

/// A run that a prediction leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRun {
    /// The run.
    pub application_id: String,
    /// Why, in words.
    pub reason: String,
}

/// A model of an application's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelUsed {
    /// The settings that are its inputs.
    pub features: Vec<Feature>,
    /// The kernel of each regression, `linear` or `rbf`, by the name of its target.
    pub regressions: BTreeMap<String, String>,
    /// The number of training runs.
    pub runs: usize,
    /// Held-out error with the settings, as a part of what was used.
    pub held_out_error: f64,
    /// Held-out error without the settings.
    pub error_without_settings: f64,
    /// From 0 to 1.
    pub confidence: f64,
}

/// A setting that a model has as an input, and its range in the training runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// The name of the setting.
    pub name: String,
    /// The least value that can be predicted.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// How accurate a prediction was, each array in the order of [`elastane_core::Resource::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PredictionOutcome {
    /// The length of the run.
    pub length_ms: i64,
    /// The part of the run's time in which usage was at most the bound.
    pub coverage: [f64; 4],
    /// ∫ bound ÷ ∫ used; none where nothing was used.
    pub waste: [Option<f64>; 4],
}
