//! Bookable capacity: how much CapacityScheduler may hand out on a node.

use std::collections::BTreeSet;

use super::Cluster;
use super::node_entry::{NodeEntry, NodeId, Request};

/// A node whose bookable capacity has to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookableChange {
    /// Which node.
    pub node: NodeId,
    /// Bookable over registered size, in thousandths.
    pub thousandths: u32,
}

/// The nodes that [`Cluster::bookable_changes`] has to look at, so that it need not look at all.
#[derive(Debug, Default)]
pub(super) struct BookableWatch {
    /// Nodes that may have to change.
    unsettled: BTreeSet<NodeId>,
    /// All others that report, by their last report.
    by_report: BTreeSet<(i64, NodeId)>,
}

impl BookableWatch {
    /// A node reported, and before that at `former_ms`.
    pub(super) fn reported(&mut self, node: NodeId, former_ms: Option<i64>, now_ms: i64) {
        self.forget(node, former_ms);
        self.by_report.insert((now_ms, node));
        self.unsettled.insert(node);
    }

    pub(super) fn forget(&mut self, node: NodeId, last_report_ms: Option<i64>) {
        if let Some(last_ms) = last_report_ms {
            self.by_report.remove(&(last_ms, node));
        }
        self.unsettled.remove(&node);
    }

    fn expire(&mut self, fresh_for_ms: i64, now_ms: i64) {
        while let Some((last_ms, node)) = self.by_report.first().copied()
            && now_ms.saturating_sub(last_ms) > fresh_for_ms
        {
            self.by_report.pop_first();
            self.unsettled.insert(node);
        }
    }
}

impl Cluster {
    /// The nodes whose bookable capacity has to change: up to the configured ratio while the agent
    /// reports freshly, back to the registered size when it doesn't. At most `limit` of them; the
    /// next call names the others.
    pub fn bookable_changes(&mut self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        let settings = self.settings;
        let raised = (settings.max_ratio * 1e3).round() as u32;
        self.bookable_watch.expire(settings.fresh_for_ms, now_ms);
        let mut changes = Vec::new();
        while let Some(node) = self.bookable_watch.unsettled.first().copied() {
            if let Some(entry) = self.nodes.get_mut(&node) {
                let fresh = settings.enforce && entry.is_fresh(settings.fresh_for_ms, now_ms);
                let thousandths = if fresh { raised } else { 1_000 };
                if thousandths != entry.bookable_thousandths {
                    if changes.len() == limit {
                        break;
                    }
                    entry.bookable_thousandths = thousandths;
                    changes.push(BookableChange { node, thousandths });
                }
            }
            self.bookable_watch.unsettled.pop_first();
        }
        changes
    }

    /// Whether CapacityScheduler may preempt a container of a queue with this share of the cluster.
    ///
    /// A node that went back to its registered size while more than that runs on it makes the
    /// cluster look smaller than it was when those containers were booked. Until it has come down,
    /// a queue that uses no more than its share of the former size keeps what it has.
    #[must_use]
    pub fn may_preempt(&self, absolute_capacity: f64, used: Request) -> bool {
        if !self.nodes.values().any(has_shrunk) {
            return true;
        }
        let mut former_memory_bytes = 0.0;
        let mut former_vcores = 0.0;
        for entry in self.nodes.values() {
            let ratio = if has_shrunk(entry) {
                self.settings.max_ratio
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
        let counts_vcores = self.settings.virtual_cores_count;
        above(used.memory_bytes as f64, former_memory_bytes)
            || counts_vcores && above(f64::from(used.vcores), former_vcores)
    }
}

fn has_shrunk(entry: &NodeEntry) -> bool {
    entry.bookable_thousandths == 1_000 && entry.is_overbooked()
}
