//! All nodes, by number and by name.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::ops::RangeBounds;
use std::sync::Arc;

use super::enforced::Enforced;
use super::node::NodeEntry;
use super::request::Request;
use crate::cluster::Cluster;
use crate::cluster::settings::Exceptions;
use crate::ids::NodeId;

/// These nodes, and no others, are being taken out of the cluster.
pub fn drain(cluster: &mut Cluster, nodes: &[NodeId]) {
    let by_id = &mut cluster.state.nodes.by_id;
    by_id.values_mut().for_each(|entry| entry.is_draining = false);
    for node in nodes {
        if let Some(entry) = by_id.get_mut(node) {
            entry.is_draining = true;
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// Boxed, since half of the places of a tree that grows at its end stay free.
    by_id: BTreeMap<NodeId, Box<NodeEntry>>,
    by_name: HashMap<String, NodeId>,
    /// Sum over all nodes.
    registered: Request,
    /// Sums over the nodes of each label.
    registered_by_label: BTreeMap<Arc<str>, Request>,
    next: u32,
    enforced: Enforced,
}

impl Nodes {
    pub(crate) fn add(&mut self, name: &str, registered: Request) -> NodeId {
        let id = NodeId(self.next);
        self.next += 1;
        self.count(&Arc::default(), Request::default(), registered);
        let mut entry = NodeEntry::new(name, registered);
        entry.is_enforced = self.enforced.is_at(name, "");
        self.by_id.insert(id, Box::new(entry));
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// Returns the node's label.
    pub(crate) fn resize(&mut self, node: NodeId, registered: Request) -> Option<Arc<str>> {
        let entry = self.by_id.get_mut(&node)?;
        let (label, former) = (Arc::clone(&entry.label), entry.registered);
        entry.resize(registered);
        self.count(&label, former, registered);
        Some(label)
    }

    /// Gives a node another label; returns the former one if it was another.
    pub(crate) fn label(&mut self, node: NodeId, label: &str) -> Option<Arc<str>> {
        let entry = self.by_id.get_mut(&node).filter(|entry| &*entry.label != label)?;
        let former = std::mem::replace(&mut entry.label, label.into());
        entry.is_enforced = self.enforced.is_at(&entry.name, label);
        let (label, registered) = (Arc::clone(&entry.label), entry.registered);
        self.count(&former, registered, Request::default());
        self.count(&label, Request::default(), registered);
        Some(former)
    }

    /// Whether decisions are enforced on nodes that no exception names.
    pub(crate) fn enforce(&mut self, everywhere: bool) {
        self.enforced.everywhere = everywhere;
        self.read_enforced();
    }

    pub(crate) fn enforce_as(&mut self, exceptions: &Exceptions) {
        self.enforced.except(exceptions);
        self.read_enforced();
    }

    fn read_enforced(&mut self) {
        for entry in self.by_id.values_mut() {
            entry.is_enforced = self.enforced.is_at(&entry.name, &entry.label);
        }
    }

    fn count(&mut self, label: &Arc<str>, less: Request, more: Request) {
        self.registered = self.registered.minus(less).plus(more);
        let of_label = self.registered_by_label.entry(Arc::clone(label)).or_default();
        *of_label = of_label.minus(less).plus(more);
    }

    pub(crate) fn remove(&mut self, node: NodeId) -> Option<NodeEntry> {
        let entry = self.by_id.remove(&node)?;
        self.by_name.remove(&entry.name);
        self.count(&entry.label, entry.registered, Request::default());
        Some(*entry)
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<&NodeEntry> {
        self.by_id.get(&node).map(|entry| &**entry)
    }

    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut NodeEntry> {
        self.by_id.get_mut(&node).map(|entry| &mut **entry)
    }

    pub(crate) fn named(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        self.by_id.iter().map(|(id, entry)| (*id, &**entry))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut NodeEntry)> {
        self.range_mut(..)
    }

    /// The nodes in a range of numbers.
    pub(crate) fn range_mut(
        &mut self,
        numbers: impl RangeBounds<NodeId>,
    ) -> impl Iterator<Item = (NodeId, &mut NodeEntry)> {
        self.by_id.range_mut(numbers).map(|(id, entry)| (*id, &mut **entry))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &NodeEntry> {
        self.by_id.values().map(|entry| &**entry)
    }

    /// All nodes in the order of registration, starting behind `node` and ending with it.
    pub(crate) fn around(&self, node: NodeId) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        let behind = self.by_id.range((Excluded(node), Unbounded));
        let nodes = behind.chain(self.by_id.range(..=node));
        nodes.map(|(id, entry)| (*id, &**entry))
    }

    /// Sum of the registered sizes.
    pub(crate) fn registered(&self) -> Request {
        self.registered
    }

    /// Sum of the registered sizes of a label's nodes.
    pub(crate) fn registered_of(&self, label: &str) -> Request {
        self.registered_by_label.get(label).copied().unwrap_or_default()
    }

    /// Number of containers of this request that find room at once.
    pub(crate) fn room_for(&self, request: Request) -> u64 {
        let rooms = self.by_id.values().map(|entry| entry.room_for(request));
        rooms.fold(0, u64::saturating_add)
    }
}
