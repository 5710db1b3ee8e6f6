//! Profiles: the demand that the next run of an application is planned by.

use std::collections::BTreeMap;

use elastane_core::ContainerKind;
use elastane_runs::{Run, kinds};

use crate::recurring::{
    Excluded, Exclusion, LogNormal, NotPredicted, PastRun, Prediction, RecurringSettings,
    UsageCurve, predict_next,
};
use crate::run_length::RunLength;

/// How a profile is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileSettings {
    /// The number of latest succeeded runs to predict from.
    pub runs: usize,
    /// The fraction that the fit adds to a demand of confidence 1. The fit adds this fraction over the
    /// confidence.
    pub margin: f64,
    /// With less confidence the prediction is not used.
    pub least_confidence: f64,
    /// Whether an application without a prediction is planned by what other applications used of their
    /// requests; otherwise by its request.
    pub others: bool,
}

impl ProfileSettings {
    /// The number of latest succeeded runs to read: twice the runs to predict from, because they are compared
    /// with older ones.
    pub fn runs_looked_at(&self) -> usize {
        self.runs.saturating_mul(2)
    }

    /// The fraction that the fit adds to a demand of this confidence.
    pub fn margin_at(&self, confidence: f64) -> f64 {
        self.margin / confidence.max(LEAST_CONFIDENCE)
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
    /// The application's key, see [`crate::signature()`].
    pub key: String,
    /// The prediction of each kind of container that the runs had, or why the request stands.
    pub kinds: BTreeMap<ContainerKind, Result<Prediction, NotPredicted>>,
    /// Runs that are not part of the profile of a kind.
    pub left_out: Vec<(ContainerKind, Excluded)>,
}

impl Profile {
    /// The prediction of a container of this kind; none where the request stands.
    pub fn planned(&self, kind: ContainerKind) -> Option<&Prediction> {
        self.kinds.get(&kind)?.as_ref().ok()
    }

    /// The kinds of containers for which the request does not stand.
    pub fn all_planned(&self) -> impl Iterator<Item = (ContainerKind, &Prediction)> {
        let kinds = self.kinds.iter();
        kinds.filter_map(|(kind, prediction)| Some((*kind, prediction.as_ref().ok()?)))
    }

    /// The length of the next run: that of its longest executor, or else of its application master. None where
    /// nothing is predicted.
    pub fn length(&self) -> Option<RunLength> {
        let lengths = self.all_planned().map(|(kind, prediction)| {
            let lengths_ms = prediction.curves.iter().map(UsageCurve::length_ms);
            let length_ms = LogNormal::of(lengths_ms);
            RunLength { kind, runs: prediction.curves.len(), length_ms }
        });
        lengths.max_by(|one, other| {
            let [is_master, is_other_master] =
                [one, other].map(|it| it.kind.is_application_master());
            let by_length = one.length_ms.center.total_cmp(&other.length_ms.center);
            is_other_master.cmp(&is_master).then(by_length)
        })
    }

    /// The number of runs that it was made from.
    pub fn runs(&self) -> usize {
        let predictions = self.kinds.values().flatten();
        predictions.map(|prediction| prediction.runs.len()).max().unwrap_or(0)
    }
}

/// Makes the profile from the latest runs; none where they had no container.
pub fn profile(key: &str, runs: &[Run], settings: &ProfileSettings) -> Option<Profile> {
    let mut left_out = Vec::new();
    let mut by_kind = BTreeMap::new();
    for kind in kinds(runs) {
        let mut past = Vec::new();
        for run in runs {
            match PastRun::of(run, kind) {
                Ok(run) => past.extend(run),
                Err(error) => {
                    let reason = Exclusion::NoDemand(error.to_string());
                    left_out.push((kind, Excluded { id: run.application_id.clone(), reason }));
                }
            }
        }
        if past.is_empty() {
            continue;
        }
        let next_run = predict_next(&past, &settings.recurring());
        left_out.extend(next_run.left_out.into_iter().map(|run| (kind, run)));
        by_kind.insert(kind, next_run.prediction);
    }
    (!by_kind.is_empty()).then(|| Profile { key: key.to_owned(), kinds: by_kind, left_out })
}
