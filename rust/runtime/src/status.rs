//! What the core knows and counted, for `status`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use elastane_core::Cluster;
use elastane_core::cluster::{Held, KeptNode, NodeId};
use serde::Serialize;

use crate::learner::Counts;
use crate::measured::Measured;

/// What happened since the core was opened.
#[derive(Default)]
pub(crate) struct Counters {
    /// Containers that the core let through in the commit, whoever proposed them. Those that its
    /// order led to are counted in Java.
    pub(crate) admitted_by_core: AtomicU64,
    pub(crate) admitted_by_capacity_scheduler: AtomicU64,
    pub(crate) refused_commits: AtomicU64,
    pub(crate) reports: AtomicU64,
    pub(crate) refused_reports: AtomicU64,
    pub(crate) samples: AtomicU64,
    pub(crate) repeated_samples: AtomicU64,
    pub(crate) memory_preemptions: AtomicU64,
    pub(crate) spared_memory_victims: AtomicU64,
    pub(crate) refused_memory_victims: AtomicU64,
    pub(crate) reprovision_windows: AtomicU64,
    pub(crate) reprovision_measured: AtomicU64,
    pub(crate) reprovision_too_little_left: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// What is recorded of running applications.
pub(crate) struct Recording {
    /// How many run.
    pub(crate) runs: usize,
    /// How many an earlier process began to record.
    pub(crate) resumed: u64,
    /// How often it could not be saved, and how much of it never will be.
    pub(crate) failed_checkpoints: u64,
    pub(crate) lost_samples: u64,
}

/// What is known of applications.
pub(crate) struct Learned<'a> {
    pub(crate) profiles: usize,
    pub(crate) counts: &'a Counts,
}

#[derive(Serialize)]
pub(crate) struct Status {
    mode: &'static str,
    profiles: usize,
    foreseen_by_runs: u64,
    foreseen_by_settings: u64,
    foreseen_by_request: u64,
    models_trained: u64,
    runs_recording: usize,
    runs_resumed: u64,
    checkpoints_failed: u64,
    samples_lost: u64,
    admitted_by_core: u64,
    admitted_by_capacity_scheduler: u64,
    refused_commits: u64,
    reports: u64,
    refused_reports: u64,
    samples: u64,
    repeated_samples: u64,
    memory_preemptions: u64,
    spared_memory_victims: u64,
    refused_memory_victims: u64,
    reprovision_windows: u64,
    reprovision_measured: u64,
    reprovision_too_little_left: u64,
    journal_dropped: u64,
    nodes: Vec<NodeStatus>,
    waiting: Vec<WaitingStatus>,
}

#[derive(Serialize)]
struct NodeStatus {
    node: String,
    bookable_ratio: f64,
    report_age_ms: Option<i64>,
    containers: usize,
    booked_memory_bytes: u64,
    booked_vcores: u32,
    registered_memory_bytes: u64,
    registered_vcores: u32,
    /// What its newest report says; none before the first one.
    measured: Option<Measured>,
}

#[derive(Serialize)]
struct WaitingStatus {
    application: String,
    /// Of its next container's request; an application master's has none.
    request_priority: Option<i32>,
    containers: u32,
    for_ms: i64,
    reason: String,
}

