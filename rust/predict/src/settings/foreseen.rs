//! By what the next run of an application is planned: by runs with the same settings, by a model, or
//! by its request.

use elastane_core::ContainerKind;
use elastane_runs::Run;

use super::scale::Scale;
use super::{LEAST_RUNS, NotForeseen, Settings, SettingsModel};
use crate::recurring::{
    Excluded, NotPredicted, Outlook, PastRun, Prediction, RecurringSettings, apart, predict_next,
};

/// A run and what it was given; nothing where that is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenRun {
    /// The run.
    pub run: Run,
    /// What is known of it.
    pub settings: Settings,
}

/// What is known of an application when it is submitted again.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// Its latest runs that succeeded.
    pub latest: &'a [GivenRun],
    /// Its latest runs that succeeded and whose settings agree with the new ones.
    pub same: &'a [GivenRun],
    /// What was learned of its settings.
    pub model: Option<&'a SettingsModel>,
}

/// How a run is foreseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By runs with the same settings.
    Same,
    /// By the latest runs, since the model found that settings say nothing.
    Indifferent,
    /// By the latest runs, which are alike though their settings differ.
    Alike,
    /// By the model.
    Model,
    /// By nothing that is known: the request stands.
    Request,
}

impl Way {
    /// All of them, in the order in which they are tried; the request last.
    pub const ALL: [Way; 5] = [
        Way::Same,
        Way::Indifferent,
        Way::Model,
        Way::Alike,
        Way::Request,
    ];

    /// The word that figures use.
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

    /// In words.
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

/// What is foreseen of the containers of one kind.
#[derive(Debug, Clone)]
pub struct Foreseen {
    /// How.
    pub way: Way,
    /// The prediction, or why the request stands.
    pub prediction: Result<Prediction, NotPlanned>,
    /// The runs that it is not made from.
    pub left_out: Vec<Excluded>,
}

/// Why the request stands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotPlanned {
    /// The runs say too little.
    #[error(transparent)]
    Runs(#[from] NotPredicted),
    /// There is no model yet.
    #[error(
        "earlier runs with these settings say too little, and a model takes {LEAST_RUNS} runs with \
         known settings that differ"
    )]
    NoModel,
    /// The model misses held-out runs by too much.
    #[error("the confidence of the model is {confidence:.2}, at least {least} is needed")]
    Unsure {
        /// What it is.
        confidence: f64,
        /// What is wanted.
        least: f64,
    },
    /// The model does not know these settings.
    #[error(transparent)]
    Settings(#[from] NotForeseen),
}

/// Foresees the containers of one kind of a run that is given this; none where no run had any.
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

/// What is known of the containers of one kind.
pub(super) struct Known<'a> {
    /// Its latest runs.
    pub(super) latest: &'a [PastRun],
    /// Those whose settings agree with the new ones.
    pub(super) same: &'a [PastRun],
    /// What the latest were given, by their ids.
    pub(super) were_given: &'a [(String, Settings)],
    pub(super) model: Option<&'a SettingsModel>,
}

impl Known<'_> {
    pub(super) fn foresee(&self, given: &Settings, settings: &RecurringSettings) -> Foreseen {
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
    // A series that is no demand is left out of the profile, too, which names it.
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

/// Runs that are this far apart, in length, CPU time or memory, at most are alike: their mean is within
/// a quarter of any.
const ALIKE_FACTOR: f64 = 1.5;

/// Too few runs for a model. Those that are alike though their settings differ say that the settings
/// between theirs make little difference: a number that counts up is such a one.
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
