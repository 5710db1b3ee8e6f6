//! The learner's thread.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use elastane_predict::{Outcome, ProfileSettings, Run};
use elastane_store::{Depository, PredictionOutcome, SaveQueue, Saved, StoreError};

use super::running::Running;
use super::{Counts, Foreseen, Profiles, Work};
use crate::journal::Record;
use crate::renewal;
use crate::writer::JournalWriter;

/// So many runs wait while the depository cannot be written: 50 MB of runs of half an hour.
const MOST_WAITING: usize = 1_000;

pub(super) struct Keeper {
    pub(super) depository: Depository,
    pub(super) settings: ProfileSettings,
    journal: Arc<JournalWriter>,
    pub(super) profiles: Profiles,
    pub(super) foreseen: Foreseen,
    pub(super) counts: Arc<Counts>,
    pub(super) running: Running,
    queue: SaveQueue,
    /// When the latest run ended.
    ended_ms: i64,
    /// Applications whose models may be out of date.
    to_train: BTreeSet<String>,
}

impl Keeper {
    pub(super) fn new(
        depository: Depository,
        settings: ProfileSettings,
        journal: Arc<JournalWriter>,
        profiles: Profiles,
        foreseen: Foreseen,
    ) -> Self {
        Self {
            depository,
            settings,
            journal,
            profiles,
            foreseen,
            counts: Arc::default(),
            running: Running::default(),
            queue: SaveQueue::new(MOST_WAITING),
            ended_ms: 0,
            to_train: BTreeSet::new(),
        }
    }

    /// Does what is asked until nobody can ask any more. In between it makes the profiles of these
    /// applications, and then trains what is to be trained, one at a time: what is asked waits for
    /// no more than that.
    pub(super) fn work(mut self, profiles_to_make: Vec<String>, work: &Receiver<Work>) {
        self.work_until_the_end(profiles_to_make, work);
        // By now there may be room for those that wait.
        let saved = self.queue.save_waiting(&mut self.depository);
        self.learn(saved);
    }

    fn work_until_the_end(&mut self, profiles_to_make: Vec<String>, work: &Receiver<Work>) {
        let mut to_make = VecDeque::from(profiles_to_make);
        let known: Vec<String> = self.profiles.read().keys().cloned().collect();
        self.to_train.extend(known);
        loop {
            match work.try_recv() {
                Ok(work) => {
                    to_make.extend(self.take(work));
                    continue;
                }
                // What is not trained is trained by the next process.
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            if let Some(key) = to_make.pop_front() {
                let made = self.make_profile(&key);
                self.tell(&format!("the profile {key} is not made"), made);
                self.to_train.insert(key);
            } else if let Some(key) = self.to_train.pop_first() {
                let trained = self.train_if_due(&key);
                self.tell(&format!("the settings of {key} are not learned"), trained);
            } else {
                match work.recv() {
                    Ok(work) => to_make.extend(self.take(work)),
                    Err(_) => return,
                }
            }
        }
    }

    /// Gives the applications whose profiles are to be made anew.
    fn take(&mut self, work: Work) -> Vec<String> {
        self.follow();
        match work {
            Work::Share(share) => return self.share(share),
            Work::Submitted(submitted) => {
                let id = submitted.record.application_id.clone();
                let kept = self.submitted(*submitted);
                self.tell(&format!("what is predicted of {id} is not kept"), kept);
            }
            Work::Asked(asked) => {
                let id = asked.application_id.clone();
                let kept = self.asked(*asked);
                self.tell(&format!("what {id} asked for is not kept"), kept);
            }
            Work::Ended(run, now_ms) => {
                self.ended_ms = now_ms;
                let unsaved = self.running.end(*run);
                let saved = self.queue.save(&mut self.depository, unsaved);
                self.learn(saved);
            }
        }
        self.save_what_waits();
        Vec::new()
    }

    /// Goes over to a file that another thread began.
    fn follow(&mut self) {
        match renewal::follow(&mut self.depository) {
            Ok(true) => self.running.begin_anew(),
            Ok(false) => {}
            Err(error) => log::error!("the new depository is not used: {error}"),
        }
    }

    pub(super) fn save_what_waits(&mut self) {
        let saved = self.running.save(&mut self.depository);
        let Err(error) = saved else { return };
        self.running.tell(&error);
        if self.begin_anew_after(&error)
            && let Err(error) = self.running.save(&mut self.depository)
        {
            self.running.tell(&error);
        }
    }

    /// Whether there is another file after this error.
    fn begin_anew_after(&mut self, error: &StoreError) -> bool {
        if !matches!(error, StoreError::Damaged { .. }) {
            return false;
        }
        match renewal::begin_anew(&mut self.depository) {
            Ok(true) => {
                self.running.begin_anew();
                true
            }
            Ok(false) => false,
            Err(error) => {
                log::error!("the damaged depository stays where it is: {error}");
                false
            }
        }
    }

    fn learn(&mut self, saved: Saved) {
        renewal::tell(self.depository.path(), saved.moved_aside.as_deref());
        if saved.is_another {
            self.running.begin_anew();
        }
        for run in saved.saved {
            let learned = self.learn_from(&run);
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

    pub(super) fn tell(&mut self, what: &str, done: Result<(), StoreError>) {
        if let Err(error) = done {
            log::error!("{what}: {error}");
            self.begin_anew_after(&error);
        }
    }

    fn learn_from(&mut self, run: &Run) -> Result<(), StoreError> {
        self.score_predictions(run)?;
        let key = &run.application_key;
        self.make_profile(key)?;
        self.to_train.insert(key.clone());
        let known = self.profiles.read().get(key).cloned();
        let runs = known.map_or(0, |it| it.runs);
        self.journal.write(Record::Learned {
            time_ms: self.ended_ms,
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

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::CutOff => "cut-off",
    }
}
