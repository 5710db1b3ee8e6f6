//! The choice of a prediction for the next run: runs with the same settings, a model, or the request.

use super::scale::Scale;
use super::{LEAST_RUNS, NotForeseen, Settings, SettingsModel};
use crate::recurring::{
    Excluded, NextRun, NotPredicted, PastRun, Prediction, RecurringSettings, largest_factor,
    predict_next,
};

/// Runs are alike up to this factor in length, CPU time and memory; then their mean is within a quarter of
/// each.
const ALIKE_FACTOR: f64 = 1.5;

/// The source of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Runs with the same settings.
    Same,
    /// The latest runs, because the model found the settings not informative.
    Indifferent,
    /// The latest runs, which are alike although their settings differ.
    Alike,
    /// The model.
    Model,
    /// None: the request stands.
    Request,
}

impl Way {
    /// The reason for this way, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Way::Same => "earlier runs had the same settings",
            Way::Indifferent => "the settings do not change what this application uses",
            Way::Alike => {
                "the latest runs were alike, although their settings lay on both sides of these"
            }
            Way::Model => "the settings are new",
            Way::Request => "the settings are new, and their effect is unknown",
        }
    }
}

/// The prediction of the containers of one kind, and its source.
#[derive(Debug, Clone)]
pub struct Foreseen {
    /// The source.
    pub way: Way,
    /// The prediction, or why the request stands.
    pub prediction: Result<Prediction, NotPlanned>,
    /// The runs that were left out.
    pub left_out: Vec<Excluded>,
}

/// Why the request stands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotPlanned {
    /// The runs do not predict the next one.
    #[error(transparent)]
    Runs(#[from] NotPredicted),
    /// There is no model yet.
    #[error(
        "earlier runs with these settings are not enough, and a model needs {LEAST_RUNS} runs with \
         known settings that differ"
    )]
    NoModel,
    /// The model's confidence is below the floor.
    #[error("the confidence of the model is {0:.2}, at least {1} is needed")]
    Unsure(f64, f64),
    /// The model cannot predict these settings.
    #[error(transparent)]
    Settings(#[from] NotForeseen),
}

/// What is known about the containers of one kind of an application when it is submitted again.
#[derive(Debug, Clone, Copy)]
pub struct KnownRuns<'a> {
    /// The latest runs.
    pub latest: &'a [PastRun],
    /// The latest runs whose settings agree with the new ones.
    pub same: &'a [PastRun],
    /// The settings of the latest runs that succeeded, by id.
    pub settings_of_latest: &'a [(String, Settings)],
    /// The model of the application's settings.
    pub model: Option<&'a SettingsModel>,
}

impl KnownRuns<'_> {
    /// Predicts a run with these settings.
    pub fn foresee(&self, given: &Settings, settings: &RecurringSettings) -> Foreseen {
        if let Some(model) = self.model.filter(|model| !model.settings_matter())
            && model.knows(given).is_ok()
        {
            return by_runs(Way::Indifferent, predict_next(self.latest, settings));
        }
        let next_run = predict_next(self.same, settings);
        let mut settings_of_latest = self.settings_of_latest.iter();
        let are_new = settings_of_latest.any(|(_, it)| !it.agree(given));
        if next_run.prediction.is_ok() || !are_new {
            return by_runs(Way::Same, next_run);
        }
        match self.model {
            Some(model) => by_model(model, given, settings.least_confidence),
            None => self.by_runs_alike(given, predict_next(self.latest, settings)),
        }
    }

    /// The prediction without a model. Where runs are alike although their settings differ, settings in
    /// their range make little difference; a counter is an example.
    fn by_runs_alike(&self, given: &Settings, next_run: NextRun) -> Foreseen {
        let are_alike = |prediction: &Prediction| {
            let is_taken = |id: &String| prediction.runs.contains(id);
            let taken = self.latest.iter().filter(|it| is_taken(&it.id));
            let settings = self.settings_of_latest.iter();
            let settings = settings.filter(|(id, _)| is_taken(id)).map(|(_, it)| it);
            largest_factor(&taken.collect::<Vec<_>>()) <= ALIKE_FACTOR
                && Scale::of(settings).point(given).is_ok()
        };
        match &next_run.prediction {
            Ok(prediction) if are_alike(prediction) => by_runs(Way::Alike, next_run),
            _ => Foreseen {
                way: Way::Request,
                prediction: Err(NotPlanned::NoModel),
                left_out: next_run.left_out,
            },
        }
    }
}

fn by_runs(way: Way, next_run: NextRun) -> Foreseen {
    Foreseen {
        way,
        prediction: next_run.prediction.map_err(NotPlanned::from),
        left_out: next_run.left_out,
    }
}

fn by_model(model: &SettingsModel, given: &Settings, least: f64) -> Foreseen {
    let prediction = match model.predict(given) {
        Ok(_) if model.confidence < least => Err(NotPlanned::Unsure(model.confidence, least)),
        predicted => predicted.map_err(NotPlanned::from),
    };
    Foreseen { way: Way::Model, prediction, left_out: model.left_out.clone() }
}
