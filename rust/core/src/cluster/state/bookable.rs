//! Bookable capacity: the size that CapacityScheduler may hand out on a node.

use std::collections::BTreeSet;

use super::node::NodeEntry;
use super::request::Request;
use crate::cluster::settings::ClusterSettings;
use crate::ids::NodeId;

/// A node whose bookable capacity has to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookableChange {
    /// Which node.
    pub node: NodeId,
    /// Bookable over registered size, in thousandths.
    pub thousandths: u32,
}

/// The nodes that [`Nodes::bookable_changes`](super::nodes::Nodes::bookable_changes) has to check,
/// so that it need not check every node.
#[derive(Debug, Default)]
pub(crate) struct BookableWatch {
    /// Nodes whose bookable capacity may have to change.
    unsettled: BTreeSet<NodeId>,
    /// All other reporting nodes, by their latest report.
    by_report: BTreeSet<(i64, NodeId)>,
}

impl BookableWatch {
    /// A node reported; its previous report was at `former_ms`.
    pub(crate) fn reported(&mut self, node: NodeId, former_ms: Option<i64>, now_ms: i64) {
        self.forget(node, former_ms);
        self.by_report.insert((now_ms, node));
        self.unsettled.insert(node);
    }

    pub(crate) fn forget(&mut self, node: NodeId, last_report_ms: Option<i64>) {
        if let Some(last_ms) = last_report_ms {
            self.by_report.remove(&(last_ms, node));
        }
        self.unsettled.remove(&node);
    }

    pub(crate) fn expire(&mut self, fresh_for_ms: i64, now_ms: i64) {
        while let Some((last_ms, node)) = self.by_report.first().copied()
            && now_ms.saturating_sub(last_ms) > fresh_for_ms
        {
            self.by_report.pop_first();
            self.unsettled.insert(node);
        }
    }

    /// The first node whose bookable capacity may have to change.
    pub(crate) fn first_unsettled(&self) -> Option<NodeId> {
        self.unsettled.first().copied()
    }

    pub(crate) fn settle_first(&mut self) {
        self.unsettled.pop_first();
    }
}

/// Whether CapacityScheduler may preempt a container of a queue with this share of the cluster.
///
/// A node that was lowered to its registered size while more is booked makes the cluster look
/// smaller than it was when those containers were booked. Until the node has come down, a queue
/// that uses no more than its share of the former size keeps its containers.
pub(crate) fn may_preempt<'a>(
    settings: &ClusterSettings,
    nodes: impl Iterator<Item = &'a NodeEntry> + Clone,
    absolute_capacity: f64,
    used: Request,
) -> bool {
    if !nodes.clone().any(has_shrunk) {
        return true;
    }
    let mut former_memory_bytes = 0.0;
    let mut former_vcores = 0.0;
    for entry in nodes {
        let ratio = if has_shrunk(entry) {
            settings.max_ratio
        } else {
            f64::from(entry.bookable_thousandths) / 1e3
        };
        let former = |booked: f64, registered: f64| booked.max(registered * ratio);
        former_memory_bytes += former(
            entry.booked.memory_bytes as f64,
            entry.registered.memory_bytes as f64,
        );
        former_vcores += former(
            f64::from(entry.booked.vcores),
            f64::from(entry.registered.vcores),
        );
    }
    let above = |used: f64, former: f64| used > absolute_capacity * former;
    above(used.memory_bytes as f64, former_memory_bytes)
        || settings.virtual_cores_count && above(f64::from(used.vcores), former_vcores)
}

fn has_shrunk(entry: &NodeEntry) -> bool {
    entry.bookable_thousandths == 1_000 && entry.is_overbooked()
}
