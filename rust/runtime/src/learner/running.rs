//! What was submitted and predicted of applications that run: what could not be saved waits, and goes
//! with the run at the latest. A run without it would count as one that was given nothing.

use std::collections::{BTreeSet, HashMap};

use elastane_predict::Run;
use elastane_store::{Depository, PredictionRecord, StoreError, SubmissionRecord, Unsaved};

/// So many predictions wait while the depository cannot be written: 20 MB of runs of half an hour.
const MOST_PREDICTIONS: usize = 1_000;

/// The applications that run, by YARN's id.
#[derive(Default)]
pub(super) struct Running {
    applications: HashMap<String, Application>,
    /// Of these something waits.
    unsaved: BTreeSet<String>,
    predictions: usize,
    is_waiting: bool,
}

struct Application {
    submission: SubmissionRecord,
    is_saved: bool,
    /// What waits of them.
    predictions: Vec<PredictionRecord>,
}

impl Running {
    /// What was submitted, as far as it is known by now.
    pub(super) fn submission(&self, id: &str) -> Option<SubmissionRecord> {
        let application = self.applications.get(id)?;
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

    /// A prediction that could not be saved. False where too many wait, or its application does not
    /// run.
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

    /// Nothing is saved: the file is a new one.
    pub(super) fn begin_anew(&mut self) {
        for (id, application) in &mut self.applications {
            application.is_saved = false;
            self.unsaved.insert(id.clone());
        }
    }

    /// The run has ended: it is saved together with what waits.
    pub(super) fn end(&mut self, run: Run) -> Unsaved {
        let id = &run.application_id;
        self.unsaved.remove(id);
        let Some(application) = self.applications.remove(id) else {
            return run.into();
        };
        self.predictions -= application.predictions.len();
        Unsaved {
            run,
            // Once more, for the file may be another one since.
            submission: Some(application.submission),
            predictions: application.predictions,
        }
    }

    /// Tries what waits once more, until something fails.
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

    /// Says once that it waits.
    pub(super) fn tell(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.is_waiting, true) {
            log::error!(
                "what is submitted and predicted waits to be saved, scheduling goes on: {error}"
            );
        }
    }
}
