//! Runs become profiles, and predictions are kept and scored, on a thread of its own.

mod keeper;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use elastane_core::cluster::{Demands, Predicted};
use elastane_predict::{ContainerKind, Profile, ProfileSettings, Run};
use elastane_store::{Depository, StoreError};
use parking_lot::RwLock;

use crate::writer::JournalWriter;
use keeper::Keeper;

type Profiles = Arc<RwLock<HashMap<String, Arc<Profile>>>>;

/// So many profiles, of the applications that ran last, are there before the first heartbeat; those
/// of the others come while the scheduler works. A profile takes some 10 ms to make.
const AT_ONCE: usize = 200;

/// Keeps the profiles of every application in memory, and the runs they come from in the
/// depository.
pub(crate) struct Learner {
    profiles: Profiles,
    sender: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

enum Work {
    /// An application begins.
    Begun {
        id: String,
        key: String,
        now_ms: i64,
    },
    /// A run ended at this time and is to be kept.
    Ended(Box<Run>, i64),
}

impl Learner {
    /// Makes the profiles of the latest applications; the thread goes on with the others.
    pub(crate) fn open(
        depository: Depository,
        settings: ProfileSettings,
        journal: Arc<JournalWriter>,
    ) -> Result<Self, LearnerError> {
        let profiles = Profiles::default();
        let mut keys = latest_first(&depository)?;
        let later = keys.split_off(keys.len().min(AT_ONCE));
        let mut keeper = Keeper::new(depository, settings, journal, Arc::clone(&profiles));
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
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    /// What is known about the containers of an application.
    pub(crate) fn demands(&self, key: &str) -> Demands {
        let Some(profile) = self.profiles.read().get(key).cloned() else {
            return Demands::default();
        };
        let name: Arc<str> = key.into();
        let predicted = |kind| {
            profile.planned(kind).map(|planned| Predicted {
                demand: planned.demand.clone(),
                margin: planned.margin,
                profile: Arc::clone(&name),
            })
        };
        Demands {
            application_master: predicted(ContainerKind::ApplicationMaster),
            executor: predicted(ContainerKind::Executor),
        }
    }

    pub(crate) fn profile_count(&self) -> usize {
        self.profiles.read().len()
    }

    /// An application begins: what is predicted of it is to be kept.
    pub(crate) fn begun(&self, id: String, key: String, now_ms: i64) {
        self.send(Work::Begun { id, key, now_ms });
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
