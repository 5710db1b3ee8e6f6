//! Predictions of the containers of submitted applications.

use std::sync::Arc;

use elastane_core::cluster::{ApplicationId, Predicted};
use elastane_predict::{
    Earlier, LOOKED_THROUGH, Planned, Prediction, ProfileSettings, foresee, prediction_outcome,
};
use elastane_runs::{ContainerKind, Outcome, Run, RunSettings, SubmissionRecord, kinds};
use elastane_store::{Depository, PackError, PredictionRecord, StoreError};

use super::packed_profile::PackedPlan;
use super::profiles::latest_runs;
use super::{Shared, models};

/// Takes the prediction of an application's containers of one kind; none is the request.
pub(crate) type OnPrediction = Box<dyn Fn(ApplicationId, ContainerKind, Option<Predicted>) + Send>;

/// A submitted application, with the settings that are known of it.
pub(super) struct Given<'a> {
    application: ApplicationId,
    application_id: &'a str,
    key: &'a str,
    settings: RunSettings,
    now_ms: i64,
}

impl<'a> Given<'a> {
    pub(super) fn new(
        application: ApplicationId,
        submission: &'a SubmissionRecord,
        now_ms: i64,
    ) -> Self {
        Self {
            application,
            application_id: &submission.application_id,
            key: &submission.application_key,
            settings: RunSettings(submission.settings.clone()),
            now_ms,
        }
    }
}

pub(super) struct Predictor {
    shared: Arc<Shared>,
    on_prediction: OnPrediction,
}

impl Predictor {
    pub(super) fn new(shared: Arc<Shared>, on_prediction: OnPrediction) -> Self {
        Self {
            shared,
            on_prediction,
        }
    }

    /// Predicts the wanted kinds of containers that earlier runs had, and hands the predictions to
    /// the core. Other kinds are planned by their request.
    pub(super) fn predict(
        &self,
        depository: &Depository,
        given: &Given<'_>,
        is_wanted: fn(ContainerKind) -> bool,
    ) -> Result<Vec<PredictionRecord>, StoreError> {
        let all = depository.latest_settings(given.key, LOOKED_THROUGH)?;
        let settings = self.shared.profiles.settings();
        let most = settings.runs_looked_at();
        let latest = latest_runs(depository, &all, None, most)?;
        let same = latest_runs(depository, &all, Some(&given.settings), most)?;
        let profile: Arc<str> = given.key.into();
        let mut records = Vec::new();
        let known = kinds(latest.iter().chain(&same).map(|given| &given.run));
        for kind in known.into_iter().filter(|kind| is_wanted(*kind)) {
            let model = models::model(depository, given.key, kind)?;
            let earlier = Earlier {
                latest: &latest,
                same: &same,
                model: model.as_ref(),
            };
            let recurring = settings.recurring();
            let Some(foreseen) = foresee(kind, earlier, &given.settings, &recurring) else {
                continue;
            };
            self.shared.counters.foreseen(&foreseen);
            let predicted = foreseen.prediction.as_ref().ok().and_then(|prediction| {
                let id = given.application_id;
                predicted(prediction, &settings, &profile)
                    .inspect_err(|error| log::error!("requests of {id} are planned by: {error}"))
                    .ok()
            });
            (self.on_prediction)(given.application, kind, predicted);
            records.push(PredictionRecord {
                application_id: given.application_id.to_owned(),
                application_key: given.key.to_owned(),
                kind,
                made_ms: given.now_ms,
                made: foreseen.made(model.as_ref(), &given.settings),
                bound: foreseen.prediction.ok().map(|it| it.demand_to_keep()),
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
    PackedPlan::new(&Planned::of(prediction, settings))?.unpack(profile)
}
