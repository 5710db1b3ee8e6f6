//! The depository's thread.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use elastane_runs::{Run, RunEvent};
use elastane_store::{Depository, PredictionRecord, Retention, SaveQueue, Saved, StoreError};

use super::checkpoints::{Checkpoint, Checkpoints};
use super::predictor::{Given, OnPrediction, Predictor, score_predictions};
use super::retention::Pruner;
use super::running::Running;
use super::sharing::{Step, TakeOver};
use super::trainer::{Trained, Trainer, due_job};
use super::{Shared, Work, models};
use crate::elastane::OpenError;
use crate::journal::Record;
use crate::service::{Asked, Submitted};
use crate::writer::JournalWriter;

/// Runs that wait while the depository cannot be written: 50 MB of runs of half an hour.
const MOST_WAITING: usize = 1_000;

/// The profiles of the applications that ran last are made before the first heartbeat, those of the
/// others in the background. A profile takes some 6 ms, with runs of half an hour 30 ms.
const PROFILES_AT_ONCE: usize = 200;

pub(super) struct Keeper {
    depository: Depository,
    journal: Arc<JournalWriter>,
    shared: Arc<Shared>,
    predictor: Predictor,
    trainer: Trainer,
    checkpoints: Checkpoints,
    running: Running,
    queue: SaveQueue,
    pruner: Pruner,
    /// Work that was asked for, in its order.
    asked: VecDeque<Work>,
    taking_over: VecDeque<Box<TakeOver>>,
    profiles_to_make: VecDeque<String>,
    /// Applications whose models may be out of date.
    to_train: BTreeSet<String>,
    /// When the latest run ended.
    ended_ms: i64,
}

impl Keeper {
    pub(super) fn open(
        depository: Depository,
        retention: Retention,
        journal: Arc<JournalWriter>,
        shared: Arc<Shared>,
        on_prediction: OnPrediction,
        trained: Sender<Work>,
    ) -> Result<Self, OpenError> {
        let mut keys = latest_first(&depository)?;
        let later = keys.split_off(keys.len().min(PROFILES_AT_ONCE));
        let mut keeper = Self {
            predictor: Predictor::new(Arc::clone(&shared), on_prediction),
            trainer: Trainer::open(trained).map_err(OpenError::Thread)?,
            pruner: Pruner::new(retention),
            depository,
            journal,
            checkpoints: Checkpoints::new(Arc::clone(&shared)),
            shared,
            running: Running::default(),
            queue: SaveQueue::new(MOST_WAITING),
            asked: VecDeque::new(),
            taking_over: VecDeque::new(),
            profiles_to_make: later.into(),
            to_train: BTreeSet::new(),
            ended_ms: 0,
        };
        for key in keys {
            keeper.make_profile(key);
        }
        Ok(keeper)
    }

    /// Works until [`Work::Close`]. A checkpoint goes before all other work, and work that was asked for
    /// before background work; each step is short.
    pub(super) fn work(mut self, work: &Receiver<Work>) -> Self {
        let mut is_closing = false;
        loop {
            while let Ok(work) = work.try_recv() {
                is_closing |= self.take(work);
            }
            if is_closing && !self.has_asked() {
                break;
            }
            if !self.take_step() {
                match work.recv() {
                    Ok(work) => is_closing |= self.take(work),
                    Err(_) => break,
                }
            }
        }
        self.trainer.close();
        for work in work.try_iter() {
            if let Work::Trained(trained) = work {
                self.trained(trained);
            }
        }
        self
    }

    /// Saves the rest, once the thread has ended.
    pub(super) fn close(
        mut self,
        whole: impl FnOnce() -> Vec<RunEvent>,
        ended: impl FnOnce() -> Vec<Run>,
        now_ms: i64,
    ) {
        if self.checkpoints.lack_whole() {
            self.checkpoint(Checkpoint::whole(whole(), now_ms));
        }
        for run in ended() {
            self.ended(run.ended_ms, run);
        }
        // There may be room by now for the runs that wait.
        let saved = self.queue.save_waiting(&mut self.depository);
        self.saved(saved);
    }

