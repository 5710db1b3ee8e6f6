//! What the unit tests of policies share.

use super::{Candidate, Place, Policy, Waiting};
use crate::demand::Demand;
use crate::node::Node;
use crate::resources::Resources;

/// The score on an idle node of this capacity.
pub(super) fn score_on_idle_node(
    policy: &dyn Policy,
    capacity: Resources,
    demand: &Demand,
    waiting: Waiting,
) -> f64 {
    let node = Node::new(capacity);
    let place = Place {
        node: &node,
        available: &node.available(0),
        booked: Resources::ZERO,
        now_ms: 0,
        rates: None,
    };
    let candidate = Candidate { demand, needed: demand, request: Resources::ZERO, waiting };
    policy.score(&place, &candidate)
}
