//! Runs become profiles, on a thread of its own.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use elastane_core::cluster::{Demands, Predicted};
use elastane_predict::{ContainerKind, Outcome, Profile, ProfileSettings, Run, profile};
use elastane_store::{Depository, StoreError};
use parking_lot::RwLock;

use crate::journal::Record;
use crate::writer::JournalWriter;

type Profiles = Arc<RwLock<HashMap<String, Arc<Profile>>>>;

/// Keeps the profiles of every application in memory, and the runs they come from in the
/// depository.
pub(crate) struct Learner {
    profiles: Profiles,
    sender: Option<Sender<(Run, i64)>>,
    thread: Option<JoinHandle<()>>,
}

impl Learner {
    /// Reads every profile, so that an application's first heartbeat finds it.
    pub(crate) fn open(
        depository: Depository,
        settings: ProfileSettings,
        journal: Arc<JournalWriter>,
    ) -> Result<Self, LearnerError> {
        let mut known = HashMap::new();
        for application in depository.applications()? {
            let runs = depository.latest_succeeded_runs(&application.key, settings.runs)?;
            if let Some(profile) = profile(&application.key, &runs, &settings) {
                tell_left_out(&profile);
                known.insert(application.key, Arc::new(profile));
            }
        }
        let profiles: Profiles = Arc::new(RwLock::new(known));
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("elastane-learner".into())
            .spawn({
                let profiles = Arc::clone(&profiles);
                move || learn(depository, settings, &journal, &profiles, &receiver)
            })?;
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
            profile.demand(kind).map(|demand| Predicted {
                demand: demand.clone(),
                margin: profile.margin,
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

    /// A run that ended at `now_ms` is to be kept.
    pub(crate) fn learn(&self, run: Run, now_ms: i64) {
        if let Some(sender) = &self.sender
            && sender.send((run, now_ms)).is_err()
        {
            log::error!("the learner's thread is gone, a run is lost");
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

/// Why no profiles can be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LearnerError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the learner's thread cannot be started: {0}")]
    Thread(#[from] io::Error),
}

fn learn(
    mut depository: Depository,
    settings: ProfileSettings,
    journal: &JournalWriter,
    profiles: &Profiles,
    runs: &Receiver<(Run, i64)>,
) {
    while let Ok((run, now_ms)) = runs.recv() {
        match keep(&mut depository, settings, profiles, &run) {
            Ok(runs) => journal.write(Record::Learned {
                time_ms: now_ms,
                application: run.application_id,
                profile: run.application_key,
                outcome: outcome_name(run.outcome),
                runs,
            }),
            Err(error) => log::error!("the run of {} is not kept: {error}", run.application_id),
        }
    }
}

fn keep(
    depository: &mut Depository,
    settings: ProfileSettings,
    profiles: &Profiles,
    run: &Run,
) -> Result<usize, StoreError> {
    let key = &run.application_key;
    depository.save(run)?;
    let runs = depository.latest_succeeded_runs(key, settings.runs)?;
    let profile = profile(key, &runs, &settings);
    let count = profile.as_ref().map_or(0, |profile| profile.runs);
    if let Some(profile) = profile {
        tell_left_out(&profile);
        profiles.write().insert(key.clone(), Arc::new(profile));
    }
    Ok(count)
}

fn tell_left_out(profile: &Profile) {
    for left_out in &profile.left_out {
        let (run, reason) = (&left_out.application_id, left_out.reason);
        log::warn!(
            "the run {run} is not part of the profile {}: {reason}",
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
