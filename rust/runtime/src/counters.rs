//! Counters since the start, and `status` as JSON.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use elastane_protocol::PREVIOUS_VERSION;
use serde::Serialize;

use crate::foresight::Foresight;
use crate::journal::{
    DeadlineState, JournalEvent, MigrationCause, MigrationState, Preemption, PreemptionOutcome,
};
use crate::report::Ingested;
use crate::status::ServiceStatus;

/// A prediction is of one application and kind of container.
#[derive(Default, Serialize)]
pub(crate) struct Counters {
    /// Containers that the core admitted in the commit, whoever proposed them. Java counts those that
    /// the core's order led to.
    admitted_by_core: AtomicU64,
    admitted_by_capacity_scheduler: AtomicU64,
    pub(crate) refused_commits: AtomicU64,
    reports: AtomicU64,
    /// Of these, in the previous version of the protocol.
    previous_version_reports: AtomicU64,
    refused_reports: AtomicU64,
    samples: AtomicU64,
    repeated_samples: AtomicU64,
    /// Measured time of containers that were planned by a profile, and the parts in which it covered their use.
    predicted_ms: AtomicU64,
    cpu_covered_ms: AtomicU64,
    memory_covered_ms: AtomicU64,
    /// Predicted and used amounts in that time.
    predicted_core_ms: AtomicU64,
    predicted_used_core_ms: AtomicU64,
    predicted_mb_ms: AtomicU64,
    predicted_used_mb_ms: AtomicU64,
    memory_preemptions: AtomicU64,
    spared_memory_victims: AtomicU64,
    refused_memory_victims: AtomicU64,
    /// On nodes short of memory.
    executors_told_to_leave: AtomicU64,
    /// On nodes that are being decommissioned.
    executors_drained: AtomicU64,
    executors_that_cannot_leave: AtomicU64,
    reprovision_windows: AtomicU64,
    reprovision_measured: AtomicU64,
    reprovision_too_little_left: AtomicU64,
    /// From earlier runs.
    pub(crate) foreseen_by_runs: AtomicU64,
    /// By a model of the settings.
    pub(crate) foreseen_by_settings: AtomicU64,
    /// By what other applications used of their requests.
    pub(crate) foreseen_by_others: AtomicU64,
    /// Earlier runs were known, and the request was planned by all the same.
    pub(crate) foreseen_by_request: AtomicU64,
    deadlines_met: AtomicU64,
    deadlines_missed: AtomicU64,
    pub(crate) models_trained: AtomicU64,
    /// Searches of starts that panicked.
    pub(crate) planning_failures: AtomicU64,
    /// Steps of learning that panicked.
    pub(crate) learning_failures: AtomicU64,
    /// False while a substitute stands for the depository.
    pub(crate) depository_in_service: AtomicBool,
    /// Attempts to open the depository that failed.
    pub(crate) depository_failures: AtomicU64,
    /// Whether records reach the journal, or none are to be written.
    pub(crate) journal_in_service: AtomicBool,
    /// Attempts to open or write the journal that failed.
    pub(crate) journal_failures: AtomicU64,
    pub(crate) checkpoints_failed: AtomicU64,
    /// Attempts to save runs that ended which failed.
    pub(crate) run_saves_failed: AtomicU64,
    /// Samples that were dropped because the depository could not be written for too long.
    pub(crate) samples_lost: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self {
            depository_in_service: true.into(),
            journal_in_service: true.into(),
            ..Self::default()
        }
    }

    /// Counts a report in a version of the protocol.
    pub(crate) fn reported(&self, version: u16, is_taken: bool) {
        if !is_taken {
            return count(&self.refused_reports);
        }
        count(&self.reports);
        if version == PREVIOUS_VERSION {
            count(&self.previous_version_reports);
        }
    }

    /// Counts the samples of a report.
    pub(crate) fn ingested(&self, ingested: &Ingested) {
        self.samples.fetch_add(ingested.samples, Relaxed);
        self.repeated_samples.fetch_add(ingested.repeated, Relaxed);
        self.refused_memory_victims.fetch_add(ingested.unknown_victims, Relaxed);
        let Foresight {
            predicted_ms,
            cpu_covered_ms,
            memory_covered_ms,
            predicted_core_ms,
            used_core_ms,
            predicted_mb_ms,
            used_mb_ms,
        } = ingested.foresight;
        for (counter, amount) in [
            (&self.predicted_ms, predicted_ms),
            (&self.cpu_covered_ms, cpu_covered_ms),
            (&self.memory_covered_ms, memory_covered_ms),
            (&self.predicted_core_ms, predicted_core_ms),
            (&self.predicted_used_core_ms, used_core_ms),
            (&self.predicted_mb_ms, predicted_mb_ms),
            (&self.predicted_used_mb_ms, used_mb_ms),
        ] {
            counter.fetch_add(amount as u64, Relaxed);
        }
    }

    /// Counts what the journal records.
    pub(crate) fn record(&self, event: &JournalEvent) {
        let counter = match event {
            JournalEvent::Placed(placed) if placed.by_core => &self.admitted_by_core,
            JournalEvent::Placed(_) => &self.admitted_by_capacity_scheduler,
            JournalEvent::Preemption(preemption) => match &**preemption {
                Preemption::ForMemory(preemption) => match preemption.outcome {
                    PreemptionOutcome::Preempted => &self.memory_preemptions,
                    PreemptionOutcome::Spared => &self.spared_memory_victims,
                    PreemptionOutcome::Refused => &self.refused_memory_victims,
                    PreemptionOutcome::Told | PreemptionOutcome::Observed => return,
                },
                Preemption::ByCapacityScheduler(_) => return,
            },
            JournalEvent::Migration(migration) => match migration.state {
                MigrationState::Leaves => match migration.cause {
                    MigrationCause::ShortOfMemory => &self.executors_told_to_leave,
                    MigrationCause::NodeDrained => &self.executors_drained,
                },
                MigrationState::NotHandled
                | MigrationState::NoExecutor
                | MigrationState::Failed => &self.executors_that_cannot_leave,
            },
            JournalEvent::Deadline(news) => match news.state {
                DeadlineState::Met => &self.deadlines_met,
                DeadlineState::Missed => &self.deadlines_missed,
                DeadlineState::Given | DeadlineState::Planned => return,
            },
            JournalEvent::Reprovision(reprovision) => match &*reprovision.what {
                "opened" => &self.reprovision_windows,
                "measured" => &self.reprovision_measured,
                "too-little-left" => &self.reprovision_too_little_left,
                _ => return,
            },
            _ => return,
        };
        count(counter);
    }
}

/// Whether the parts that fail alone work, for the scheduler's metrics.
#[derive(Debug, Serialize)]
pub struct Health {
    depository_in_service: bool,
    journal_in_service: bool,
}

impl Health {
    pub(crate) fn new(counters: &Counters) -> Self {
        Self {
            depository_in_service: counters.depository_in_service.load(Relaxed),
            journal_in_service: counters.journal_in_service.load(Relaxed),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Status<'a> {
    #[serde(flatten)]
    pub(crate) service: ServiceStatus,
    pub(crate) profiles: usize,
    /// Whether the thread runs that learns and saves.
    pub(crate) learner_alive: bool,
    /// Work that it was given and has not finished.
    pub(crate) learner_backlog: usize,
    #[serde(flatten)]
    pub(crate) counters: &'a Counters,
    pub(crate) journal_dropped: u64,
}