    /// True where the thread is to end.
    fn take(&mut self, work: Work) -> bool {
        match work {
            Work::Checkpoint(checkpoint) => self.checkpoint(checkpoint),
            Work::Prune { now_ms } => self.pruner.start(now_ms),
            Work::Close => return true,
            asked => self.asked.push_back(asked),
        }
        false
    }

    /// Whether something is unfinished that somebody asked for.
    fn has_asked(&self) -> bool {
        !self.asked.is_empty() || !self.taking_over.is_empty() || self.pruner.is_pruning()
    }

    /// False where nothing is to do.
    fn take_step(&mut self) -> bool {
        if let Some(work) = self.asked.pop_front() {
            self.answer(work);
        } else if let Some(take_over) = self.taking_over.pop_front() {
            self.take_over(take_over);
        } else if self.pruner.is_pruning() {
            let pruned = self.pruner.step(&mut self.depository);
            self.tell(
                "old runs are not removed; the next attempt is in an hour",
                pruned,
            );
        } else if let Some(key) = self.profiles_to_make.pop_front() {
            self.make_profile(key);
        } else if self.trainer.is_idle()
            && let Some(key) = self.to_train.pop_first()
        {
            let job = due_job(&self.depository, &key, &self.shared.profiles.settings());
            let sent = job.map(|job| job.into_iter().for_each(|job| self.trainer.send(job)));
            self.tell(&format!("no model of {key} is trained"), sent);
        } else {
            return false;
        }
        true
    }

    fn answer(&mut self, work: Work) {
        match work {
            Work::Submitted(submitted) => {
                let id = submitted.record.application_id.clone();
                let predicted = self.submitted(*submitted);
                self.tell(&format!("the prediction of {id} is not saved"), predicted);
            }
            Work::Asked(asked) => {
                let id = asked.application_id.clone();
                let predicted = self.asked(*asked);
                self.tell(&format!("the prediction of {id} is not saved"), predicted);
            }
            Work::Ended(run, now_ms) => self.ended(now_ms, *run),
            Work::Trained(trained) => self.trained(trained),
            // Whoever waited may be gone.
            Work::Flush(done) => drop(done.send(())),
            Work::TakeOver(take_over) => self.taking_over.push_back(take_over),
            Work::Checkpoint(_) | Work::Prune { .. } | Work::Close => {}
        }
        self.save_what_waits();
    }

    fn submitted(&mut self, submitted: Submitted) -> Result<(), StoreError> {
        let Submitted {
            application,
            record,
            is_new,
        } = submitted;
        let stored = if is_new {
            None
        } else {
            self.depository.submission(&record.application_id)?
        };
        let (now_ms, is_saved) = (record.submitted_ms, stored.is_some());
        let submission = stored.unwrap_or(record);
        self.running.add(submission.clone(), is_saved);
        // A submission that cannot be saved is predicted all the same.
        self.save_what_waits();
        let given = Given::new(application, &submission, now_ms);
        let predictions = self.predictor.predict(&self.depository, &given, |_| true)?;
        // An earlier process saved the prediction of an application that is not new.
        if is_new {
            self.save_predictions(predictions)
        } else {
            Ok(())
        }
    }

    fn asked(&mut self, asked: Asked) -> Result<(), StoreError> {
        let id = &asked.application_id;
        // The first ask of an application that an earlier process knew is saved already.
        let Some(submission) = self.running.complete(id, &asked.settings) else {
            return Ok(());
        };
        self.save_what_waits();
        let given = Given::new(asked.application, &submission, asked.now_ms);
        let predictions = self.predictor.predict(&self.depository, &given, |kind| {
            !kind.is_application_master()
        })?;
        self.save_predictions(predictions)
    }

    fn save_predictions(&mut self, predictions: Vec<PredictionRecord>) -> Result<(), StoreError> {
        for prediction in predictions {
            match self.depository.save_prediction(&prediction) {
                Err(error) if error.may_pass() => {
                    self.running.tell(&error);
                    if !self.running.keep(prediction) {
                        return Err(error);
                    }
                }
                saved => saved?,
            }
        }
        Ok(())
    }

    fn ended(&mut self, now_ms: i64, run: Run) {
        self.ended_ms = now_ms;
        let unsaved = self.running.end(run);
        let saved = self.queue.save(&mut self.depository, unsaved);
        self.saved(saved);
    }

