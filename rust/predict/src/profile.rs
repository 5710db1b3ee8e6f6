//! From runs to what the next run is placed by.

use std::collections::BTreeMap;

use elastane_core::{ContainerKind, Demand, DemandError};
use elastane_runs::{Run, kinds};

use crate::recurring::{
    Exclusion, NotPredicted, Outlook, PastRun, Prediction, RecurringSettings, predict_next,
};

/// How a profile is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileSettings {
    /// The latest so many succeeded runs are taken.
    pub runs: usize,
    /// What the fit adds to a demand that is sure, as a fraction: 0.1 is a tenth more. To others it
    /// adds this over their confidence.
    pub margin: f64,
    /// Below this the request stands.
    pub least_confidence: f64,
}

impl ProfileSettings {
    /// So many of the latest succeeded runs are looked at: those that the next run is predicted from
    /// and as many to compare them with.
    #[must_use]
    pub fn runs_looked_at(&self) -> usize {
        self.runs.saturating_mul(2)
    }

    /// How the next run is predicted.
    #[must_use]
    pub fn recurring(&self) -> RecurringSettings {
        RecurringSettings {
            runs: self.runs,
            least_confidence: self.least_confidence,
            ..RecurringSettings::default()
        }
    }
}

/// A margin is at most ten times the settings'.
const LEAST_CONFIDENCE: f64 = 0.1;

/// What the next run of an application is expected to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The key of the application's [`crate::Signature`].
    pub key: String,
    /// Each kind of container that the runs had: what is planned, or why the request stands.
    pub kinds: BTreeMap<ContainerKind, Result<Planned, NotPredicted>>,
    /// What the runs held that is not part of it.
    pub left_out: Vec<LeftOut>,
}

/// What is predicted of the next run.
#[derive(Debug, Clone)]
pub struct Outlooks {
    /// Of each kind of container that the runs had.
    pub kinds: BTreeMap<ContainerKind, Outlook>,
    /// Series that are no demand.
    pub left_out: Vec<LeftOut>,
}

/// What one container of a kind is placed by.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// See [`Prediction::demand`].
    pub demand: Demand,
    /// It is not in the demand, the fit adds it: the settings' over the confidence.
    pub margin: f64,
    /// See [`Prediction::confidence`].
    pub confidence: f64,
    /// The ids of the runs it was made from, newest first.
    pub runs: Vec<String>,
}

/// A run that is not part of a profile, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The run.
    pub application_id: String,
    /// The containers.
    pub kind: ContainerKind,
    /// What is wrong with it.
    pub reason: NotUsed,
}

/// Why a run is not part of a profile.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotUsed {
    /// Its series is none.
    #[error(transparent)]
    Demand(#[from] DemandError),
    /// The next run is not like it.
    #[error(transparent)]
    Excluded(#[from] Exclusion),
}

impl Profile {
    /// What one container of this kind is placed by; none where the request stands.
    #[must_use]
    pub fn planned(&self, kind: ContainerKind) -> Option<&Planned> {
        self.kinds.get(&kind)?.as_ref().ok()
    }

    /// Every kind of container for which the request does not stand.
    pub fn all_planned(&self) -> impl Iterator<Item = (ContainerKind, &Planned)> {
        let kinds = self.kinds.iter();
        kinds.filter_map(|(kind, planned)| Some((*kind, planned.as_ref().ok()?)))
    }

    /// How many runs it was made from.
    #[must_use]
    pub fn runs(&self) -> usize {
        let planned = self.kinds.values().flatten();
        planned.map(|kind| kind.runs.len()).max().unwrap_or(0)
    }
}

/// What is predicted for each kind of container that the runs had.
#[must_use]
pub fn outlooks(runs: &[Run], settings: &ProfileSettings) -> Outlooks {
    let recurring = settings.recurring();
    let mut left_out = Vec::new();
    let mut by_kind = BTreeMap::new();
    for kind in kinds(runs) {
        let past = past_runs(runs, kind, &mut left_out);
        if !past.is_empty() {
            by_kind.insert(kind, predict_next(&past, &recurring));
        }
    }
    Outlooks {
        kinds: by_kind,
        left_out,
    }
}

/// The profile from the latest runs, or none when they had no container.
#[must_use]
pub fn profile(key: &str, runs: &[Run], settings: &ProfileSettings) -> Option<Profile> {
    let Outlooks {
        kinds,
        mut left_out,
    } = outlooks(runs, settings);
    let kinds: BTreeMap<_, _> = kinds
        .into_iter()
        .map(|(kind, outlook)| {
            left_out.extend(outlook.left_out.into_iter().map(|run| LeftOut {
                application_id: run.id,
                kind,
                reason: run.reason.into(),
            }));
            let prediction = outlook.prediction;
            let planned = |it| Ok(Planned::of(&it, settings)?);
            (kind, prediction.and_then(planned))
        })
        .collect();
    (!kinds.is_empty()).then(|| Profile {
        key: key.to_owned(),
        kinds,
        left_out,
    })
}

impl Planned {
    /// By a prediction.
    ///
    /// # Errors
    /// Amounts that are too large to add up.
    pub fn of(prediction: &Prediction, settings: &ProfileSettings) -> Result<Self, DemandError> {
        Ok(Self {
            demand: prediction.demand()?,
            margin: settings.margin / prediction.confidence.max(LEAST_CONFIDENCE),
            confidence: prediction.confidence,
            runs: prediction.runs.clone(),
        })
    }
}

fn past_runs(runs: &[Run], kind: ContainerKind, left_out: &mut Vec<LeftOut>) -> Vec<PastRun> {
    let mut past = Vec::new();
    for run in runs {
        match PastRun::of(run, kind) {
            Ok(run) => past.extend(run),
            Err(reason) => left_out.push(LeftOut {
                application_id: run.application_id.clone(),
                kind,
                reason: reason.into(),
            }),
        }
    }
    past
}
