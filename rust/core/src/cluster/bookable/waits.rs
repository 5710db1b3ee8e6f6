//! What waits in queues, for which of them that is their guarantee, and whether CapacityScheduler's preemption monitor
//! takes anything back for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::booked::Booked;
use super::demanded_of;
use super::headroom::next_of;
use super::shares::Shares;
use super::taken::Taken;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Applications, Nodes};
use crate::cluster::waiting::WaitingTable;

/// What waits in a leaf queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueWaits {
    pub(super) taken: Taken,
    /// Whether one of its applications waits for room, and not for what CapacityScheduler refuses it: a limit of its
    /// user, a node label, a constraint.
    pub(super) for_room: bool,
}

/// By queue, what waits. CPU is counted as on the first node.
pub(super) fn waits_by_queue<'a>(
    settings: &ClusterSettings,
    shares: &Shares,
    nodes: &Nodes,
    applications: &'a Applications,
    waiting: &WaitingTable,
) -> HashMap<&'a str, QueueWaits> {
    let mut by_queue: HashMap<&str, QueueWaits> = HashMap::new();
    let Some(node) = nodes.entries().next() else {
        return by_queue;
    };
    for (line, predicted) in waiting.lines_predicted() {
        let Some(application) = applications.get(&line.application) else {
            continue;
        };
        let demanded = demanded_of(node, predicted, line.request, settings.virtual_cores_count);
        let taken = Taken { requested: Booked::from(line.request), demanded };
        let of_queue = by_queue.entry(&application.queue).or_default();
        of_queue.taken = of_queue.taken.plus(taken.times(line.executors));
        let may_have_more = || {
            let ask = application.waiting?;
            let next = next_of(settings, waiting, application, &ask, node);
            Some(shares.admits_user(&next))
        };
        of_queue.for_room |= line.skipped_since_ms.is_none()
            && !line.asks_countables
            && may_have_more().unwrap_or(false);
    }
    by_queue
}

/// The guarantee of a queue that waits is overdue once the monitor has asked for no container in this time, in
/// milliseconds: twice its own wait before it ends one.
const OVERDUE_AFTER_MS: i64 = 30_000;

/// A guarantee is overdue for this time at most, in milliseconds: five minutes. What waits longer waits for something
/// else than room.
const OVERDUE_FOR_MS: i64 = 300_000;

/// A leaf queue that waits and holds less than its guarantee.
pub(super) struct BelowGuarantee {
    pub(super) label: Arc<str>,
    pub(super) queue: Arc<str>,
    pub(super) waits_for_room: bool,
}

/// The leaf queues that wait and hold less than their guarantee, by node label.
#[derive(Debug, Default)]
pub(super) struct GuaranteeWaits(BTreeMap<Arc<str>, Waits>);

/// By queue, since when it has waited for room and the monitor has asked for nothing.
type Waits = BTreeMap<Arc<str>, i64>;

impl GuaranteeWaits {
    /// These are now all.
    pub(super) fn set(&mut self, waiting: impl Iterator<Item = BelowGuarantee>, now_ms: i64) {
        let former = std::mem::take(&mut self.0);
        for BelowGuarantee { label, queue, waits_for_room } in waiting {
            let since_ms = former.get(&label).and_then(|waits| waits.get(&queue));
            let since_ms = since_ms.copied().filter(|_| waits_for_room).unwrap_or(now_ms);
            self.0.entry(label).or_default().insert(queue, since_ms);
        }
    }

    pub(super) fn of(&self, label: &str) -> impl Iterator<Item = &Arc<str>> {
        self.0.get(label).into_iter().flat_map(BTreeMap::keys)
    }

    /// The monitor asks for a container on a node of a label. What it asks for because a guarantee was overdue does not
    /// end that: it has to choose the container again until it ends it.
    pub(super) fn heeded(&mut self, label: &str, now_ms: i64) {
        let waits = self.0.get_mut(label).into_iter().flat_map(BTreeMap::values_mut);
        waits.filter(|since_ms| !is_overdue(**since_ms, now_ms)).for_each(|it| *it = now_ms);
    }

    pub(super) fn is_overdue(&self, label: &str, now_ms: i64) -> bool {
        let mut waits = self.0.get(label).into_iter().flat_map(BTreeMap::values);
        waits.any(|since_ms| is_overdue(*since_ms, now_ms))
    }
}

fn is_overdue(unheeded_since_ms: i64, now_ms: i64) -> bool {
    let unheeded_ms = now_ms.saturating_sub(unheeded_since_ms);
    (OVERDUE_AFTER_MS..OVERDUE_AFTER_MS + OVERDUE_FOR_MS).contains(&unheeded_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting<const N: usize>(queues: [&str; N]) -> impl Iterator<Item = BelowGuarantee> {
        let waiting = queues.map(|queue| BelowGuarantee {
            label: "gpu".into(),
            queue: queue.into(),
            waits_for_room: true,
        });
        waiting.into_iter()
    }

    #[test]
    fn a_guarantee_that_the_monitor_does_not_heed_is_overdue_after_half_a_minute_for_five() {
        let mut waits = GuaranteeWaits::default();
        for now_ms in [1_000, 2_000] {
            waits.set(waiting(["root.a"]), now_ms);
        }
        assert!(!waits.is_overdue("gpu", 30_999));
        assert!(waits.is_overdue("gpu", 31_000));
        assert!(waits.is_overdue("gpu", 330_999));
        assert!(!waits.is_overdue("gpu", 331_000));
        assert!(!waits.is_overdue("", 31_000), "nobody waits there");
    }

    #[test]
    fn it_is_not_while_the_monitor_asks_for_containers() {
        let mut waits = GuaranteeWaits::default();
        waits.set(waiting(["root.a"]), 0);
        waits.heeded("", 29_000);
        waits.heeded("gpu", 20_000);
        assert!(!waits.is_overdue("gpu", 49_999));
        waits.heeded("gpu", 50_000);
        assert!(waits.is_overdue("gpu", 50_001), "it asks again and again");
    }

    #[test]
    fn what_waits_for_something_else_than_room_is_never_overdue() {
        let mut waits = GuaranteeWaits::default();
        for now_ms in [0, 29_000, 40_000] {
            let waiting = waiting(["root.a"]);
            let limited = waiting.map(|it| BelowGuarantee { waits_for_room: false, ..it });
            waits.set(limited, now_ms);
        }
        assert!(!waits.is_overdue("gpu", 40_001));
        waits.set(waiting(["root.a"]), 50_000);
        assert!(waits.is_overdue("gpu", 70_000), "since 40 s");
    }

    #[test]
    fn each_wait_of_each_queue_counts_from_its_own_beginning() {
        let mut waits = GuaranteeWaits::default();
        waits.set(waiting(["root.a"]), 0);
        waits.set(waiting(["root.b"]), 10_000);
        waits.set(waiting(["root.a", "root.b"]), 20_000);
        assert!(!waits.is_overdue("gpu", 39_999));
        assert!(waits.is_overdue("gpu", 40_000));
        waits.set(waiting(["root.a"]), 41_000);
        assert!(!waits.is_overdue("gpu", 49_999));
        assert!(waits.is_overdue("gpu", 50_000));
    }
}
