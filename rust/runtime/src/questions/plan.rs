//! What is planned on all nodes together.

use elastane_core::cluster::NodeId;
use elastane_core::{Cluster, Node};
use serde::Serialize;

use super::planned_series::{PlannedSeries, PlannedSum};
use crate::service_lock::ServiceLock;

/// Nodes that are copied before a heartbeat gets its turn.
const AT_ONCE: usize = 50;

#[derive(Debug, Serialize)]
pub(crate) struct ClusterPlan {
    nodes: usize,
    planned: PlannedSeries,
}

impl ClusterPlan {
    /// Of the nodes with a label, which is empty for those without; of all nodes without one. Nodes that come or go
    /// meanwhile may be left out.
    pub(crate) fn of(service: &ServiceLock, label: Option<&str>, now_ms: i64) -> Self {
        let ids = ids(service.lock().cluster(), label);
        let mut sum = PlannedSum::default();
        let mut nodes = 0;
        for some in ids.chunks(AT_ONCE) {
            let copies = copies(service.lock().cluster(), some);
            copies.iter().for_each(|node| sum.add(&node.available(now_ms)));
            nodes += copies.len();
        }
        Self { nodes, planned: sum.series() }
    }
}

fn ids(cluster: &Cluster, label: Option<&str>) -> Vec<NodeId> {
    let nodes = cluster.nodes();
    let wanted = nodes.filter(|(_, entry)| label.is_none_or(|label| *entry.label == *label));
    wanted.map(|(id, _)| id).collect()
}

fn copies(cluster: &Cluster, ids: &[NodeId]) -> Vec<Node> {
    ids.iter().filter_map(|id| Some(cluster.node(*id)?.node.clone())).collect()
}
