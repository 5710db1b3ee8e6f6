//! Rules for applications that wait: deadlines, starvation, a kept node, application masters, and being skipped.

mod deadline;
mod kept_node;
mod master;
mod placed_sizes;
mod skips;
mod starvation;

pub(crate) use deadline::urgency;
pub use kept_node::KeptNode;
pub(crate) use kept_node::{KeptAsOffered, NodeKeeper};
pub(crate) use master::waits_for_others;
pub(crate) use skips::Skips;
pub(crate) use starvation::{admit, starves};

use super::Cluster;
use super::state::NodeId;

/// The nodes whose plans a round on `node` reads.
pub fn read_by_round(cluster: &Cluster, node: NodeId, now_ms: i64) -> Vec<NodeId> {
    let (settings, nodes) = (&cluster.settings, &cluster.state.nodes);
    let keeper = &cluster.keeper;
    let mut read = keeper.compares(settings, nodes, &cluster.waiting, now_ms);
    read.push(node);
    read
}