impl Status {
    pub(crate) fn new(
        cluster: &mut Cluster,
        measured: &HashMap<NodeId, Measured>,
        counters: &Counters,
        learned: &Learned<'_>,
        recording: &Recording,
        journal_dropped: u64,
        now_ms: i64,
    ) -> Self {
        let nodes = cluster.nodes().map(|(number, entry)| NodeStatus {
            node: entry.name.clone(),
            bookable_ratio: f64::from(entry.bookable_thousandths) / 1e3,
            report_age_ms: entry.last_report_ms.map(|last_ms| now_ms - last_ms),
            containers: entry.node.running_count(),
            booked_memory_bytes: entry.booked.memory_bytes,
            booked_vcores: entry.booked.vcores,
            registered_memory_bytes: entry.registered.memory_bytes,
            registered_vcores: entry.registered.vcores,
            measured: measured.get(&number).cloned(),
        });
        let nodes = nodes.collect();
        let waiting: Vec<_> = cluster
            .applications()
            .filter_map(|(id, application)| Some((id, application.waiting?)))
            .collect();
        let waiting = waiting
            .into_iter()
            .filter_map(|(id, ask)| {
                let held = cluster.held(id, now_ms);
                let application = cluster.application(id)?;
                Some(WaitingStatus {
                    application: application.id.clone(),
                    request_priority: ask.kind.priority(),
                    containers: ask.count,
                    for_ms: now_ms - application.waiting_since_ms,
                    reason: reason(cluster, held, now_ms),
                })
            })
            .collect();
        Self {
            mode: if cluster.settings().enforce {
                "enforce"
            } else {
                "observe"
            },
            profiles: learned.profiles,
            foreseen_by_runs: learned.counts.by_runs(),
            foreseen_by_settings: learned.counts.by_settings(),
            foreseen_by_request: learned.counts.by_request(),
            models_trained: learned.counts.models(),
            runs_recording: recording.runs,
            runs_resumed: recording.resumed,
            checkpoints_failed: recording.failed_checkpoints,
            samples_lost: recording.lost_samples,
            admitted_by_core: counters.admitted_by_core.load(Relaxed),
            admitted_by_capacity_scheduler: counters.admitted_by_capacity_scheduler.load(Relaxed),
            refused_commits: counters.refused_commits.load(Relaxed),
            reports: counters.reports.load(Relaxed),
            refused_reports: counters.refused_reports.load(Relaxed),
            samples: counters.samples.load(Relaxed),
            repeated_samples: counters.repeated_samples.load(Relaxed),
            memory_preemptions: counters.memory_preemptions.load(Relaxed),
            spared_memory_victims: counters.spared_memory_victims.load(Relaxed),
            refused_memory_victims: counters.refused_memory_victims.load(Relaxed),
            reprovision_windows: counters.reprovision_windows.load(Relaxed),
            reprovision_measured: counters.reprovision_measured.load(Relaxed),
            reprovision_too_little_left: counters.reprovision_too_little_left.load(Relaxed),
            journal_dropped,
            nodes,
            waiting,
        }
    }
}

fn reason(cluster: &Cluster, held: Option<Held>, now_ms: i64) -> String {
    let name = |node| {
        cluster
            .node(node)
            .map_or("a node that is gone", |entry| entry.name.as_str())
    };
    match held {
        None => "no node had free space by request, or none was asked yet".to_owned(),
        Some(Held::NoFit {
            node,
            excess: Some(excess),
            ..
        }) => format!("{}: {excess}", name(node)),
        Some(Held::NoFit { node, resource, .. }) => format!(
            "{}: {} was short when last asked, and is not now",
            name(node),
            resource.name()
        ),
        Some(Held::Passed {
            node,
            better,
            gain_ms,
        }) => format!(
            "{}: waits for {}, where its work is done {:.1} s sooner",
            name(node),
            name(better),
            gain_ms as f64 / 1e3
        ),
        Some(Held::Behind { node, behind }) => {
            let first = cluster.application(behind);
            format!(
                "{}: room is held for {}, which goes first",
                name(node),
                first.map_or("an application that is gone", |first| first.id.as_str())
            )
        }
        Some(Held::Kept(kept)) => {
            let other = cluster.application(kept.application);
            format!(
                "{}: kept for {}, {}",
                name(kept.node),
                other.map_or("an application that is gone", |other| other.id.as_str()),
                planned_start(&kept, now_ms)
            )
        }
        Some(Held::Keeps(kept)) => format!(
            "{}: kept for it, {}",
            name(kept.node),
            planned_start(&kept, now_ms)
        ),
    }
}

fn planned_start(kept: &KeptNode, now_ms: i64) -> String {
    match kept.start_ms {
        Some(start_ms) => format!(
            "which by plan goes there in {:.1} s",
            (start_ms - now_ms).max(0) as f64 / 1e3
        ),
        None => {
            "which goes there when what runs there without a predicted end has ended".to_owned()
        }
    }
}
