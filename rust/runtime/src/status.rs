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
    bookable_ratio: f64,
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
                let held = cluster.wait_reason(id, now_ms);
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
            runs_recording: runs.recording(),
            runs_resumed: runs.resumed(),
            nodes,
            waiting,
        }
    }
}

fn reason(cluster: &Cluster, held: Option<WaitReason>, now_ms: i64) -> String {
    let name = |node| {
        cluster
            .node(node)
            .map_or("a node that is gone", |entry| entry.name.as_str())
    };
    match held {
        None => "no node had free space by request, or none was asked yet".to_owned(),
        Some(WaitReason::NoFit {
            node,
            excess: Some(excess),
            ..
        }) => format!("{}: {excess}", name(node)),
        Some(WaitReason::NoFit { node, resource, .. }) => format!(
            "{}: {} was short when last asked, and is not now",
            name(node),
            resource.name()
        ),
        Some(WaitReason::Passed {
            node,
            better,
            gain_ms,
        }) => format!(
            "{}: waits for {}, where its work is done {:.1} s sooner",
            name(node),
            name(better),
            gain_ms as f64 / 1e3
        ),
        Some(WaitReason::Behind { node, behind }) => {
            let first = cluster.application(behind);
            format!(
                "{}: room is held for {}, which goes first",
                name(node),
                first.map_or("an application that is gone", |first| first.id.as_str())
            )
        }
        Some(WaitReason::Kept(kept)) => {
            let other = cluster.application(kept.application);
            format!(
                "{}: kept for {}, {}",
                name(kept.node),
                other.map_or("an application that is gone", |other| other.id.as_str()),
                planned_start(&kept, now_ms)
            )
        }
        Some(WaitReason::Keeps(kept)) => format!(
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
