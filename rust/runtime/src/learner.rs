//! Runs become profiles and models, and predictions are made, kept and scored, on a thread of its own.

mod counts;
mod foreseeing;
mod in_use;
mod keeper;
mod known;
mod running;
mod sharing;
mod training;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use elastane_core::cluster::{ApplicationId, Demands, Predicted};
use elastane_predict::{ContainerKind, ProfileSettings, Run, Settings};
use elastane_store::{Depository, StoreError, SubmissionRecord};
use parking_lot::{Mutex, RwLock};

use crate::writer::JournalWriter;
pub(crate) use counts::Counts;
use in_use::InUse;
use keeper::Keeper;
use known::Known;
use sharing::Share;
pub use sharing::SharingError;

type Profiles = Arc<RwLock<HashMap<String, Arc<Known>>>>;

/// Takes what is foreseen of an application's containers of one kind; none is the request.
pub(crate) type Foreseen = Box<dyn Fn(ApplicationId, ContainerKind, Option<Predicted>) + Send>;

/// So many profiles, of the applications that ran last, are there before the first heartbeat; those
/// of the others come while the scheduler works. A profile takes some 6 ms to make, of runs of half
/// an hour 30.
const AT_ONCE: usize = 200;

/// Keeps the profiles of every application in memory, and the runs they come from in the
/// depository.
pub(crate) struct Learner {
    profiles: Profiles,
    in_use: Mutex<InUse>,
    counts: Arc<Counts>,
    sender: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

enum Work {
    /// An application was submitted.
    Submitted(Box<Submitted>),
    /// Its application master asked for executors for the first time.
    Asked(Box<Asked>),
    /// A run ended at this time and is to be kept.
    Ended(Box<Run>, i64),
    /// What is known is to be shared with another ResourceManager.
    Share(Share),
}

/// An application that was submitted.
pub(crate) struct Submitted {
    pub(crate) application: ApplicationId,
    pub(crate) record: SubmissionRecord,
    /// No earlier process knew it.
    pub(crate) is_new: bool,
}

/// What an application master asked for first.
pub(crate) struct Asked {
    pub(crate) application: ApplicationId,
    pub(crate) application_id: String,
    pub(crate) settings: Settings,
    pub(crate) now_ms: i64,
}

impl Learner {
    /// Makes the profiles of the latest applications; the thread goes on with the others.
    pub(crate) fn open(
        depository: Depository,
        settings: ProfileSettings,
        journal: Arc<JournalWriter>,
        foreseen: Foreseen,
    ) -> Result<Self, LearnerError> {
        let profiles = Profiles::default();
        let mut keys = latest_first(&depository)?;
        let later = keys.split_off(keys.len().min(AT_ONCE));
        let known = Arc::clone(&profiles);
        let mut keeper = Keeper::new(depository, settings, journal, known, foreseen);
        let counts = Arc::clone(&keeper.counts);
        for key in keys {
            // What is damaged of one application does not keep the others from theirs.
            let made = keeper.make_profile(&key);
            keeper.tell(&format!("the profile {key} is not made"), made);
        }
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("elastane-learner".into())
            .spawn(move || keeper.work(later, &receiver))?;
        Ok(Self {
            profiles,
            in_use: Mutex::default(),
            counts,
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    /// What is known at once about the containers of an application that was given this; the rest
    /// follows what [`Learner::submitted`] starts.
    pub(crate) fn demands(&self, key: &str, given: &Settings) -> Demands {
        let known = self.profiles.read().get(key).cloned();
        let Some(known) = known.filter(|known| known.settings.agree(given)) else {
            return Demands::default();
        };
        let demands = self.in_use.lock().demands(key, &known);
        demands.unwrap_or_else(|error| {
            log::error!("the requests of {key} stand: {error}");
            Demands::default()
        })
    }

    pub(crate) fn profile_count(&self) -> usize {
        self.profiles.read().len()
    }

    /// What was done since it was opened.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// An application was submitted: that and what is predicted of it is to be kept.
    pub(crate) fn submitted(&self, submitted: Submitted) {
        self.send(Work::Submitted(Box::new(submitted)));
    }

    /// More is known of what an application was given.
    pub(crate) fn asked(&self, asked: Asked) {
        self.send(Work::Asked(Box::new(asked)));
    }

    /// A run that ended at `now_ms` is to be kept.
    pub(crate) fn learn(&self, run: Run, now_ms: i64) {
        self.send(Work::Ended(Box::new(run), now_ms));
    }

    fn send(&self, work: Work) {
        if let Some(sender) = &self.sender
            && sender.send(work).is_err()
        {
            log::error!("the learner's thread is gone, a run or a prediction is lost");
        }
    }

    /// Keeps what waits and ends the thread.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the learner's thread panicked");
        }
    }
}

fn latest_first(depository: &Depository) -> Result<Vec<String>, StoreError> {
    let mut applications = depository.applications()?;
    applications.sort_by_key(|application| std::cmp::Reverse(application.latest_ms));
    Ok(applications.into_iter().map(|it| it.key).collect())
}

/// Why no profiles can be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LearnerError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the learner's thread cannot be started: {0}")]
    Thread(#[from] io::Error),
}

#[cfg(test)]
mod tests;
