//! Submissions and predictions of running applications. Those that could not be saved wait, and go
//! with their run at the latest: a run without its submission would count as one without settings.

use std::collections::{BTreeSet, HashMap};

use elastane_runs::{AT_FIRST_ASK, Run, RunSettings, SubmissionRecord};
use elastane_store::{Depository, PredictionRecord, StoreError, Unsaved};

/// Predictions that wait while the depository cannot be written: 20 MB of runs of half an hour.
const MOST_PREDICTIONS: usize = 1_000;

/// The applications that run, by YARN's id.
#[derive(Default)]
pub(super) struct Running {
    applications: HashMap<String, Application>,
    /// Those with a submission or a prediction that waits.
    unsaved: BTreeSet<String>,
    predictions: usize,
    is_waiting: bool,
}

struct Application {
    submission: SubmissionRecord,
    is_saved: bool,
    /// Those that wait.
    predictions: Vec<PredictionRecord>,
}

impl Running {
    /// Adds the settings of the first ask to a submission; none where it has them already.
    pub(super) fn complete(&mut self, id: &str, asked: &RunSettings) -> Option<SubmissionRecord> {
        let application = self.applications.get_mut(id)?;
        let settings = &mut application.submission.settings;
        if AT_FIRST_ASK.iter().any(|name| settings.contains_key(*name)) {
            return None;
        }
        settings.extend(asked.0.clone());
        application.is_saved = false;
        self.unsaved.insert(id.to_owned());
        Some(application.submission.clone())
    }

    /// An application that runs; whether its submission is saved already.
    pub(super) fn add(&mut self, submission: SubmissionRecord, is_saved: bool) {
        let id = submission.application_id.clone();
        if !is_saved {
            self.unsaved.insert(id.clone());
        }
        let former = self.applications.remove(&id);
        let application = Application {
            submission,
            is_saved,
            predictions: former.map_or_else(Vec::new, |former| former.predictions),
        };
        self.applications.insert(id, application);
    }

    /// Keeps a prediction that could not be saved. False where too many wait, or its application does
    /// not run.
    pub(super) fn keep(&mut self, prediction: PredictionRecord) -> bool {
        let id = &prediction.application_id;
        let Some(application) = self.applications.get_mut(id) else {
            return false;
        };
        if self.predictions >= MOST_PREDICTIONS {
            return false;
        }
        self.unsaved.insert(id.clone());
        self.predictions += 1;
        application.predictions.push(prediction);
        true
    }

    /// The file is a new one and has none of the submissions.
    pub(super) fn begin_anew(&mut self) {
        for (id, application) in &mut self.applications {
            application.is_saved = false;
            self.unsaved.insert(id.clone());
        }
    }

    /// The run has ended; its submission and the predictions that wait are saved with it.
    pub(super) fn end(&mut self, run: Run) -> Unsaved {
        let id = &run.application_id;
        self.unsaved.remove(id);
        let Some(application) = self.applications.remove(id) else {
            return run.into();
        };
        self.predictions -= application.predictions.len();
        Unsaved {
            run,
            // Once more: the file may be a new one.
            submission: Some(application.submission),
            predictions: application.predictions,
        }
    }

    /// Saves everything that waits, until the first error.
    pub(super) fn save(&mut self, depository: &mut Depository) -> Result<(), StoreError> {
        while let Some(id) = self.unsaved.first().cloned() {
            if let Some(application) = self.applications.get_mut(&id) {
                if !application.is_saved {
                    depository.save_submission(&application.submission)?;
                    application.is_saved = true;
                }
                while let Some(prediction) = application.predictions.last() {
                    depository.save_prediction(prediction)?;
                    application.predictions.pop();
                    self.predictions -= 1;
                }
            }
            self.unsaved.remove(&id);
        }
        if std::mem::take(&mut self.is_waiting) {
            log::warn!("what is submitted and predicted is saved again");
        }
        Ok(())
    }

    /// Logs the first failure.
    pub(super) fn tell(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.is_waiting, true) {
            log::error!(
                "what is submitted and predicted waits to be saved, scheduling goes on: {error}"
            );
        }
    }
}
