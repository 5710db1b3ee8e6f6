//! How a prediction was made.

use std::collections::BTreeMap;

use elastane_predict::{
    Excluded, Feature, Foreseen, Outlook, Prediction, Settings, SettingsModel, Way,
};
use serde::{Deserialize, Serialize};

/// By earlier runs.
const RECURRING: &str = "recurring";

/// By what was learned of settings, or by nothing since they are new.
const SETTINGS: &str = "settings";

/// How a prediction was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionMade {
    /// A word for the way it was made: `recurring` or `settings`.
    pub method: String,
    /// Why it was made in this way, in words; none in what earlier versions kept.
    #[serde(default)]
    pub reason: Option<String>,
    /// What the submission was given, as far as it was known then.
    #[serde(default)]
    pub settings: BTreeMap<String, f64>,
    /// What was learned of the application's settings, whether or not it was made by that.
    #[serde(default)]
    pub model: Option<ModelUsed>,
    /// From 0 to 1; none where there was too little to tell.
    pub confidence: Option<f64>,
    /// The application ids of the runs it was made from, newest first.
    pub runs: Vec<String>,
    /// The runs it was not made from.
    pub left_out: Vec<LeftOutRun>,
    /// Why the request stood, where it did.
    pub not_predicted: Option<String>,
    /// How long the run was expected to be.
    pub expected_length_ms: Option<i64>,
}

/// A run that a prediction was not made from.
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
    /// The settings that it goes by.
    pub features: Vec<Feature>,
    /// What it says, by name, and by which kernel: `linear` or `rbf`.
    pub regressions: BTreeMap<String, String>,
    /// How many runs it was trained on.
    pub runs: usize,
    /// See [`SettingsModel::error`].
    pub held_out_error: f64,
    /// See [`SettingsModel::error_without_settings`].
    pub error_without_settings: f64,
    /// See [`SettingsModel::confidence`].
    pub confidence: f64,
}

impl From<&SettingsModel> for ModelUsed {
    fn from(model: &SettingsModel) -> Self {
        let kernel = |is_linear| if is_linear { "linear" } else { "rbf" };
        let regressions = model.regressions().into_iter();
        Self {
            features: model.features(),
            regressions: regressions
                .map(|(name, is_linear)| (name.to_owned(), kernel(is_linear).to_owned()))
                .collect(),
            runs: model.runs().len(),
            held_out_error: model.error(),
            error_without_settings: model.error_without_settings(),
            confidence: model.confidence(),
        }
    }
}

impl PredictionMade {
    /// Of a recurring application, from its latest runs.
    #[must_use]
    pub fn recurring(outlook: &Outlook) -> Self {
        let made = Self {
            method: RECURRING.to_owned(),
            left_out: left_out(&outlook.left_out),
            ..Self::default()
        };
        made.with(outlook.prediction.as_ref())
    }

    /// Of an application whose settings may be new.
    #[must_use]
    pub fn foreseen(foreseen: &Foreseen, model: Option<&SettingsModel>, given: &Settings) -> Self {
        let method = match foreseen.way {
            Way::Model | Way::Request => SETTINGS,
            Way::Same | Way::Indifferent | Way::Alike => RECURRING,
        };
        let made = Self {
            method: method.to_owned(),
            reason: Some(foreseen.way.reason().to_owned()),
            settings: given.0.clone(),
            model: model.map(ModelUsed::from),
            left_out: left_out(&foreseen.left_out),
            ..Self::default()
        };
        made.with(foreseen.prediction.as_ref())
    }

    fn with(self, prediction: Result<&Prediction, impl ToString>) -> Self {
        match prediction {
            Ok(prediction) => Self {
                confidence: Some(prediction.confidence),
                expected_length_ms: Some(prediction.length_ms()),
                runs: prediction.runs.clone(),
                ..self
            },
            Err(reason) => Self {
                not_predicted: Some(reason.to_string()),
                ..self
            },
        }
    }
}

fn left_out(excluded: &[Excluded]) -> Vec<LeftOutRun> {
    let left_out = excluded.iter().map(|run| LeftOutRun {
        application_id: run.id.clone(),
        reason: run.reason.to_string(),
    });
    left_out.collect()
}
