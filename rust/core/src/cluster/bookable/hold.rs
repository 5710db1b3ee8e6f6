//! Preemption is held back while a node of the same label has shrunk.

use super::booked::{Booked, Ratios};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{NodeEntry, Nodes, Request};
use crate::ids::NodeId;

/// After this time a node that shrank holds no preemption back, in milliseconds: five minutes.
const HOLD_MS: i64 = 300_000;

/// A container that CapacityScheduler's monitor wants to preempt.
#[derive(Debug, Clone, Copy)]
pub struct Preemption {
    /// The container's node.
    pub node: NodeId,
    /// The guaranteed part of its queue in all nodes of the node's label.
    pub queue_capacity: f64,
    /// What the queue uses on them.
    pub queue_used: Request,
}

/// Whether the container may be preempted.
///
/// A node that returned to its registered size while more is booked there makes the nodes of its label look
/// smaller than they were when those containers were booked. Until that node has come down, a queue that
/// uses no more than its share of the former size keeps its containers on all of them: nodes fall silent one
/// after the other, and the monitor takes containers from those that still report.
pub(crate) fn may_preempt(
    settings: &ClusterSettings,
    nodes: &Nodes,
    preemption: &Preemption,
    now_ms: i64,
) -> bool {
    let Some(node) = nodes.get(preemption.node) else {
        return true;
    };
    let of_label = || nodes.entries().filter(|entry| entry.label == node.label);
    if !of_label().any(|entry| has_shrunk(entry, now_ms)) {
        return true;
    }
    let former = of_label().map(|entry| former_size(settings, entry, now_ms));
    let former = former.fold(Booked::default(), Booked::plus);
    let share = former.scaled(Ratios::both(preemption.queue_capacity));
    let used = preemption.queue_used.bookable(settings.virtual_cores_count);
    !Booked::from(used).fits_into(share)
}

fn has_shrunk(entry: &NodeEntry, now_ms: i64) -> bool {
    let is_recent =
        entry.lowered.is_some_and(|lowered| now_ms.saturating_sub(lowered.at_ms) <= HOLD_MS);
    is_recent && entry.is_overbooked()
}

fn former_size(settings: &ClusterSettings, entry: &NodeEntry, now_ms: i64) -> Booked {
    let registered = entry.registered_as_booked(settings.virtual_cores_count);
    let ratio = match entry.lowered {
        Some(lowered) if has_shrunk(entry, now_ms) => lowered.from,
        _ => entry.bookable,
    };
    let factors = Ratios {
        memory: f64::from(ratio.memory_thousandths) / 1e3,
        vcores: f64::from(ratio.vcores_thousandths) / 1e3,
    };
    registered.scaled(factors).max(Booked::from(entry.booked))
}
