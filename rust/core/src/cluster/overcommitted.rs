//! Containers beyond what their node's registered memory holds by requests.

use super::Cluster;
use super::container::Container;
use super::node_entry::NodeId;

impl Cluster {
    /// The containers of a node, in order of start, from that on with which the sum of their
    /// requests passes the node's registered memory. CapacityScheduler alone would have started none
    /// of them while those before them run.
    #[must_use]
    pub fn overcommitted(&self, node: NodeId) -> Vec<(&str, &Container)> {
        let Some(entry) = self.nodes.get(&node) else {
            return Vec::new();
        };
        let mut containers: Vec<_> = entry
            .containers
            .values()
            .filter_map(|id| Some((id.as_ref(), self.containers.get(id)?)))
            .collect();
        containers.sort_by_key(|(_, container)| (container.start_ms, container.executor));
        let mut requested_bytes: u64 = 0;
        let fitting = containers
            .iter()
            .take_while(|(_, container)| {
                requested_bytes = requested_bytes.saturating_add(container.request.memory_bytes);
                requested_bytes <= entry.registered.memory_bytes
            })
            .count();
        containers.split_off(fitting)
    }
}
