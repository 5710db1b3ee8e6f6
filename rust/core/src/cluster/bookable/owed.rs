//! Whether a queue goes by request because others take what it is guaranteed. `docs/decisions/0036` has the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::booked::Booked;
use super::part::Part;
use crate::amounts::Amounts;
use crate::resources::Resource;

/// What leaf queues take beyond their guarantees, by label, at the latest look.
#[derive(Debug, Default)]
pub(super) struct Owed {
    /// The labels where one holds more memory or virtual cores.
    over_guarantee: BTreeSet<Arc<str>>,
    /// The labels where one is planned to use more of a flow.
    flows: BTreeMap<Arc<str>, Flows>,
}

/// The flows of a label.
#[derive(Debug, Default)]
struct Flows {
    /// What the nodes have.
    capacity: Amounts,
    /// What all leaf queues are planned to use beyond their shares.
    beyond: Amounts,
}

impl Owed {
    pub(super) fn clear(&mut self) {
        self.over_guarantee.clear();
        self.flows.clear();
    }

    /// Notes what a leaf queue takes of a label's nodes, which have `capacity`.
    pub(super) fn note(&mut self, part: &mut Part, registered: Booked, capacity: Amounts) {
        if part.is_over_guarantee(registered) {
            self.over_guarantee.insert(Arc::clone(&part.label));
        }
        let share = part.guaranteed_share(registered);
        let beyond = part.planned.minus(capacity.scaled(share)).masked_by(capacity.known_mask());
        part.beyond = beyond.max(Amounts::ZERO);
        if Resource::FLOWS.into_iter().any(|flow| part.beyond.get(flow) > 0) {
            let flows = self.flows.entry(Arc::clone(&part.label)).or_default();
            flows.capacity = capacity;
            flows.beyond = flows.beyond.plus(part.beyond);
        }
    }

    /// Whether a leaf queue holds more memory or virtual cores than its guarantee.
    #[inline]
    pub(super) fn is_any_over_guarantee(&self, label: &str) -> bool {
        !self.over_guarantee.is_empty() && self.over_guarantee.contains(label)
    }

    /// Whether a leaf queue is planned to use more than its share of a flow.
    #[inline]
    pub(super) fn is_any_flow_beyond(&self, label: &str) -> bool {
        !self.flows.is_empty() && self.flows.contains_key(label)
    }

    /// Whether a container of this mean demand may start although the flow `lacking` is fully planned: the queue stays
    /// within its share of every flow, and all containers started this way (`owed_flows`) use no more of `lacking` than
    /// other queues use beyond their shares.
    pub(super) fn owes_flow(
        &self,
        part: &Part,
        registered: Booked,
        owed_flows: Amounts,
        mean: Amounts,
        lacking: Resource,
    ) -> bool {
        let Some(flows) = self.flows.get(&part.label) else {
            return false;
        };
        let share = flows.capacity.scaled(part.guaranteed_share(registered));
        let with_it = part.planned.plus(mean);
        let is_within =
            |flow| flows.capacity.get(flow) == 0 || with_it.get(flow) <= share.get(flow);
        let others_beyond = flows.beyond.minus(part.beyond).get(lacking);
        lacking != Resource::Memory
            && others_beyond > 0
            && owed_flows.plus(mean).get(lacking) <= others_beyond
            && Resource::FLOWS.into_iter().all(is_within)
    }
}
