//! Nodes and waiting applications, for `status`.

use std::collections::HashMap;

use elastane_core::Cluster;
use elastane_core::cluster::{KeptNode, NodeId, WaitReason};
use serde::Serialize;

use crate::measured::Measured;
use crate::runs::Runs;

/// Nodes and waiting applications.
#[derive(Debug, Serialize)]
pub struct ServiceStatus {
    mode: &'static str,
    runs_recording: usize,
    /// Runs that an earlier process began to record.
    runs_resumed: u64,
    nodes: Vec<NodeStatus>,
    waiting: Vec<WaitingStatus>,
}

#[derive(Debug, Serialize)]
struct NodeStatus {
    node: String,
    bookable_memory_ratio: f64,
    bookable_vcores_ratio: f64,
    report_age_ms: Option<i64>,
    containers: usize,
    booked_memory_bytes: u64,
    booked_vcores: u32,
    registered_memory_bytes: u64,
    registered_vcores: u32,
    /// From the newest report; none before the first one.
    measured: Option<Measured>,
}

#[derive(Debug, Serialize)]
struct WaitingStatus {
    application: String,
    /// The priority of the next container's request; an application master's has none.
    request_priority: Option<i32>,
    containers: u32,
    for_ms: i64,
    reason: String,
}

impl ServiceStatus {
    pub(crate) fn new(
        cluster: &mut Cluster,
        measured: &HashMap<NodeId, Measured>,
        runs: &Runs,
        now_ms: i64,
    ) -> Self {
        let nodes = cluster.nodes().map(|(number, entry)| NodeStatus {
            node: entry.name.clone(),
            bookable_memory_ratio: f64::from(entry.bookable.memory_thousandths) / 1e3,
            bookable_vcores_ratio: f64::from(entry.bookable.vcores_thousandths) / 1e3,
            report_age_ms: entry.last_report_ms.map(|last_ms| now_ms - last_ms),
            containers: entry.node.running_count(),
            booked_memory_bytes: entry.booked.memory_bytes,
            booked_vcores: entry.booked.vcores,
            registered_memory_bytes: entry.registered.memory_bytes,
            registered_vcores: entry.registered.vcores,
            measured: measured.get(&number).cloned(),
        });
        let nodes = nodes.collect();
        let applications = cluster.applications();
        let asking: Vec<_> =
            applications.filter_map(|(id, application)| Some((id, application.waiting?))).collect();
        let waiting = asking.into_iter().filter_map(|(id, ask)| {
            let why = cluster.wait_reason(id, now_ms);
            let application = cluster.application(id)?;
            Some(WaitingStatus {
                application: application.id.clone(),
                request_priority: ask.kind.priority(),
                containers: ask.count,
                for_ms: now_ms - application.waiting_since_ms,
                reason: reason(cluster, why, now_ms),
            })
        });
        let waiting = waiting.collect();
        let mode = if cluster.settings().enforce { "enforce" } else { "observe" };
        Self {
            mode,
            runs_recording: runs.recording(),
            runs_resumed: runs.resumed(),
            nodes,
            waiting,
        }
    }
}

fn reason(cluster: &Cluster, why: Option<WaitReason>, now_ms: i64) -> String {
    let node = |node| {
        let entry = cluster.node(node);
        entry.map_or("a node that is gone", |entry| entry.name.as_str())
    };
    let application = |application| {
        let application = cluster.application(application);
        application.map_or("an application that is gone", |it| it.id.as_str())
    };
    let Some(why) = why else {
        return "no node had free space by request, or none was asked yet".to_owned();
    };
    let (at, reason) = match why {
        WaitReason::NoFit { node, excess: Some(excess), .. } => (node, excess.to_string()),
        WaitReason::NoFit { node, resource, .. } => {
            let resource = resource.name();
            (node, format!("{resource} was short when last asked, and is not now"))
        }
        WaitReason::Passed { node: at, better, gain_ms } => {
            let (better, gain_s) = (node(better), gain_ms as f64 / 1e3);
            (at, format!("waits for {better}, where its work is done {gain_s:.1} s sooner"))
        }
        WaitReason::Behind { node, behind } => {
            let first = application(behind);
            (node, format!("room is held for {first}, which goes first"))
        }
        WaitReason::Kept(kept) => {
            let (other, start) = (application(kept.application), planned_start(&kept, now_ms));
            (kept.node, format!("kept for {other}, {start}"))
        }
        WaitReason::AtMaximum { node } => {
            (node, "its queue is at its maximum capacity by demand".to_owned())
        }
        WaitReason::Keeps(kept) => {
            (kept.node, format!("kept for it, {}", planned_start(&kept, now_ms)))
        }
    };
    format!("{}: {reason}", node(at))
}

fn planned_start(kept: &KeptNode, now_ms: i64) -> String {
    match kept.start_ms {
        Some(start_ms) => {
            format!("which by plan goes there in {:.1} s", (start_ms - now_ms).max(0) as f64 / 1e3)
        }
        None => {
            "which goes there when what runs there without a predicted end has ended".to_owned()
        }
    }
}
