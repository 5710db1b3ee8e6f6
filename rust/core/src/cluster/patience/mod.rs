//! Rules for applications that wait long: starvation, reservations, a kept node, and passing on a node.

mod kept_node;
mod passing;
mod reservation;
mod starvation;

pub use kept_node::KeptNode;
pub(crate) use kept_node::NodeKeeper;
pub(crate) use passing::{BetterNodes, Passing, compared_with};
pub(crate) use reservation::ReservationContest;
pub(crate) use starvation::{Admitted, Wait, admit};

#[cfg(test)]
pub(crate) use reservation::Reservation;

use super::settings::ClusterSettings;
use super::state::{NodeId, Nodes};

/// The nodes whose plans a round on `node` reads; `kept` are those that the kept node's update compares.
pub(crate) fn read_by_round(
    settings: &ClusterSettings,
    nodes: &Nodes,
    node: NodeId,
    kept: Vec<NodeId>,
) -> Vec<NodeId> {
    let passes = settings.pass_ms > 0;
    let others = compared_with(nodes, node).filter(|_| passes);
    let others = others.map(|(id, _)| id);
    std::iter::once(node).chain(others).chain(kept).collect()
}
