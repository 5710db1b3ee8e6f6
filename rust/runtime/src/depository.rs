//! The threads of the depository: one owns the file, another trains models.
//!
//! The `elastane-depository` thread is the only one that writes the file. It saves runs, submissions
//! and predictions, checkpoints running applications, removes old runs and merges copies. In between
//! it makes profiles and predictions. The `elastane-learner` thread trains models from runs that it
//! is handed. A caller only leaves work behind, so no heartbeat waits for a disk.

mod backlog;
mod checkpoints;
mod ended_runs;
mod keeper;
mod ledger_news;
mod merges;
mod models;
mod outage;
mod panics;
mod predictor;
mod profile_cache;
mod profiles;
mod retention;
mod running;
mod substitute;
mod trainer;
mod work_loop;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use elastane_core::cluster::Demands;
use elastane_predict::progress::LogNormal;
use elastane_predict::{ProfileSettings, RunLength};
use elastane_runs::{LedgerNews, Run, RunEvent, RunSettings};
use elastane_store::{Access, Depository, Merge, MergeReport, Retention, StoreError};

use crate::counters::{Counters, count};
use crate::decisions::Decisions;
use crate::effects::Submitted;
use crate::open_error::OpenError;
use crate::service::FirstAsk;
use backlog::Backlog;
use keeper::Keeper;
use models::Trained;
pub(crate) use predictor::OnPrediction;
pub(crate) use profile_cache::{PlannedKind, ProfileOverview};
use profiles::ProfilesInUse;
pub(crate) use substitute::{Found, open as open_or_substitute};

const PRUNE_EVERY_MS: i64 = 3_600_000;

/// The side of the callers.
pub(crate) struct DepositoryThread {
    shared: Arc<Shared>,
    prune_due_ms: AtomicI64,
    sender: Sender<Work>,
    thread: Option<JoinHandle<Keeper>>,
}

/// What callers read.
struct Shared {
    profiles: ProfilesInUse,
    counters: Arc<Counters>,
    /// The depository lacks earlier checkpoints.
    wants_whole: AtomicBool,
    backlog: Backlog,
}

/// Work for the thread. Times are in Unix milliseconds.
pub(crate) enum Work {
    /// Saves the submission, predicts the application's containers and saves the predictions.
    Submitted(Box<Submitted>),
    /// Adds settings to a submission and predicts the executors again.
    Asked(Box<FirstAsk>),
    /// Saves a run that ended by this time, and learns from it.
    Ended(Box<Run>, i64),
    /// Saves the changes of running applications until this time, or their whole state, which replaces
    /// every earlier checkpoint.
    Checkpoint {
        events: Vec<RunEvent>,
        is_whole: bool,
        now_ms: i64,
    },
    /// Adds what applications booked and used to the ledger.
    Ledger(Box<LedgerNews>),
    Prune(i64),
    /// Everything before this message is done when the answer comes.
    /// The answer is the depository's path.
    Flush(Sender<PathBuf>),
    /// Merges a copy; somebody waits for the report.
    TakeOver(Box<Merge>, Sender<Result<MergeReport, StoreError>>),
    Trained(Trained),
    /// Makes profiles by other settings from now on, and those that there are anew; keeps other runs.
    Settings(ProfileSettings, Retention),
    Close,
}

/// Why nothing was copied or merged.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    /// The depository or the copy; with its path.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It panicked, or the core is closing.
    #[error("the depository's thread is gone")]
    ThreadGone,
}

impl Shared {
    fn new(settings: ProfileSettings, counters: Arc<Counters>) -> Self {
        Self {
            profiles: ProfilesInUse::new(settings),
            counters,
            wants_whole: AtomicBool::default(),
            backlog: Backlog::default(),
        }
    }
}

impl DepositoryThread {
    /// Makes the profiles of the applications that ran last; the thread makes the others.
    pub(crate) fn open(
        found: Found,
        settings: ProfileSettings,
        retention: Retention,
        decisions: Arc<Decisions>,
        counters: Arc<Counters>,
        on_prediction: OnPrediction,
    ) -> Result<Self, OpenError> {
        let shared = Arc::new(Shared::new(settings, counters));
        let (sender, receiver) = channel();
        let keeper = Keeper::open(
            found,
            retention,
            decisions,
            Arc::clone(&shared),
            on_prediction,
            sender.clone(),
        )?;
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("elastane-depository".into())
            .spawn(move || work_loop::run(keeper, &for_thread, &receiver))
            .map_err(OpenError::Thread)?;
        Ok(Self { shared, prune_due_ms: AtomicI64::new(i64::MIN), sender, thread: Some(thread) })
    }

