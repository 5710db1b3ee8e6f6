//! One Elastane: everything that the boundary and the simulator call.

mod reporting;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use elastane_core::cluster::{
    Application, ApplicationId, Ask, BookableChange, Commit, CommitRequest, NodeId, Placement,
    Request,
};
use elastane_core::policy::{self, UnknownPolicy};
use elastane_core::{Cluster, SLOT_MS};
use elastane_predict::{Submission, signature, signature_parts, submission_settings};
use elastane_store::{Depository, MergeReport, OpenRun, StoreError, SubmissionRecord};
use parking_lot::Mutex;

use crate::checkpoint::Checkpoints;
use crate::first_asks::FirstAsks;
use crate::journal::{Placed, Record};
use crate::learner::{Learner, LearnerError, SharingError, Submitted};
use crate::measured::Measured;
use crate::memory_victims::MemoryVictims;
use crate::progress::Trackers;
use crate::refusals::Refusals;
use crate::renewal;
use crate::report::Sequences;
use crate::retention::Retainer;
use crate::runs::{Runs, last_samples_ms};
use crate::settings::Settings;
use crate::status::{Counters, Learned, Recording, Status, count};
use crate::substitute;
use crate::writer::JournalWriter;

/// Why Elastane cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The depository.
    #[error("yarn.scheduler.elastane.depository.file: {0}")]
    Depository(#[from] StoreError),
    /// The journal.
    #[error("yarn.scheduler.elastane.journal.file: {path} cannot be opened: {source}")]
    Journal {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The policy.
    #[error("yarn.scheduler.elastane.policy: {0}")]
    Policy(#[from] UnknownPolicy),
    /// A thread.
    #[error("a thread cannot be started: {0}")]
    Thread(std::io::Error),
}

impl From<LearnerError> for OpenError {
    fn from(error: LearnerError) -> Self {
        match error {
            LearnerError::Store(error) => OpenError::Depository(error),
            LearnerError::Thread(error) => OpenError::Thread(error),
        }
    }
}

/// The core in service.
pub struct Elastane {
    settings: Settings,
    state: Arc<Mutex<State>>,
    learner: Learner,
    checkpoints: Checkpoints,
    retainer: Retainer,
    journal: Arc<JournalWriter>,
    counters: Counters,
}

struct State {
    cluster: Cluster,
    runs: Runs,
    sequences: Sequences,
    refusals: Refusals,
    measured: HashMap<NodeId, Measured>,
    memory_victims: MemoryVictims,
    trackers: Trackers,
    first_asks: FirstAsks,
}

/// What an earlier process recorded and did not save as runs.
fn restore(depository: &mut Depository) -> Result<Vec<OpenRun>, StoreError> {
    let (runs, unreadable) = depository.open_runs()?;
    for error in unreadable {
        log::warn!("what was recorded before is dropped: {error}");
    }
    Ok(runs)
}

impl Elastane {
    /// Opens depository and journal and reads every profile.
    ///
    /// # Errors
    /// A file that cannot be used, or a thread that cannot be started.
    pub fn open(settings: Settings) -> Result<Self, OpenError> {
        let journal = JournalWriter::open(settings.journal_file.as_deref()).map_err(|source| {
            OpenError::Journal {
                path: settings.journal_file.clone().unwrap_or_default(),
                source,
            }
        })?;
        let journal = Arc::new(journal);
        let mut opened = substitute::open(&settings.depository_file)?;
        renewal::tell(opened.depository.path(), opened.moved_aside.as_deref());
        let open_runs = restore(&mut opened.depository)?;
        let checkpoints =
            Checkpoints::open(opened.depository.reopen()?).map_err(OpenError::Thread)?;
        let retainer = Retainer::open(opened.depository.reopen()?, settings.retention)
            .map_err(OpenError::Thread)?;
        let (ended, running): (Vec<_>, Vec<_>) = open_runs
            .into_iter()
            .partition(|run| run.ended_ms.is_some());
        let policy = policy::named(&settings.policy, settings.policy_options)?;
        let mut cluster = Cluster::new(settings.cluster, policy);
        if let Some(reprovision) = settings.reprovision {
            cluster.reprovision_by(reprovision);
        }
        let state = Arc::new(Mutex::new(State {
            cluster,
            runs: Runs::restored(running),
            sequences: Sequences::default(),
            refusals: Refusals::default(),
            measured: HashMap::new(),
            memory_victims: MemoryVictims::default(),
            trackers: Trackers::default(),
            first_asks: FirstAsks::default(),
        }));
        let learner = Learner::open(
            opened.depository,
            settings.profile,
            Arc::clone(&journal),
            Box::new({
                let state = Arc::clone(&state);
                move |application, kind, predicted| {
                    let cluster = &mut state.lock().cluster;
                    cluster.foreseen(application, kind, predicted);
                }
            }),
        )?;
        for run in ended.into_iter().map(OpenRun::into_run) {
            let ended_ms = run.ended_ms;
            learner.learn(run, ended_ms);
        }
        Ok(Self {
            state,
            settings,
            learner,
            checkpoints,
            retainer,
            journal,
            counters: Counters::default(),
        })
    }

    /// Keeps every run that ended, and what is recorded of the others for the next process, and
    /// ends the threads.
    pub fn close(mut self) {
        let mut state = self.state.lock();
        let latest_ms = state.runs.latest_ms();
        let news = state.runs.take_all_news();
        drop(state);
        if let Some(news) = news {
            self.checkpoints.save(news, latest_ms);
        }
        let whole = || self.state.lock().runs.take_whole(latest_ms);
        self.checkpoints.close(whole, latest_ms);
        self.retainer.close();
        let ended = self.state.lock().runs.take_ended();
        for run in ended {
            let ended_ms = run.ended_ms;
            self.learner.learn(run, ended_ms);
        }
        self.learner.close();
        if let Some(journal) = Arc::get_mut(&mut self.journal) {
            journal.close();
        }
    }

    /// A node registered.
    pub fn node_added(&self, name: &str, registered: Request) -> NodeId {
        self.state.lock().cluster.node_added(name, registered)
    }

    /// The registered size of a node changed.
    pub fn node_resized(&self, node: NodeId, registered: Request) {
        self.state.lock().cluster.node_resized(node, registered);
    }

    /// A node is gone.
    pub fn node_removed(&self, node: NodeId) {
        let mut state = self.state.lock();
        state.cluster.node_removed(node);
        state.sequences.forget(node);
        state.measured.remove(&node);
        state.memory_victims.forget(node);
        let State {
            cluster, trackers, ..
        } = &mut *state;
        trackers.retain_known(cluster);
    }

    /// An application was added; its run begins.
    pub fn application_added(&self, submission: &Submission, now_ms: i64) -> ApplicationId {
        let key = signature(submission).key;
        let given = submission_settings(submission);
        let demands = self.learner.demands(&key, &given);
        let Submission {
            id, name, queue, ..
        } = submission;
        let application = Application::new(id, name, queue, demands, now_ms);
        let mut state = self.state.lock();
        let number = state.cluster.application_added(application);
        let is_new = !state.runs.is_restored(id);
        state.runs.begin(number, key.clone(), id, name, now_ms);
        state.first_asks.expect(number, id);
        drop(state);
        self.learner.submitted(Submitted {
            application: number,
            record: SubmissionRecord {
                application_id: id.clone(),
                application_key: key,
                application_name: name.clone(),
                submitted_ms: now_ms,
                signature: signature_parts(submission),
                settings: given.0,
            },
            is_new,
        });
        number
    }

    /// An application was moved to another queue.
    pub fn application_moved(&self, application: ApplicationId, queue: &str) {
        self.state
            .lock()
            .cluster
            .application_moved(application, queue);
    }

    /// An application ended; its run is kept once its last samples are there.
    pub fn application_removed(&self, application: ApplicationId, succeeded: bool, now_ms: i64) {
        let until_ms = now_ms + last_samples_ms(self.settings.report_interval_ms);
        let mut state = self.state.lock();
        state.cluster.application_removed(application);
        state.refusals.forget(application);
        state.first_asks.forget(application);
        state.trackers.application_removed(application);
        state.runs.end(application, succeeded, now_ms, until_ms);
    }

    /// What an application waits for now.
    pub fn pending(&self, application: ApplicationId, ask: Ask, now_ms: i64) {
        let mut state = self.state.lock();
        state.cluster.pending(application, ask, now_ms);
        let asked = state.first_asks.asked(application, &ask, now_ms);
        drop(state);
        if let Some(asked) = asked {
            self.learner.asked(asked);
        }
    }

    /// See [`Cluster::round`].
    pub fn round(&self, node: NodeId, free: Request, now_ms: i64) -> Option<Vec<ApplicationId>> {
        self.state.lock().cluster.round(node, free, now_ms)
    }

    /// Checks and records a container; false when it must not be committed.
    pub fn commit(&self, commit: CommitRequest<'_>, now_ms: i64) -> bool {
        let mut state = self.state.lock();
        let known = state.cluster.container(commit.container).is_some();
        match state.cluster.commit(commit, now_ms) {
            Commit::Unknown => true,
            Commit::Refused(refusal) => {
                count(&self.counters.refused_commits);
                if state.refusals.is_due(commit.application, now_ms) {
                    let application = state.cluster.application(commit.application);
                    let node = state.cluster.node(commit.node);
                    self.journal.write(Record::Refused {
                        time_ms: now_ms,
                        application: application.map(|a| a.id.clone()).unwrap_or_default(),
                        node: node.map(|n| n.name.clone()).unwrap_or_default(),
                        reason: refusal.to_string(),
                    });
                }
                false
            }
            Commit::Placed(placement) => {
                // A container that this core did not see start outlived a ResourceManager.
                if now_ms - commit.start_ms > i64::from(SLOT_MS) {
                    state.runs.cut_off(commit.application);
                }
                if !known {
                    self.placed(&state.cluster, commit.container, &placement, now_ms);
                }
                true
            }
        }
    }

    fn placed(&self, cluster: &Cluster, container: &str, placement: &Placement, now_ms: i64) {
        count(if placement.reason.is_by_core() {
            &self.counters.admitted_by_core
        } else {
            &self.counters.admitted_by_capacity_scheduler
        });
        let Placement {
            reason,
            score,
            container: placed,
        } = placement;
        let (Some(application), Some(node)) = (
            cluster.application(placed.application),
            cluster.node(placed.node),
        ) else {
            return;
        };
        self.journal.write(Record::Placed(Box::new(Placed {
            time_ms: now_ms,
            application: application.id.clone(),
            application_name: application.name.clone(),
            container: container.to_owned(),
            node: node.name.clone(),
            reason: reason.name(),
            by_core: reason.is_by_core(),
            application_master: placed.kind.is_application_master(),
            request_priority: placed.kind.priority(),
            profile: placed.profile.as_deref().map(str::to_owned),
            score: *score,
            memory_bytes: placed.request.memory_bytes,
            vcores: placed.request.vcores,
            booked_memory_bytes: node.booked.memory_bytes,
            booked_vcores: node.booked.vcores,
            physical_memory_bytes: node.registered.memory_bytes,
            physical_vcores: node.registered.vcores,
        })));
    }

    /// A container ended, or its commit was refused elsewhere.
    pub fn finished(&self, container: &str, now_ms: i64) {
        let until_ms = now_ms + last_samples_ms(self.settings.report_interval_ms);
        let mut state = self.state.lock();
        let Some(ended) = state.cluster.finished(container) else {
            return;
        };
        let node = state.cluster.node(ended.node).map(|n| n.name.clone());
        state.memory_victims.finished(ended.node, container);
        let State {
            cluster, trackers, ..
        } = &mut *state;
        trackers.finished(cluster, container);
        state.runs.container_ended(container, ended, until_ms);
        self.journal.write(Record::Finished {
            time_ms: now_ms,
            container: container.to_owned(),
            node: node.unwrap_or_default(),
        });
    }

    /// The nodes whose bookable capacity has to change. Also hands on the runs that are complete, and
    /// what is new of the others.
    pub fn bookable_changes(&self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        let mut state = self.state.lock();
        let changes = state.cluster.bookable_changes(limit, now_ms);
        for change in &changes {
            let node = state.cluster.node(change.node).map(|n| n.name.clone());
            let raised = change.thousandths > 1_000;
            self.journal.write(Record::Bookable {
                time_ms: now_ms,
                node: node.unwrap_or_default(),
                ratio: f64::from(change.thousandths) / 1e3,
                reason: if raised {
                    "the agent reports"
                } else {
                    "the agent does not report"
                },
            });
        }
        let whole = (self.checkpoints.takes_whole()).then(|| state.runs.take_whole(now_ms));
        let news = state.runs.take_news(now_ms);
        let closed = state.runs.take_closed(now_ms);
        drop(state);
        self.retainer.tick(now_ms);
        if let Some(whole) = whole {
            self.checkpoints.save_whole(whole, now_ms);
        }
        if let Some(news) = news {
            self.checkpoints.save(news, now_ms);
        }
        for run in closed {
            self.learner.learn(run, now_ms);
        }
        changes
    }

    /// See [`Cluster::may_preempt`].
    pub fn may_preempt(&self, absolute_capacity: f64, used: Request) -> bool {
        self.state
            .lock()
            .cluster
            .may_preempt(absolute_capacity, used)
    }

    /// Writes all that is known of ended runs into another file, which appears as a whole or not at
    /// all. It takes as long as the file is large, and holds up no heartbeat.
    ///
    /// # Errors
    /// The file system's, or the depository's; an older file stays then.
    pub fn copy_depository(&self, to: &Path) -> Result<(), SharingError> {
        self.learner.copy_to(to)
    }

    /// Takes over the runs and models of a copy that are not known here; it holds up no heartbeat.
    ///
    /// # Errors
    /// A damaged copy, a newer schema, or the depository's; what came before the error stays.
    pub fn take_over_depository(&self, from: &Path) -> Result<MergeReport, SharingError> {
        self.learner.take_over(from)
    }

    /// What is known and was counted, as JSON.
    pub fn status(&self, now_ms: i64) -> String {
        let mut state = self.state.lock();
        let recording = Recording {
            runs: state.runs.recording(),
            resumed: state.runs.resumed(),
            failed_checkpoints: self.checkpoints.failed(),
            lost_samples: self.checkpoints.lost(),
        };
        let learned = Learned {
            profiles: self.learner.profile_count(),
            counts: self.learner.counts(),
        };
        let State {
            cluster, measured, ..
        } = &mut *state;
        let status = Status::new(
            cluster,
            measured,
            &self.counters,
            &learned,
            &recording,
            self.journal.dropped(),
            now_ms,
        );
        drop(state);
        serde_json::to_string(&status).unwrap_or_else(|error| {
            log::error!("the status cannot be written as JSON: {error}");
            "{}".to_owned()
        })
    }

    /// For the tests of the boundary: panics while the state is locked.
    pub fn panic_for_test(&self) {
        let _state = self.state.lock();
        #[allow(clippy::panic)]
        {
            panic!("a panic that a test asked for");
        }
    }
}
