//! All nodes, and their bookable capacity: the size that CapacityScheduler may hand out.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};

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

#[derive(Debug, Default)]
pub(crate) struct Nodes {
    by_id: BTreeMap<NodeId, NodeEntry>,
    by_name: HashMap<String, NodeId>,
    /// Sum over all nodes.
    registered: Request,
    next: u32,
}

impl Nodes {
    pub(crate) fn add(&mut self, name: &str, registered: Request) -> NodeId {
        let id = NodeId(self.next);
        self.next += 1;
        self.by_id.insert(id, NodeEntry::new(name, registered));
        self.registered = self.registered.plus(registered);
        self.by_name.insert(name.to_owned(), id);
        id
    }

    pub(crate) fn resize(&mut self, node: NodeId, registered: Request) {
        if let Some(entry) = self.by_id.get_mut(&node) {
            self.registered = self.registered.minus(entry.registered).plus(registered);
            entry.resize(registered);
        }
    }

    pub(crate) fn remove(&mut self, node: NodeId) -> Option<NodeEntry> {
        let entry = self.by_id.remove(&node)?;
        self.by_name.remove(&entry.name);
        self.registered = self.registered.minus(entry.registered);
        Some(entry)
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<&NodeEntry> {
        self.by_id.get(&node)
    }

    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut NodeEntry> {
        self.by_id.get_mut(&node)
    }

    pub(crate) fn named(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        self.by_id.iter().map(|(id, entry)| (*id, entry))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &NodeEntry> {
        self.by_id.values()
    }

    /// All nodes in the order of registration, starting behind `node` and ending with it.
    pub(crate) fn around(&self, node: NodeId) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        let behind = self.by_id.range((Excluded(node), Unbounded));
        let nodes = behind.chain(self.by_id.range(..=node));
        nodes.map(|(id, entry)| (*id, entry))
    }

    /// Sum of the registered sizes.
    pub(crate) fn registered(&self) -> Request {
        self.registered
    }

    /// Number of containers of this request that find room at once.
    pub(crate) fn room_for(&self, request: Request) -> u64 {
        let rooms = self.by_id.values().map(|entry| entry.room_for(request));
        rooms.fold(0, u64::saturating_add)
    }

    /// The nodes whose bookable capacity has to change, at most `limit` of them.
    pub(crate) fn bookable_changes(
        &mut self,
        settings: &ClusterSettings,
        limit: usize,
        now_ms: i64,
    ) -> Vec<BookableChange> {
        let raised = (settings.max_ratio * 1e3).round() as u32;
        let changing = self.by_id.iter_mut().filter_map(|(node, entry)| {
            let is_raised = settings.enforce && entry.is_fresh(settings.fresh_for_ms, now_ms);
            let thousandths = if is_raised { raised } else { 1_000 };
            (thousandths != entry.bookable_thousandths).then(|| {
                entry.bookable_thousandths = thousandths;
                BookableChange { node: *node, thousandths }
            })
        });
        changing.take(limit).collect()
    }

    /// Whether CapacityScheduler may preempt a container of a queue with this share of the cluster.
    ///
    /// A node that was lowered to its registered size while more is booked makes the cluster look
    /// smaller than it was when those containers were booked. Until the node has come down, a queue
    /// that uses no more than its share of the former size keeps its containers.
    pub(crate) fn may_preempt(
        &self,
        settings: &ClusterSettings,
        absolute_capacity: f64,
        used: Request,
    ) -> bool {
        if !self.entries().any(has_shrunk) {
            return true;
        }
        let mut former_memory_bytes = 0.0;
        let mut former_vcores = 0.0;
        for entry in self.entries() {
            let ratio = if has_shrunk(entry) {
                settings.max_ratio
            } else {
                f64::from(entry.bookable_thousandths) / 1e3
            };
            let former = |booked: f64, registered: f64| booked.max(registered * ratio);
            former_memory_bytes +=
                former(entry.booked.memory_bytes as f64, entry.registered.memory_bytes as f64);
            former_vcores +=
                former(f64::from(entry.booked.vcores), f64::from(entry.registered.vcores));
        }
        let above = |used: f64, former: f64| used > absolute_capacity * former;
        above(used.memory_bytes as f64, former_memory_bytes)
            || settings.virtual_cores_count && above(f64::from(used.vcores), former_vcores)
    }
}

fn has_shrunk(entry: &NodeEntry) -> bool {
    entry.bookable_thousandths == 1_000 && entry.is_overbooked()
}
