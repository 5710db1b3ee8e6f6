//! Orders for containers to leave their node.

use elastane_core::cluster::{NodeId, drain};

use super::Service;
use crate::journal::Record;
use crate::memory_victims::PreemptionOrder;

impl Service {
    /// The containers that have to give way now because their nodes are short of memory.
    ///
    /// `wait_ms` lies between telling an application master and ending its container. Each order is
    /// given once; the order to end a container again after 10 s while the container is still there.
    pub fn preemption_orders(
        &mut self,
        wait_ms: i64,
        now_ms: i64,
    ) -> (Vec<PreemptionOrder>, Vec<Record>) {
        self.giving_way.orders(&self.cluster, wait_ms, now_ms)
    }

    /// These nodes, and no others, are being decommissioned: their Spark executors are told to leave with the replies to the
    /// next reports.
    pub fn draining(&mut self, nodes: &[NodeId]) {
        drain(&mut self.cluster, nodes);
    }
}
