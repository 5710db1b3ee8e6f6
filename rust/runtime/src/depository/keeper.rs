//! The depository's thread.

mod learning;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use elastane_core::cluster::ApplicationId;
use elastane_predict::ProfileSettings;
use elastane_runs::{ContainerKind, LedgerNews, OpenRun, Run, RunEvent, SubmissionRecord};
use elastane_store::{Depository, PredictionRecord, Pruning, Retention, StoreError};

use super::checkpoints::Checkpoints;
use super::ended_runs::EndedRuns;
use super::ledger_news::WaitingNews;
use super::merges::Merges;
use super::panics::{Panics, Worker};
use super::predictor::{OnPrediction, Predictor};
use super::profiles::PROFILES_AT_ONCE;
use super::running::RunningApplications;
use super::substitute::{Found, Substitute, announce_moved, latest_applications};
use super::trainer::{Trainer, due_job};
use super::{Shared, Work, retention};
use crate::decisions::Decisions;
use crate::effects::Submitted;
use crate::open_error::OpenError;
use crate::service::FirstAsk;

pub(super) struct Keeper {
    depository: Depository,
    /// Where the depository is one.
    substitute: Option<Substitute>,
    retention: Retention,
    decisions: Arc<Decisions>,
    shared: Arc<Shared>,
    predictor: Predictor,
    trainer: Trainer,
    checkpoints: Checkpoints,
    running: RunningApplications,
    ended_runs: EndedRuns,
    ledger: WaitingNews,
    /// Work that was asked for, in its order.
    asked: VecDeque<Work>,
    merges: Merges,
    pruning: Option<Pruning>,
    profiles_to_make: VecDeque<String>,
    /// Applications whose models may be out of date.
    to_train: BTreeSet<String>,
    /// When the latest run ended.
    ended_ms: i64,
}

impl Worker for Keeper {
    /// Everything of running applications is saved anew.
    fn has_panicked(&mut self) {
        self.checkpoints.ask_for_whole();
    }
}

impl Keeper {
    pub(super) fn open(
        found: Found,
        retention: Retention,
        decisions: Arc<Decisions>,
        shared: Arc<Shared>,
        on_prediction: OnPrediction,
        trained: Sender<Work>,
    ) -> Result<Self, OpenError> {
        let Found { depository, substitute, applications, .. } = found;
        let mut latest_first: VecDeque<_> = applications.into();
        let later = latest_first.split_off(latest_first.len().min(PROFILES_AT_ONCE));
        let mut keeper = Self {
            predictor: Predictor::new(Arc::clone(&shared), on_prediction),
            trainer: Trainer::open(trained, Arc::clone(&shared)).map_err(OpenError::Thread)?,
            depository,
            substitute,
            retention,
            decisions,
            checkpoints: Checkpoints::new(Arc::clone(&shared)),
            running: RunningApplications::new(),
            ended_runs: EndedRuns::new(Arc::clone(&shared)),
            ledger: WaitingNews::new(),
            asked: VecDeque::new(),
            merges: Merges::default(),
            pruning: None,
            profiles_to_make: later,
            to_train: BTreeSet::new(),
            ended_ms: 0,
            shared: Arc::clone(&shared),
        };
        let mut panics = Panics::new(&shared);
        for key in latest_first {
            panics.survive(&mut keeper, (), |keeper| keeper.make_profile(key));
        }
        Ok(keeper)
    }

    /// The time until a substitute is to be ended; none without one.
    pub(super) fn substitute_wait(&self) -> Option<Duration> {
        self.substitute.as_ref().map(Substitute::wait)
    }

    /// Waits for the last training, and saves its models.
    pub(super) fn end_training(&mut self, work: &Receiver<Work>) {
        self.trainer.close();
        for work in work.try_iter() {
            self.shared.backlog.take();
            if let Work::Trained(trained) = work {
                self.trained(trained);
            }
        }
    }

