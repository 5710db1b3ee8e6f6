//! Predictions of the containers of submitted applications.

use std::sync::Arc;

use elastane_core::cluster::{ApplicationId, Basis, Predicted};
use elastane_predict::{
    KnownRuns, LOOKED_THROUGH, PastRun, Prediction, ProfileSettings, Way, prediction_outcome,
    queue_of,
};
use elastane_runs::{ContainerKind, Outcome, Run, RunSettings, SubmissionRecord, kinds};
use elastane_store::{Depository, PackError, PackedDemand, PredictionRecord, StoreError};

use super::profiles::latest_runs;
use super::{Shared, models};
use crate::counters::count;

/// Takes the prediction of an application's containers of one kind; none is the request.
pub(crate) type OnPrediction = Box<dyn Fn(ApplicationId, ContainerKind, Option<Predicted>) + Send>;

pub(super) struct Predictor {
    shared: Arc<Shared>,
    on_prediction: OnPrediction,
}

impl Predictor {
    pub(super) fn new(shared: Arc<Shared>, on_prediction: OnPrediction) -> Self {
        Self { shared, on_prediction }
    }

    /// Predicts the wanted kinds of containers that earlier runs had, or enough other applications, and hands the
    /// predictions to the core. Other kinds are planned by their request.
    pub(super) fn predict(
        &self,
        depository: &Depository,
        application: ApplicationId,
        submission: &SubmissionRecord,
        now_ms: i64,
        is_wanted: fn(ContainerKind) -> bool,
    ) -> Result<Vec<PredictionRecord>, StoreError> {
        let (id, key) = (&submission.application_id, &submission.application_key);
        let given = RunSettings(submission.settings.clone());
        let all = depository.latest_settings(key, LOOKED_THROUGH)?;
        let settings = self.shared.profiles.settings();
        let most = settings.runs_looked_at();
        let latest = latest_runs(depository, &all, None, most)?;
        let same = latest_runs(depository, &all, Some(&given), most)?;
        let profile: Arc<str> = key.as_str().into();
        let models = models::models(depository, key)?;
        let by_others = self.shared.profiles.by_others(queue_of(&submission.signature), &given);
        let mut all_kinds = kinds(latest.iter().chain(&same));
        all_kinds.extend(by_others.keys());
        let mut records = Vec::new();
        for kind in all_kinds.into_iter().filter(|kind| is_wanted(*kind)) {
            let [latest, same] = [&latest, &same].map(|runs| PastRun::all(runs, kind));
            let by_others = by_others.get(&kind);
            if latest.is_empty() && same.is_empty() && by_others.is_none() {
                continue;
            }
            let model = models.get(&kind);
            let settings_of_latest = &all[..all.len().min(most)];
            let known = KnownRuns { latest: &latest, same: &same, settings_of_latest, model };
            let foreseen = known.foresee(&given, &settings.recurring());
            let by_others = by_others.filter(|_| foreseen.prediction.is_err());
            let by_others = by_others.map(|plan| plan.with_runs(&latest).with_runs(&same));
            let counters = &self.shared.counters;
            count(match (&foreseen.prediction, foreseen.way, &by_others) {
                (Err(_), _, Some(_)) => &counters.foreseen_by_others,
                (Err(_), _, None) => &counters.foreseen_by_request,
                (Ok(_), Way::Model, _) => &counters.foreseen_by_settings,
                (Ok(_), ..) => &counters.foreseen_by_runs,
            });
            let made = foreseen.made(model, &given);
            let (predicted, made, bound) = match (foreseen.prediction, by_others) {
                (Ok(prediction), _) => {
                    let predicted = predicted(&prediction, &settings, &profile);
                    let predicted = predicted.inspect_err(|error| {
                        log::error!(
                            "containers of {id} are planned at their requests, since the \
                             prediction cannot be used: {error}"
                        );
                    });
                    (predicted.ok(), made, Some(prediction.demand_to_keep()))
                }
                (Err(_), Some(plan)) => {
                    (Some(plan.predicted()), plan.made(made), Some(plan.demand))
                }
                (Err(_), None) => (None, made, None),
            };
            (self.on_prediction)(application, kind, predicted);
            records.push(PredictionRecord {
                application_id: id.clone(),
                application_key: key.clone(),
                kind,
                made_ms: now_ms,
                made,
                bound,
                outcome: None,
            });
        }
        Ok(records)
    }
}

/// Adds to the predictions of a run how accurate they were. Only a run that succeeded shows that.
pub(super) fn score_predictions(depository: &mut Depository, run: &Run) -> Result<(), StoreError> {
    if run.outcome != Outcome::Succeeded {
        return Ok(());
    }
    let id = &run.application_id;
    for prediction in depository.predictions_of_run(id)? {
        let used = run.used(prediction.kind);
        if let (Some(bound), Ok(Some(used))) = (prediction.bound, used) {
            let outcome = prediction_outcome(&bound, &used);
            depository.complete_prediction(id, prediction.kind, &outcome)?;
        }
    }
    Ok(())
}

/// The demand of a prediction, packed and unpacked as a profile's is: where both agree, the waiting
/// application keeps the demand that it has.
fn predicted(
    prediction: &Prediction,
    settings: &ProfileSettings,
    profile: &Arc<str>,
) -> Result<Predicted, PackError> {
    Ok(Predicted {
        demand: PackedDemand::pack(&prediction.demand)?.unpack()?,
        margin: settings.margin_at(prediction.confidence),
        basis: Basis::Profile(Arc::clone(profile)),
        stage_ends: prediction.stage_ends.clone(),
    })
}