    fn saved(&mut self, mut saved: Saved) {
        let error = saved
            .waits_for
            .take_if(|error| self.begin_anew_after(error));
        if error.is_some() {
            self.learn(saved);
            saved = self.queue.save_waiting(&mut self.depository);
        }
        self.learn(saved);
    }

    fn learn(&mut self, saved: Saved) {
        for run in saved.saved {
            let learned = self.learn_from(&run);
            self.tell(
                &format!("nothing is learned from the run {}", run.application_id),
                learned,
            );
        }
        for (run, error) in saved.lost {
            log::error!("the run {} is lost: {error}", run.application_id);
        }
        if let Some(error) = saved.waits_for {
            let runs = self.queue.waiting();
            log::error!("{runs} runs wait to be saved, scheduling goes on: {error}");
        }
    }

    fn learn_from(&mut self, run: &Run) -> Result<(), StoreError> {
        score_predictions(&mut self.depository, run)?;
        let key = &run.application_key;
        self.shared.profiles.make(&self.depository, key)?;
        self.to_train.insert(key.clone());
        self.journal.write(Record::Learned {
            time_ms: self.ended_ms,
            application: run.application_id.clone(),
            profile: key.clone(),
            outcome: run.outcome.name(),
            runs: self.shared.profiles.runs_of(key),
        });
        Ok(())
    }

    fn make_profile(&mut self, key: String) {
        // Damage in one application's runs does not keep the others from their profiles.
        let made = self.shared.profiles.make(&self.depository, &key);
        self.tell(&format!("the profile {key} is not made"), made);
        self.to_train.insert(key);
    }

    fn trained(&mut self, trained: Trained) {
        self.trainer.done();
        let saved = models::save(&mut self.depository, &trained, &self.shared.counters)
            // The models decide which runs make the profile.
            .and_then(|()| self.shared.profiles.make(&self.depository, &trained.key));
        self.tell(
            &format!("the models of {} are not saved", trained.key),
            saved,
        );
    }

    fn take_over(&mut self, take_over: Box<TakeOver>) {
        match take_over.step(&mut self.depository) {
            Step::Unfinished(take_over) => self.taking_over.push_front(take_over),
            Step::Finished { changed } => self.profiles_to_make.extend(changed),
        }
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        let now_ms = checkpoint.now_ms();
        self.checkpoints.add(checkpoint);
        let mut saved = self.checkpoints.save(&mut self.depository, now_ms);
        if let Err(error) = &saved
            && self.begin_anew_after(error)
        {
            saved = self.checkpoints.save(&mut self.depository, now_ms);
        }
        self.checkpoints.tell(saved);
    }

    fn save_what_waits(&mut self) {
        let Err(error) = self.running.save(&mut self.depository) else {
            return;
        };
        self.running.tell(&error);
        if self.begin_anew_after(&error)
            && let Err(error) = self.running.save(&mut self.depository)
        {
            self.running.tell(&error);
        }
    }

    fn tell(&mut self, consequence: &str, done: Result<(), StoreError>) {
        if let Err(error) = done {
            log::error!("{consequence}: {error}");
            self.begin_anew_after(&error);
        }
    }

    /// Where the error is damage, moves the damaged file aside; true where a new one took its place.
    /// Everything of running applications is saved anew.
    fn begin_anew_after(&mut self, error: &StoreError) -> bool {
        if !matches!(error, StoreError::Damaged { .. }) {
            return false;
        }
        match self.depository.reopen() {
            Ok(moved_aside) => {
                announce_moved(self.depository.path(), moved_aside.as_deref());
                self.running.begin_anew();
                self.checkpoints.ask_for_whole();
                true
            }
            Err(error) => {
                log::error!("the damaged depository stays where it is: {error}");
                false
            }
        }
    }
}

fn latest_first(depository: &Depository) -> Result<Vec<String>, StoreError> {
    let mut applications = depository.applications()?;
    applications.sort_by_key(|application| std::cmp::Reverse(application.latest_ms));
    Ok(applications.into_iter().map(|it| it.key).collect())
}

pub(crate) fn announce_moved(path: &Path, moved_aside: Option<&Path>) {
    if let Some(aside) = moved_aside {
        log::error!(
            "the depository {} was damaged and is now {}; learning begins anew",
            path.display(),
            aside.display()
        );
    }
}