    /// Saves the rest, once the thread has ended.
    pub(super) fn close(
        mut self,
        whole: impl FnOnce() -> Vec<RunEvent>,
        ended: impl FnOnce() -> Vec<Run>,
        now_ms: i64,
    ) {
        if self.checkpoints.lack_whole() {
            self.checkpoint(whole(), true, now_ms);
        }
        for run in ended() {
            self.ended(run.ended_ms, run);
        }
        // There may be room by now for what waits.
        self.save_runs();
        self.ledger.close((self.substitute.is_none()).then_some(&mut self.depository));
        if let Some(substitute) = self.substitute {
            substitute.end(self.depository);
        }
    }

    /// True where the thread is to end. A checkpoint goes before all other work.
    pub(super) fn take(&mut self, work: Work) -> bool {
        self.shared.backlog.take();
        match work {
            Work::Checkpoint { events, is_whole, now_ms } => {
                self.checkpoint(events, is_whole, now_ms)
            }
            Work::Prune(now_ms) => {
                self.shared.profiles.cache.lock().drop_old(now_ms);
                self.pruning = Some(Pruning::new(self.retention, now_ms));
            }
            Work::Settings(profile, retention) => self.apply_settings(profile, retention),
            Work::Close => return true,
            asked => self.asked.push_back(asked),
        }
        false
    }

    /// Profiles by the former settings serve until they are made anew, in the background.
    fn apply_settings(&mut self, profile: ProfileSettings, retention: Retention) {
        self.retention = retention;
        if self.shared.profiles.apply_settings(profile) {
            let queued = latest_applications(&self.depository)
                .map(|applications| self.profiles_to_make = applications.into());
            self.tell("profiles are made by the new settings only as applications end", queued);
        }
    }

    /// Says how much is unfinished, until the next look.
    pub(super) fn tell_backlog(&self) {
        self.shared.backlog.set_asked(self.asked.len());
    }

    /// Whether something is unfinished that somebody asked for.
    pub(super) fn has_asked(&self) -> bool {
        !self.asked.is_empty() || !self.merges.are_done() || self.pruning.is_some()
    }

