//! Bookable capacity: how much CapacityScheduler may hand out on a node.

use super::Cluster;
use super::node_entry::{NodeEntry, NodeId};

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
    pub fn may_preempt(&self, absolute_capacity: f64, used_memory_bytes: u64) -> bool {
        let shrunk =
            |entry: &NodeEntry| entry.bookable_thousandths == 1_000 && entry.is_overbooked();
        if !self.nodes.values().any(shrunk) {
            return true;
        }
        let former_memory_bytes: f64 = self
            .nodes
            .values()
            .map(|entry| {
                let ratio = if shrunk(entry) {
                    self.settings.max_ratio
                } else {
                    f64::from(entry.bookable_thousandths) / 1e3
                };
                let booked = entry.booked.memory_bytes as f64;
                booked.max(entry.registered.memory_bytes as f64 * ratio)
            })
            .sum();
        used_memory_bytes as f64 > absolute_capacity * former_memory_bytes
    }
}
