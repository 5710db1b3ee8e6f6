//! What the core knows and counted, for `status`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use elastane_core::Cluster;
use elastane_core::cluster::Held;
use serde::Serialize;

/// What happened since the core was opened.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) placed_by_core: AtomicU64,
    pub(crate) placed_by_capacity_scheduler: AtomicU64,
    pub(crate) refused_commits: AtomicU64,
    pub(crate) reports: AtomicU64,
    pub(crate) refused_reports: AtomicU64,
    pub(crate) samples: AtomicU64,
    pub(crate) repeated_samples: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

#[derive(Serialize)]
pub(crate) struct Status {
    mode: &'static str,
    profiles: usize,
    runs_recording: usize,
    placed_by_core: u64,
    placed_by_capacity_scheduler: u64,
    refused_commits: u64,
    reports: u64,
    refused_reports: u64,
    samples: u64,
    repeated_samples: u64,
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
}

#[derive(Serialize)]
struct WaitingStatus {
    application: String,
    containers: u32,
    for_ms: i64,
    reason: String,
}

impl Status {
    pub(crate) fn new(
        cluster: &Cluster,
        counters: &Counters,
        profiles: usize,
        runs_recording: usize,
        journal_dropped: u64,
        now_ms: i64,
    ) -> Self {
        let nodes = cluster.nodes().map(|(_, entry)| NodeStatus {
            node: entry.name.clone(),
            bookable_ratio: f64::from(entry.bookable_thousandths) / 1e3,
            report_age_ms: entry.last_report_ms.map(|last_ms| now_ms - last_ms),
            containers: entry.node.running_count(),
            booked_memory_bytes: entry.booked.memory_bytes,
            booked_vcores: entry.booked.vcores,
            registered_memory_bytes: entry.registered.memory_bytes,
            registered_vcores: entry.registered.vcores,
        });
        let waiting = cluster.applications().filter_map(|(_, application)| {
            let ask = application.waiting?;
            let name = |node| {
                cluster
                    .node(node)
                    .map_or("a node that is gone", |entry| entry.name.as_str())
            };
            let reason = match application.held {
                None => "no node had free space by request, or none was asked yet".to_owned(),
                Some(Held::NoFit { node, excess }) => format!("{}: {excess}", name(node)),
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
            };
            Some(WaitingStatus {
                application: application.id.clone(),
                containers: ask.count,
                for_ms: now_ms - application.waiting_since_ms,
                reason,
            })
        });
        Self {
            mode: if cluster.settings().enforce {
                "enforce"
            } else {
                "observe"
            },
            profiles,
            runs_recording,
            placed_by_core: counters.placed_by_core.load(Relaxed),
            placed_by_capacity_scheduler: counters.placed_by_capacity_scheduler.load(Relaxed),
            refused_commits: counters.refused_commits.load(Relaxed),
            reports: counters.reports.load(Relaxed),
            refused_reports: counters.refused_reports.load(Relaxed),
            samples: counters.samples.load(Relaxed),
            repeated_samples: counters.repeated_samples.load(Relaxed),
            journal_dropped,
            nodes: nodes.collect(),
            waiting: waiting.collect(),
        }
    }
}