    /// Does the next work, what was asked for before background work; each step is short. False where
    /// nothing is to do.
    pub(super) fn take_step(&mut self) -> bool {
        self.end_substitution();
        if let Some(work) = self.asked.pop_front() {
            self.answer(work);
        } else if !self.merges.are_done() {
            let changed = self.merges.step(&mut self.depository);
            self.running.runs_came(&changed);
            self.profiles_to_make.extend(changed);
        } else if let Some((application, submission)) = self.running.next_to_predict() {
            let again = self.predict(application, &submission, submission.submitted_ms, |_| true);
            self.tell("the former prediction stays", again.map(drop));
        } else if let Some(pruning) = self.pruning.take() {
            let unfinished = retention::step(pruning, &mut self.depository, &self.retention);
            let pruned = unfinished.map(|unfinished| self.pruning = unfinished);
            self.tell("old runs are not removed; the next attempt is in an hour", pruned);
        } else if let Some(key) = self.profiles_to_make.pop_front() {
            self.make_profile(key);
        } else if self.trainer.is_idle()
            && let Some(key) = self.to_train.pop_first()
        {
            let job = due_job(&self.depository, &key);
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
                let predicted = self.asked(&asked);
                let id = &asked.application_id;
                self.tell(&format!("the prediction of {id} is not saved"), predicted);
            }
            Work::Ended(run, now_ms) => self.ended(now_ms, *run),
            Work::Trained(trained) => self.trained(trained),
            Work::Ledger(news) => self.add_to_ledger(*news),
            // Whoever waited may be gone.
            Work::Flush(done) => drop(done.send(self.depository.path().to_owned())),
            Work::TakeOver(merge, done) => self.merges.add(*merge, done),
            Work::Checkpoint { .. } | Work::Prune(_) | Work::Settings(..) | Work::Close => {}
        }
        self.save_what_waits();
    }

    fn submitted(&mut self, submitted: Submitted) -> Result<(), StoreError> {
        let Submitted { application, record, is_new } = submitted;
        let stored =
            if is_new { None } else { self.depository.submission(&record.application_id)? };
        let (now_ms, is_saved) = (record.submitted_ms, stored.is_some());
        let submission = stored.unwrap_or(record);
        self.running.add(application, submission.clone(), is_saved);
        let predictions = self.predict(application, &submission, now_ms, |_| true)?;
        // An earlier process saved the prediction of an application that is not new.
        let new = if is_new { predictions } else { Vec::new() };
        self.running.save_predictions(&mut self.depository, new)
    }

    fn asked(&mut self, asked: &FirstAsk) -> Result<(), StoreError> {
        // The first ask of an application that an earlier process knew is saved already.
        let Some(submission) = self.running.complete(&asked.application_id, &asked.settings) else {
            return Ok(());
        };
        let of = asked.application;
        let predictions =
            self.predict(of, &submission, asked.now_ms, ContainerKind::is_executor)?;
        self.running.save_predictions(&mut self.depository, predictions)
    }

    /// A submission that cannot be saved is predicted all the same.
    fn predict(
        &mut self,
        application: ApplicationId,
        submission: &SubmissionRecord,
        now_ms: i64,
        is_wanted: fn(ContainerKind) -> bool,
    ) -> Result<Vec<PredictionRecord>, StoreError> {
        self.save_what_waits();
        self.predictor.predict(&self.depository, application, submission, now_ms, is_wanted)
    }

    fn ended(&mut self, now_ms: i64, run: Run) {
        self.ended_ms = now_ms;
        self.ended_runs.add(self.running.end(run));
        self.save_runs();
    }

    fn add_to_ledger(&mut self, news: LedgerNews) {
        self.ledger.add(news);
        if self.substitute.is_none() {
            let saved = self.try_again_after_damage(|it| it.ledger.save(&mut it.depository));
            self.ledger.outage.tell(&saved);
        }
    }

    fn save_runs(&mut self) {
        let mut saved = self.ended_runs.save(&mut self.depository);
        if saved.waits_for.take_if(|error| self.begin_anew_after(error)).is_some() {
            self.learn(saved.saved);
            saved = self.ended_runs.save(&mut self.depository);
        }
        self.ended_runs.tell(saved.waits_for);
        self.learn(saved.saved);
    }

    /// Goes back to the depository that a substitute stands for, where that works again.
    fn end_substitution(&mut self) {
        let Some(mut substitute) = self.substitute.take() else {
            return;
        };
        let Some(found) = substitute.try_wanted(&self.shared.counters) else {
            self.substitute = Some(substitute);
            return;
        };
        let Found { depository, open_runs, applications, .. } = found;
        let former = std::mem::replace(&mut self.depository, depository);
        self.profiles_to_make = applications.into();
        let ended = open_runs.into_iter().filter(|run| run.ended_ms.is_some());
        let ended = ended.map(OpenRun::into_run);
        self.asked.extend(ended.map(|run| {
            let ended_ms = run.ended_ms;
            Work::Ended(Box::new(run), ended_ms)
        }));
        let kept = self.running.begin_anew_from(&former);
        self.checkpoints.ask_for_whole();
        match kept.and_then(|()| substitute.into_learned(former)) {
            Ok(learned) => self.merges.add_substitute(learned),
            Err(error) => log::error!("what the substitute recorded is not merged: {error}"),
        }
    }

    fn checkpoint(&mut self, events: Vec<RunEvent>, is_whole: bool, now_ms: i64) {
        self.checkpoints.add(events, is_whole);
        let save = |it: &mut Self| it.checkpoints.save(&mut it.depository, now_ms);
        let saved = self.try_again_after_damage(save);
        self.checkpoints.tell(&saved);
    }

    fn save_what_waits(&mut self) {
        let saved = self.try_again_after_damage(|it| it.running.save(&mut it.depository));
        self.running.outage.tell(&saved);
    }

    fn try_again_after_damage(
        &mut self,
        save: impl Fn(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match save(self) {
            Err(error) if self.begin_anew_after(&error) => save(self),
            saved => saved,
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
        if !error.is_damage() {
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
