//! Bookable capacity: how much CapacityScheduler may hand out on a node.

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

impl Cluster {
    /// The nodes whose bookable capacity has to change: up to the configured ratio while the agent
    /// reports freshly, back to the registered size when it doesn't. At most `limit` of them; the
    /// next call names the others.
    pub fn bookable_changes(&mut self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        let settings = self.settings;
        let raised = (settings.max_ratio * 1e3).round() as u32;
        let mut changes = Vec::new();
        for (id, entry) in &mut self.nodes {
            let fresh = settings.enforce && entry.is_fresh(settings.fresh_for_ms, now_ms);
            let thousandths = if fresh { raised } else { 1_000 };
            if changes.len() < limit && thousandths != entry.bookable_thousandths {
                entry.bookable_thousandths = thousandths;
                changes.push(BookableChange {
                    node: *id,
                    thousandths,
                });
            }
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
