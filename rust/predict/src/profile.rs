//! Profiles: the demand that the next run of an application is planned by.

use std::collections::BTreeMap;

use elastane_core::{ContainerKind, Demand, DemandError};
use elastane_runs::{Run, kinds};

use crate::recurring::{
    Exclusion, NotPredicted, PastRun, Prediction, RecurringSettings, predict_next,
};

/// How a profile is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileSettings {
    /// The number of latest succeeded runs to predict from.
    pub runs: usize,
    /// The fraction that the fit adds to a demand of confidence 1. The fit adds this fraction over the
    /// confidence.
    pub margin: f64,
    /// With less confidence the request stands.
    pub least_confidence: f64,
}

impl ProfileSettings {
    /// The number of latest succeeded runs to read: twice the runs to predict from, because they are compared
    /// with older ones.
    pub fn runs_looked_at(&self) -> usize {
        self.runs.saturating_mul(2)
    }

    /// The settings of [`predict_next`].
    pub fn recurring(&self) -> RecurringSettings {
        RecurringSettings { runs: self.runs, least_confidence: self.least_confidence }
    }
}

/// The least confidence that a margin is divided by.
const LEAST_CONFIDENCE: f64 = 0.1;

/// What the next run of an application is expected to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The key of the application's [`crate::Signature`].
    pub key: String,
    /// The plan of each kind of container that the runs had, or why the request stands.
    pub kinds: BTreeMap<ContainerKind, Result<Planned, NotPredicted>>,
    /// Runs that are not part of the profile.
    pub left_out: Vec<LeftOut>,
}

/// The demand that one container of a kind is planned by.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// See [`Prediction::demand`].
    pub demand: Demand,
    /// The fraction that the fit adds to the demand: the settings' margin over the confidence.
    pub margin: f64,
    /// See [`Prediction::confidence`].
    pub confidence: f64,
    /// The ids of the runs that it was made from, newest first.
    pub runs: Vec<String>,
}

/// A run that is not part of a profile, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The run.
    pub application_id: String,
    /// The containers.
    pub kind: ContainerKind,
    /// The reason.
    pub reason: NotUsed,
}

/// Why a run is not part of a profile.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotUsed {
    /// Its series is no demand.
    #[error(transparent)]
    Demand(#[from] DemandError),
    /// The next run is not like it.
    #[error(transparent)]
    Excluded(#[from] Exclusion),
}

impl Profile {
    /// The plan of a container of this kind; none where the request stands.
    pub fn planned(&self, kind: ContainerKind) -> Option<&Planned> {
        self.kinds.get(&kind)?.as_ref().ok()
    }

    /// The kinds of containers for which the request does not stand.
    pub fn all_planned(&self) -> impl Iterator<Item = (ContainerKind, &Planned)> {
        let kinds = self.kinds.iter();
        kinds.filter_map(|(kind, planned)| Some((*kind, planned.as_ref().ok()?)))
    }

    /// The number of runs that it was made from.
    pub fn runs(&self) -> usize {
        let planned = self.kinds.values().flatten();
        planned.map(|kind| kind.runs.len()).max().unwrap_or(0)
    }
}

/// Makes the profile from the latest runs; none where they had no container.
pub fn profile(key: &str, runs: &[Run], settings: &ProfileSettings) -> Option<Profile> {
    let mut left_out = Vec::new();
    let mut by_kind = BTreeMap::new();
    for kind in kinds(runs) {
        let mut leave_out = |application_id: &str, reason| {
            left_out.push(LeftOut { application_id: application_id.to_owned(), kind, reason });
        };
        let mut past = Vec::new();
        for run in runs {
            match PastRun::of(run, kind) {
                Ok(run) => past.extend(run),
                Err(reason) => leave_out(&run.application_id, reason.into()),
            }
        }
        if past.is_empty() {
            continue;
        }
        let outlook = predict_next(&past, &settings.recurring());
        for run in outlook.left_out {
            leave_out(&run.id, run.reason.into());
        }
        let planned = outlook.prediction.map(|it| Planned::of(&it, settings));
        by_kind.insert(kind, planned);
    }
    (!by_kind.is_empty()).then(|| Profile { key: key.to_owned(), kinds: by_kind, left_out })
}

impl Planned {
    /// Plans by a prediction.
    pub fn of(prediction: &Prediction, settings: &ProfileSettings) -> Self {
        Self {
            margin: settings.margin / prediction.confidence.max(LEAST_CONFIDENCE),
            demand: prediction.demand.clone(),
            confidence: prediction.confidence,
            runs: prediction.runs.clone(),
        }
    }
}