    /// The demands of an application with these settings, from profiles in memory.
    /// [`Work::Submitted`] starts the full prediction.
    pub(crate) fn demands(&self, key: &str, given: &RunSettings, now_ms: i64) -> Demands {
        self.shared.profiles.demands(key, given, now_ms)
    }

    /// The demands of a profile for these settings, for people: the profile does not count as used.
    pub(crate) fn look_at_demands(&self, key: &str, given: &RunSettings) -> Demands {
        self.shared.profiles.cache.lock().look_at_demands(key, given)
    }

    /// The number of an application's runs that its profile is made from.
    pub(crate) fn runs_of(&self, key: &str) -> usize {
        self.shared.profiles.cache.lock().runs_of(key)
    }

    /// See [`Profile::length`](elastane_predict::Profile::length).
    pub(crate) fn length(&self, key: &str, given: &RunSettings) -> Option<RunLength> {
        self.shared.profiles.cache.lock().length(key, given)
    }

    /// The same in milliseconds.
    pub(crate) fn length_ms(&self, key: &str, given: &RunSettings) -> Option<LogNormal> {
        self.length(key, given).map(|length| length.length_ms)
    }

    /// The number of profiles in memory, and a page of them, the latest used first.
    pub(crate) fn profiles(&self, offset: usize, limit: usize) -> (usize, Vec<ProfileOverview>) {
        let cache = &self.shared.profiles.cache;
        // Submissions wait for the lock, and not for the order.
        let mut all = cache.lock().used();
        all.sort_unstable_by(|(one_ms, one), (other_ms, other)| {
            other_ms.cmp(one_ms).then_with(|| one.cmp(other))
        });
        let page = all.iter().skip(offset).take(limit);
        let page = page.filter_map(|(_, key)| cache.lock().overview(key)).collect();
        (all.len(), page)
    }

    pub(crate) fn profile_count(&self) -> usize {
        self.shared.profiles.cache.lock().count()
    }

    /// Whether the thread runs.
    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// The number of works that the thread was given and has not finished.
    pub(crate) fn backlog(&self) -> usize {
        self.shared.backlog.len()
    }

    /// Whether a whole [`Work::Checkpoint`] is to be sent next; true once per request.
    pub(crate) fn wants_whole(&self) -> bool {
        self.shared.wants_whole.swap(false, Relaxed)
    }

    /// Removes old runs at the first call, and then every hour.
    pub(crate) fn prune_if_due(&self, now_ms: i64) {
        if now_ms >= self.prune_due_ms.load(Relaxed) {
            self.prune_due_ms.store(now_ms + PRUNE_EVERY_MS, Relaxed);
            self.send(Work::Prune(now_ms));
        }
    }

    pub(crate) fn send(&self, work: Work) {
        let is_checkpoint = matches!(work, Work::Checkpoint { .. });
        self.shared.backlog.give();
        let sent = self.sender.send(work);
        if sent.is_err() {
            self.shared.backlog.take();
        }
        match sent {
            Ok(()) => {}
            Err(_) if is_checkpoint => count(&self.shared.counters.checkpoints_failed),
            Err(_) => log::error!("the depository's thread is gone: a run or a prediction is lost"),
        }
    }

    /// Ends the threads and saves the rest: the whole state of running applications where the file
    /// lacks it, then the runs that ended.
    pub(crate) fn close(
        &mut self,
        whole: impl FnOnce() -> Vec<RunEvent>,
        ended: impl FnOnce() -> Vec<Run>,
        now_ms: i64,
    ) {
        self.send(Work::Close);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(keeper)) => keeper.close(whole, ended, now_ms),
            Some(Err(_)) => log::error!("the depository's thread panicked"),
            None => {}
        }
    }

    /// Writes everything that is known into another file, and waits for that.
    pub(crate) fn copy_to(&self, file: &Path) -> Result<(), SharingError> {
        let path = self.wait_for(Work::Flush)?;
        // A copy takes as long as the file is large, and only reads: the thread goes on meanwhile.
        Ok(Depository::open_existing(&path, Access::Read)?.snapshot(file)?)
    }

    /// Merges a copy into the depository, and waits for that. Profiles follow in the background.
    pub(crate) fn take_over(&self, file: &Path) -> Result<MergeReport, SharingError> {
        let merge = Merge::open(file)?;
        Ok(self.wait_for(|done| Work::TakeOver(Box::new(merge), done))??)
    }

    fn wait_for<T>(&self, work: impl FnOnce(Sender<T>) -> Work) -> Result<T, SharingError> {
        let (done, result) = channel();
        self.send(work(done));
        result.recv().map_err(|_| SharingError::ThreadGone)
    }
}

#[cfg(test)]
mod tests;
