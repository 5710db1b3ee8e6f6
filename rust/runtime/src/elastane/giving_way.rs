//! Orders for containers to leave their node.

use elastane_core::cluster::NodeId;

use super::Elastane;
use crate::memory_victims::PreemptionOrder;

impl Elastane {
    /// See [`Service::preemption_orders`].
    pub fn preemption_orders(&self, wait_ms: i64, now_ms: i64) -> Vec<PreemptionOrder> {
        let mut service = self.service.lock();
        let (orders, records) = service.preemption_orders(wait_ms, now_ms);
        self.decisions.record_all(records);
        orders
    }

    /// See [`Service::draining`](crate::Service::draining).
    pub fn draining(&self, nodes: &[NodeId]) {
        self.service.lock().draining(nodes);
    }
}
