//! Predictions as they are recorded.

use elastane_core::{Demand, Resources};
use elastane_runs::{LeftOutRun, ModelUsed, PredictionMade, PredictionOutcome, RunSettings};

use crate::others::OthersPlan;
use crate::recurring::{Excluded, NextRun, Prediction};
use crate::score::score;
use crate::settings::{Foreseen, SettingsModel, Way};

impl NextRun {
    /// The record of this prediction of a recurring application.
    pub fn made(&self) -> PredictionMade {
        made("recurring", self.prediction.as_ref(), &self.left_out)
    }
}

impl Foreseen {
    /// The record of this prediction for a run that was given these settings.
    pub fn made(&self, model: Option<&SettingsModel>, given: &RunSettings) -> PredictionMade {
        let method = match self.way {
            Way::Model | Way::Request => "settings",
            Way::Same | Way::Indifferent | Way::Alike => "recurring",
        };
        PredictionMade {
            reason: Some(self.way.reason().to_owned()),
            settings: given.0.clone(),
            model: model.map(ModelUsed::from),
            ..made(method, self.prediction.as_ref(), &self.left_out)
        }
    }
}

impl OthersPlan {
    /// The record of this plan, in place of a prediction that could not be made.
    pub fn made(&self, not_predicted: PredictionMade) -> PredictionMade {
        let why = not_predicted.not_predicted.unwrap_or_default();
        let where_ran = if self.of_queue { "of its queue" } else { "of the cluster" };
        let count = self.applications;
        PredictionMade {
            method: "others".to_owned(),
            reason: Some(format!("{why}; {count} other applications {where_ran} are known")),
            not_predicted: None,
            ..not_predicted
        }
    }
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
            runs: model.runs.len(),
            held_out_error: model.error,
            error_without_settings: model.error_without_settings,
            confidence: model.confidence,
        }
    }
}

/// How well `bound` covered the usage of the run.
pub fn prediction_outcome(bound: &Demand, used: &Demand) -> PredictionOutcome {
    // The total of the mean prediction is not recorded.
    let scores = score(bound, Resources::ZERO, used);
    PredictionOutcome {
        length_ms: used.duration_ms().unwrap_or_default(),
        coverage: scores.map(|score| score.coverage),
        waste: scores.map(|score| score.waste),
    }
}

fn made(
    method: &str,
    prediction: Result<&Prediction, impl ToString>,
    left_out: &[Excluded],
) -> PredictionMade {
    let left_out = left_out
        .iter()
        .map(|run| LeftOutRun { application_id: run.id.clone(), reason: run.reason.to_string() });
    let mut made = PredictionMade {
        method: method.to_owned(),
        left_out: left_out.collect(),
        ..PredictionMade::default()
    };
    match prediction {
        Ok(prediction) => {
            made.confidence = Some(prediction.confidence);
            made.expected_length_ms = Some(prediction.length_ms());
            made.runs = prediction.runs.clone();
        }
        Err(reason) => made.not_predicted = Some(reason.to_string()),
    }
    made
}
