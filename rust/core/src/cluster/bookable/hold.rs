//! Preemption is held back while nodes of the same label have shrunk.

use std::sync::Arc;

use super::booked::{Booked, Ratios};
use super::growth::BookableRatio;
use super::shares::Shares;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{NodeEntry, Nodes};
use crate::ids::NodeId;

/// Nodes hold preemption back for this time after they shrank, in milliseconds: five minutes.
const HOLD_MS: i64 = 300_000;

/// Nodes of a label shrink. A hold begins with the first time and is not prolonged by later ones, because nodes whose
/// demand fluctuates shrink again and again. The next hold begins no sooner than as long after its end.
pub(crate) fn begin_hold(shares: &mut Shares, label: &Arc<str>, now_ms: i64) {
    let held_or_rests = |began_ms: i64| (0..2 * HOLD_MS).contains(&now_ms.saturating_sub(began_ms));
    if !shares.hold_began_ms(label).is_some_and(held_or_rests) {
        shares.hold_begins(label, now_ms);
    }
}

/// A container that CapacityScheduler's monitor wants to preempt.
#[derive(Debug, Clone, Copy)]
pub struct Preemption<'a> {
    /// The container's node.
    pub node: NodeId,
    /// The path of its leaf queue.
    pub queue: &'a str,
}

/// Whether the container may be preempted. When nodes shrink, queues look larger beside them than they were when
/// their containers were booked, in two ways:
///
/// - A node returned to its registered size while more is booked there. Until it has come down, a queue that uses no
///   more than its share of the former size keeps its containers on all nodes of the label: nodes fall silent one
///   after the other, and the monitor takes containers from those that still report. Not while a guarantee is overdue,
///   for which nodes shrink so that the monitor takes containers.
/// - A queue uses more than its maximum capacity of what is bookable now, and by demand no more than that part of the
///   registered nodes. Within the hold it keeps its containers as long as no queue waits that has less than its
///   guarantee.
pub(crate) fn may_preempt(
    settings: &ClusterSettings,
    nodes: &Nodes,
    shares: &mut Shares,
    preemption: Preemption<'_>,
    now_ms: i64,
) -> bool {
    let Preemption { node, queue } = preemption;
    let Some(label) = nodes.get(node).map(|entry| &entry.label) else {
        return true;
    };
    let of_label = || nodes.entries().filter(|entry| entry.label == *label);
    let sum = |size: &dyn Fn(&NodeEntry) -> Booked| {
        of_label().map(size).fold(Booked::default(), Booked::plus)
    };
    let any_overbooked = of_label().any(|entry| has_shrunk(entry, now_ms));
    if any_overbooked && shares.withheld(label, now_ms).is_none() {
        let former = sum(&|entry| former_size(settings, entry, now_ms));
        if shares.is_within_share(queue, label, former) {
            return false;
        }
    }
    let is_held = shares.hold_began_ms(label).is_some_and(|began_ms| is_recent(began_ms, now_ms));
    let bookable = || sum(&|entry| scaled(settings, entry, entry.bookable));
    let may_preempt = !(is_held
        && !shares.is_guarantee_waited_for(label)
        && shares.is_above_maximum_of(queue, label, bookable()));
    if may_preempt {
        shares.monitor_acts(label, now_ms);
    }
    may_preempt
}

fn is_recent(at_ms: i64, now_ms: i64) -> bool {
    // A clock set back ends the hold, too.
    (0..=HOLD_MS).contains(&now_ms.saturating_sub(at_ms))
}

fn has_shrunk(entry: &NodeEntry, now_ms: i64) -> bool {
    entry.lowered.is_some_and(|lowered| is_recent(lowered.at_ms, now_ms)) && entry.is_overbooked()
}

fn former_size(settings: &ClusterSettings, entry: &NodeEntry, now_ms: i64) -> Booked {
    let ratio = match entry.lowered {
        Some(lowered) if has_shrunk(entry, now_ms) => lowered.from,
        _ => entry.bookable,
    };
    scaled(settings, entry, ratio).max(Booked::from(entry.booked))
}

fn scaled(settings: &ClusterSettings, entry: &NodeEntry, ratio: BookableRatio) -> Booked {
    let factors = Ratios {
        memory: f64::from(ratio.memory_thousandths) / 1e3,
        vcores: f64::from(ratio.vcores_thousandths) / 1e3,
    };
    entry.registered_as_booked(settings.virtual_cores_count).scaled(factors)
}
