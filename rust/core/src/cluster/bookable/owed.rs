//! Whether a queue is owed containers: what they are guaranteed is used by another queue. `docs/decisions/0036`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::booked::Booked;
use super::part::Part;
use crate::amounts::Amounts;
use crate::resources::Resource;

/// What leaf queues take above their guarantees, by label.
#[derive(Debug, Default)]
pub(super) struct Owed {
    /// The labels where one holds more memory or virtual cores.
    over_guarantee: BTreeSet<Arc<str>>,
    /// What the label's nodes have of each flow of which one is planned to use more; 0 of the others.
    contested: BTreeMap<Arc<str>, Amounts>,
}

/// The nodes of one label.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LabelNodes {
    /// Their registered sizes.
    pub(super) physical: Booked,
    /// What they have, as reported.
    pub(super) capacity: Amounts,
}

impl Owed {
    pub(super) fn clear(&mut self) {
        self.over_guarantee.clear();
        self.contested.clear();
    }

    /// Notes what a leaf queue takes.
    pub(super) fn read(&mut self, part: &Part, nodes: LabelNodes) {
        if part.is_over_guarantee(nodes.physical) {
            self.over_guarantee.insert(Arc::clone(&part.label));
        }
        let share = part.guaranteed_share(nodes.physical);
        for flow in Resource::FLOWS {
            let capacity = nodes.capacity.get(flow);
            if capacity > 0 && has_its_share(part, flow, share, capacity) {
                let of_label = self.contested.entry(Arc::clone(&part.label)).or_default();
                *of_label = of_label.with(flow, capacity);
            }
        }
    }

    /// Whether a leaf queue holds more memory or virtual cores than its guarantee.
    pub(super) fn is_any_over_guarantee(&self, label: &str) -> bool {
        self.over_guarantee.contains(label)
    }

    /// Whether a queue may be owed something.
    #[inline]
    pub(super) fn any(&self, label: &str) -> bool {
        !self.over_guarantee.is_empty() && self.over_guarantee.contains(label)
            || !self.contested.is_empty() && self.contested.contains_key(label)
    }

    /// Whether a queue is owed a container with which it stays within its guarantee.
    pub(super) fn to(&self, part: &Part, physical: Booked) -> bool {
        if self.is_any_over_guarantee(&part.label) {
            return true;
        }
        let Some(contested) = self.contested.get(&part.label) else {
            return false;
        };
        let share = part.guaranteed_share(physical);
        Resource::FLOWS.into_iter().any(|flow| {
            let capacity = contested.get(flow);
            capacity > 0 && !has_its_share(part, flow, share, capacity)
        })
    }
}

/// Whether a queue's containers are planned to use its guaranteed share of a flow.
fn has_its_share(part: &Part, flow: Resource, share: f64, capacity: i64) -> bool {
    part.planned.get(flow) as f64 >= share * capacity as f64
}
