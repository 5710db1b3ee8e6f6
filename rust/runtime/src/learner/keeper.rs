//! The learner's thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use elastane_predict::{
    Exclusion, NotUsed, Outcome, Profile, ProfileSettings, Run, outlooks, profile,
};
use elastane_store::{
    Depository, PredictionMade, PredictionOutcome, PredictionRecord, SaveQueue, Saved, StoreError,
};

use super::{Profiles, Work};
use crate::journal::Record;
use crate::writer::JournalWriter;

/// So many runs wait while the depository cannot be written: 50 MB of runs of half an hour.
const MOST_WAITING: usize = 1_000;

pub(super) struct Keeper {
    depository: Depository,
    settings: ProfileSettings,
    journal: Arc<JournalWriter>,
    profiles: Profiles,
    queue: SaveQueue,
}

impl Keeper {
    pub(super) fn new(
        depository: Depository,
        settings: ProfileSettings,
        journal: Arc<JournalWriter>,
        profiles: Profiles,
    ) -> Self {
        Self {
            depository,
            settings,
            journal,
            profiles,
            queue: SaveQueue::new(MOST_WAITING),
        }
    }

    /// Does what is asked until nobody can ask any more, and makes the profiles of these
    /// applications in between.
    pub(super) fn work(mut self, profiles_to_make: Vec<String>, work: &Receiver<Work>) {
        for key in profiles_to_make {
            loop {
                match work.try_recv() {
                    Ok(work) => self.take(work),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            let made = self.make_profile(&key);
            self.tell(&format!("the profile {key} is not made"), made);
        }
        while let Ok(work) = work.recv() {
            self.take(work);
        }
    }

    fn take(&mut self, work: Work) {
        match work {
            Work::Begun { id, key, now_ms } => {
                let kept = self.predict(&id, &key, now_ms);
                self.tell(&format!("what is predicted of {id} is not kept"), kept);
            }
            Work::Ended(run, now_ms) => {
                let saved = self.queue.save(&mut self.depository, *run);
                self.learn(saved, now_ms);
            }
        }
    }

    fn learn(&mut self, saved: Saved, now_ms: i64) {
        if let Some(aside) = saved.moved_aside {
            log::error!(
                "the depository was damaged and is now {}; learning begins anew",
                aside.display()
            );
        }
        for run in saved.saved {
            let learned = self.learn_from(&run, now_ms);
            let id = &run.application_id;
            self.tell(&format!("nothing is learned from the run {id}"), learned);
        }
        for (run, error) in saved.lost {
            log::error!("the run {} is lost: {error}", run.application_id);
        }
        if let Some(error) = saved.waits_for {
            let runs = self.queue.waiting();
            log::error!("{runs} runs wait to be saved, scheduling goes on: {error}");
        }
    }

    pub(super) fn tell(&self, what: &str, done: Result<(), StoreError>) {
        if let Err(error) = done {
            log::error!("{what}: {error}");
        }
    }

    /// From what the depository holds.
    pub(super) fn make_profile(&mut self, key: &str) -> Result<(), StoreError> {
        let runs = self.looked_at(key)?;
        if let Some(profile) = profile(key, &runs, &self.settings) {
            tell_left_out(&profile);
            let mut profiles = self.profiles.write();
            profiles.insert(key.to_owned(), Arc::new(profile));
        }
        Ok(())
    }

    fn looked_at(&self, key: &str) -> Result<Vec<Run>, StoreError> {
        let runs = self.settings.runs_looked_at();
        self.depository.latest_succeeded_runs(key, runs)
    }

    fn predict(&mut self, id: &str, key: &str, now_ms: i64) -> Result<(), StoreError> {
        let runs = self.looked_at(key)?;
        for (kind, outlook) in outlooks(&runs, &self.settings).kinds {
            self.depository.save_prediction(&PredictionRecord {
                application_id: id.to_owned(),
                application_key: key.to_owned(),
                kind,
                made_ms: now_ms,
                bound: outlook
                    .prediction
                    .as_ref()
                    .ok()
                    .map(|it| it.envelope.clone()),
                made: PredictionMade::recurring(&outlook),
                outcome: None,
            })?;
        }
        Ok(())
    }

    fn learn_from(&mut self, run: &Run, now_ms: i64) -> Result<(), StoreError> {
        self.score_predictions(run)?;
        let key = &run.application_key;
        self.make_profile(key)?;
        let runs = self.profiles.read().get(key).map_or(0, |it| it.runs());
        self.journal.write(Record::Learned {
            time_ms: now_ms,
            application: run.application_id.clone(),
            profile: key.clone(),
            outcome: outcome_name(run.outcome),
            runs,
        });
        Ok(())
    }

    /// A run that failed or was not seen from beginning to end says nothing of its prediction.
    fn score_predictions(&mut self, run: &Run) -> Result<(), StoreError> {
        if run.outcome != Outcome::Succeeded {
            return Ok(());
        }
        let id = &run.application_id;
        for prediction in self.depository.predictions_of_run(id)? {
            let used = run.used(prediction.kind);
            if let (Some(bound), Ok(Some(used))) = (prediction.bound, used) {
                let outcome = PredictionOutcome::of(&bound, &used);
                self.depository
                    .complete_prediction(id, prediction.kind, &outcome)?;
            }
        }
        Ok(())
    }
}

fn tell_left_out(profile: &Profile) {
    for left_out in &profile.left_out {
        if left_out.reason == NotUsed::Excluded(Exclusion::Old) {
            continue;
        }
        let (run, reason) = (&left_out.application_id, &left_out.reason);
        let kind = left_out.kind.name();
        log::info!(
            "the {kind} of the run {run} is not part of the profile {}: {reason}",
            profile.key
        );
    }
}

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::CutOff => "cut-off",
    }
}
