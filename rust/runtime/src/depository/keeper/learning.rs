//! Profiles and models from runs that ended.

use elastane_runs::Run;
use elastane_store::StoreError;

use super::Keeper;
use crate::depository::models::{self, Trained};
use crate::depository::predictor::score_predictions;
use crate::journal::{JournalEvent, Record};

impl Keeper {
    pub(super) fn learn(&mut self, saved: Vec<Run>) {
        for run in saved {
            let learned = self.learn_from(&run);
            self.tell(&format!("nothing is learned from the run {}", run.application_id), learned);
        }
    }

    fn learn_from(&mut self, run: &Run) -> Result<(), StoreError> {
        score_predictions(&mut self.depository, run)?;
        let key = &run.application_key;
        self.shared.profiles.make(&self.depository, key)?;
        self.to_train.insert(key.clone());
        let event = JournalEvent::Learned {
            application: run.application_id.clone(),
            profile: key.clone(),
            outcome: run.outcome,
            runs: self.shared.profiles.cache.lock().runs_of(key),
        };
        // The cluster no longer knows the application.
        let queue = self.decisions.latest_queue_of(&run.application_id);
        self.decisions.record(Record { time_ms: self.ended_ms, queue, event });
        Ok(())
    }

    pub(super) fn make_profile(&mut self, key: String) {
        // Damage in one application's runs does not keep the others from their profiles.
        let made = self.shared.profiles.make(&self.depository, &key);
        self.tell(&format!("the profile {key} is not made"), made);
        self.to_train.insert(key);
    }

    pub(super) fn trained(&mut self, trained: Trained) {
        self.trainer.done();
        let saved = models::save(&mut self.depository, &trained, &self.shared.counters)
            // The models decide which runs make the profile.
            .and_then(|()| self.shared.profiles.make(&self.depository, &trained.key));
        self.tell(&format!("the models of {} are not saved", trained.key), saved);
    }
}
