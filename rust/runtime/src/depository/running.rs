//! Submissions and predictions of running applications. Those that could not be saved wait, and go
//! with their run at the latest: a run without its submission would count as one without settings.

use std::collections::{BTreeMap, BTreeSet};

use elastane_core::cluster::ApplicationId;
use elastane_runs::{AT_FIRST_ASK, Run, RunSettings, SubmissionRecord};
use elastane_store::{Depository, PredictionRecord, StoreError, Unsaved};

use super::outage::Outage;

/// Predictions that wait while the depository cannot be written: 20 MB of runs of half an hour.
const MOST_PREDICTIONS: usize = 1_000;

pub(super) struct RunningApplications {
    /// By YARN's id.
    applications: BTreeMap<String, RunningApplication>,
    /// Those that runs from another depository may change.
    to_predict: BTreeSet<String>,
    pub(super) outage: Outage,
}

struct RunningApplication {
    /// The core's id.
    application: ApplicationId,
    submission: SubmissionRecord,
    is_saved: bool,
    /// Predictions that wait to be written.
    predictions: Vec<PredictionRecord>,
}

impl RunningApplications {
    pub(super) fn new() -> Self {
        let outage = Outage::new("submissions and predictions");
        Self { applications: BTreeMap::new(), to_predict: BTreeSet::new(), outage }
    }

    /// Adds the settings of the first ask to a submission; none where it has them already.
    pub(super) fn complete(&mut self, id: &str, asked: &RunSettings) -> Option<SubmissionRecord> {
        let application = self.applications.get_mut(id)?;
        let settings = &mut application.submission.settings;
        if AT_FIRST_ASK.iter().any(|name| settings.contains_key(*name)) {
            return None;
        }
        settings.extend(asked.0.clone());
        application.is_saved = false;
        Some(application.submission.clone())
    }

    /// An application that runs; whether its submission is saved already.
    pub(super) fn add(
        &mut self,
        application: ApplicationId,
        submission: SubmissionRecord,
        is_saved: bool,
    ) {
        let id = submission.application_id.clone();
        let former = self.applications.remove(&id);
        let application = RunningApplication {
            application,
            submission,
            is_saved,
            predictions: former.map_or_else(Vec::new, |former| former.predictions),
        };
        self.applications.insert(id, application);
    }

    /// Runs of applications with these keys came from another depository: after a failover YARN recovers applications before
    /// the other ResourceManager's copy is taken over.
    pub(super) fn runs_came(&mut self, keys: &[String]) {
        let keys: BTreeSet<&String> = keys.iter().collect();
        let running = self.applications.iter();
        let with_key = running.filter(|(_, it)| keys.contains(&it.submission.application_key));
        self.to_predict.extend(with_key.map(|(id, _)| id.clone()));
    }

    /// The next application that is to be predicted again. Its saved predictions stay.
    pub(super) fn next_to_predict(&mut self) -> Option<(ApplicationId, SubmissionRecord)> {
        while let Some(id) = self.to_predict.pop_first() {
            // Others have ended meanwhile.
            if let Some(it) = self.applications.get(&id) {
                return Some((it.application, it.submission.clone()));
            }
        }
        None
    }

    /// Saves predictions, or keeps them for later while an error may pass.
    pub(super) fn save_predictions(
        &mut self,
        depository: &mut Depository,
        predictions: Vec<PredictionRecord>,
    ) -> Result<(), StoreError> {
        for prediction in predictions {
            let saved = depository.save_prediction(&prediction);
            match saved {
                Err(error) if error.may_pass() && self.keep(prediction) => {
                    self.outage.tell(&Err(error));
                }
                saved => saved?,
            }
        }
        Ok(())
    }

    /// Keeps a prediction that could not be saved. False where too many wait, or its application does
    /// not run.
    pub(super) fn keep(&mut self, prediction: PredictionRecord) -> bool {
        let waiting = self.applications.values().map(|it| it.predictions.len());
        let is_full = waiting.sum::<usize>() >= MOST_PREDICTIONS;
        match self.applications.get_mut(&prediction.application_id) {
            Some(application) if !is_full => application.predictions.push(prediction),
            _ => return false,
        }
        true
    }

    /// The file is a new one and has none of the submissions.
    pub(super) fn begin_anew(&mut self) {
        for application in self.applications.values_mut() {
            application.is_saved = false;
        }
    }

    /// The file is another one, and has neither submissions nor predictions.
    pub(super) fn begin_anew_from(&mut self, former: &Depository) -> Result<(), StoreError> {
        self.begin_anew();
        let ids: Vec<String> = self.applications.keys().cloned().collect();
        for id in ids {
            for prediction in former.predictions_of_run(&id)? {
                self.keep(prediction);
            }
        }
        Ok(())
    }

    /// The run has ended; its submission and the predictions that wait are saved with it.
    pub(super) fn end(&mut self, run: Run) -> Unsaved {
        let Some(application) = self.applications.remove(&run.application_id) else {
            return run.into();
        };
        Unsaved {
            run,
            // Once more: the file may be a new one.
            submission: Some(application.submission),
            predictions: application.predictions,
        }
    }

    /// Saves everything that waits, until the first error.
    pub(super) fn save(&mut self, depository: &mut Depository) -> Result<(), StoreError> {
        for application in self.applications.values_mut() {
            if !application.is_saved {
                depository.save_submission(&application.submission)?;
                application.is_saved = true;
            }
            while let Some(prediction) = application.predictions.last() {
                depository.save_prediction(prediction)?;
                application.predictions.pop();
            }
        }
        Ok(())
    }
}
