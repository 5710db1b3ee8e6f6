//! The choice of a prediction for the next run: runs with the same settings, a model, or the request.

use elastane_core::ContainerKind;
use elastane_runs::Run;

use super::scale::Scale;
use super::{LEAST_RUNS, NotForeseen, Settings, SettingsModel};
use crate::recurring::{
    Excluded, NotPredicted, Outlook, PastRun, Prediction, RecurringSettings, apart, predict_next,
};

/// A run and its settings, as far as they are known.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenRun {
    /// The run.
    pub run: Run,
    /// The known settings.
    pub settings: Settings,
}

/// The knowledge of an application when it is submitted again.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// The latest runs that succeeded.
    pub latest: &'a [GivenRun],
    /// The latest runs that succeeded and whose settings agree with the new ones.
    pub same: &'a [GivenRun],
    /// The model of the application's settings.
    pub model: Option<&'a SettingsModel>,
}

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
    /// In the order in which they are tried.
    pub const ALL: [Way; 5] = [
        Way::Same,
        Way::Indifferent,
        Way::Model,
        Way::Alike,
        Way::Request,
    ];

    /// The name in figures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Way::Same => "same",
            Way::Indifferent => "indifferent",
            Way::Alike => "alike",
            Way::Model => "model",
            Way::Request => "request",
        }
    }

    /// The reason for this way, in words.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Way::Same => "earlier runs had the same settings",
            Way::Indifferent => "settings say nothing of this application",
            Way::Alike => {
                "the latest runs had other settings, around these, and were alike all the same"
            }
            Way::Model => "the settings are new",
            Way::Request => "the settings are new, and nothing says what they do",
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
        "earlier runs with these settings say too little, and a model takes {LEAST_RUNS} runs with \
         known settings that differ"
    )]
    NoModel,
    /// The model's confidence is below the floor.
    #[error("the confidence of the model is {confidence:.2}, at least {least} is needed")]
    Unsure {
        /// The confidence.
        confidence: f64,
        /// The floor.
        least: f64,
    },
    /// The model cannot predict these settings.
    #[error(transparent)]
    Settings(#[from] NotForeseen),
}

/// Predicts the containers of one kind of a run with these settings; none where no run had any.
#[must_use]
pub fn foresee(
    kind: ContainerKind,
    earlier: Earlier<'_>,
    given: &Settings,
    settings: &RecurringSettings,
) -> Option<Foreseen> {
    let latest = past(earlier.latest, kind);
    let same = past(earlier.same, kind);
    if latest.is_empty() && same.is_empty() {
        return None;
    }
    let were_given = |it: &GivenRun| (it.run.application_id.clone(), it.settings.clone());
    let were_given: Vec<(String, Settings)> = earlier.latest.iter().map(were_given).collect();
    let known = Known {
        latest: &latest,
        same: &same,
        were_given: &were_given,
        model: earlier.model,
    };
    Some(known.foresee(given, settings))
}

/// The knowledge of the containers of one kind.
pub(crate) struct Known<'a> {
    /// The latest runs.
    pub(crate) latest: &'a [PastRun],
    /// The latest runs whose settings agree with the new ones.
    pub(crate) same: &'a [PastRun],
    /// The settings of the latest runs, by id.
    pub(crate) were_given: &'a [(String, Settings)],
    pub(crate) model: Option<&'a SettingsModel>,
}

impl Known<'_> {
    pub(crate) fn foresee(&self, given: &Settings, settings: &RecurringSettings) -> Foreseen {
        if let Some(model) = self.model.filter(|model| !model.settings_matter())
            && model.knows(given).is_ok()
        {
            return by_runs(Way::Indifferent, predict_next(self.latest, settings));
        }
        let outlook = predict_next(self.same, settings);
        let are_new = self.were_given.iter().any(|(_, it)| !it.agree(given));
        if outlook.prediction.is_ok() || !are_new {
            return by_runs(Way::Same, outlook);
        }
        match self.model {
            Some(model) => by_model(model, given, settings.least_confidence),
            None => by_runs_alike(self.latest, self.were_given, given, settings),
        }
    }
}

fn past(runs: &[GivenRun], kind: ContainerKind) -> Vec<PastRun> {
    // The profile reports a series that is no demand.
    let past = runs
        .iter()
        .filter_map(|given| PastRun::of(&given.run, kind).ok());
    past.flatten().collect()
}

fn by_runs(way: Way, outlook: Outlook) -> Foreseen {
    Foreseen {
        way,
        prediction: outlook.prediction.map_err(NotPlanned::from),
        left_out: outlook.left_out,
    }
}

fn by_model(model: &SettingsModel, given: &Settings, least: f64) -> Foreseen {
    let confidence = model.confidence();
    let prediction = match model.predict(given) {
        Ok(_) if confidence < least => Err(NotPlanned::Unsure { confidence, least }),
        predicted => predicted.map_err(NotPlanned::from),
    };
    Foreseen {
        way: Way::Model,
        prediction,
        left_out: model.left_out().to_vec(),
    }
}

/// The largest factor between alike runs in length, CPU time and memory: their mean is within a quarter of
/// each.
const ALIKE_FACTOR: f64 = 1.5;

/// For too few runs to train a model. Where runs are alike although their settings differ, settings in
/// their range make little difference; a counter is an example.
fn by_runs_alike(
    latest: &[PastRun],
    were_given: &[(String, Settings)],
    given: &Settings,
    settings: &RecurringSettings,
) -> Foreseen {
    let outlook = predict_next(latest, settings);
    let are_alike = |prediction: &Prediction| {
        let is_taken = |id: &String| prediction.runs.contains(id);
        let taken: Vec<&PastRun> = latest.iter().filter(|it| is_taken(&it.id)).collect();
        let settings = were_given
            .iter()
            .filter(|(id, _)| is_taken(id))
            .map(|(_, settings)| settings);
        apart(&taken) <= ALIKE_FACTOR && Scale::of(settings).point(given).is_ok()
    };
    match &outlook.prediction {
        Ok(prediction) if are_alike(prediction) => by_runs(Way::Alike, outlook),
        _ => Foreseen {
            way: Way::Request,
            prediction: Err(NotPlanned::NoModel),
            left_out: outlook.left_out,
        },
    }
}
