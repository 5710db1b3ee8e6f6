//! What waits in a queue, for which queues that is their guarantee, and whether CapacityScheduler's preemption monitor
//! takes anything back for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::taken::Taken;

/// What waits in a leaf queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueWaits {
    pub(super) taken: Taken,
    /// Whether the next container of one of its applications belongs to the queue's guarantee and waits for room, as far
    /// as is known: CapacityScheduler has not skipped it, and neither its user nor a queue above is at a limit.
    pub(super) for_room: bool,
}

/// By leaf queue and the node label asked for; empty for none.
pub(super) type WaitsByQueue<'a> = HashMap<(&'a str, &'a str), QueueWaits>;

/// A queue's guarantee is overdue for this time at most, in milliseconds: five minutes. What waits longer may wait for
/// something else than room.
const OVERDUE_FOR_MS: i64 = 300_000;

/// Each step withholds this many times what the one before it did.
const STEP_FACTOR: u32 = 4;

/// A leaf queue that waits and holds less than its guarantee.
pub(super) struct BelowGuarantee {
    pub(super) label: Arc<str>,
    pub(super) queue: Arc<str>,
    pub(super) waits_for_room: bool,
}

/// The leaf queues that wait and hold less than their guarantee, by node label.
#[derive(Debug, Default)]
pub(super) struct GuaranteeWaits {
    by_label: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Wait>>,
    /// How long the monitor takes from its first choice of a container to that container's end; none where it takes
    /// none.
    monitor_ms: Option<i64>,
}

/// A queue whose guarantee is overdue.
pub(super) struct Overdue<'a> {
    pub(super) queue: &'a str,
    /// The memory and virtual cores to withhold of the nodes, as a multiple of what the queue lacks of its guarantee.
    pub(super) times: u32,
    /// Whether the latest step is of this call; capacity is withheld only then.
    pub(super) is_new: bool,
}

/// The wait of one queue. Each time the preemption monitor has chosen nothing and the queue has got nothing for
/// twice the monitor's time, the next step withholds more capacity from the label's nodes.
#[derive(Debug, Clone, Copy)]
struct Wait {
    quiet_since_ms: i64,
    steps: u32,
    first_step_ms: Option<i64>,
    stepped_ms: Option<i64>,
}

impl GuaranteeWaits {
    pub(super) fn set_monitor_ms(&mut self, monitor_ms: Option<i64>) {
        self.monitor_ms = monitor_ms;
    }

    /// Replaces the waits by those of `waiting`. Queues that waited before keep their steps while they wait for room.
    pub(super) fn set(&mut self, waiting: impl Iterator<Item = BelowGuarantee>, now_ms: i64) {
        let former = std::mem::take(&mut self.by_label);
        for BelowGuarantee { label, queue, waits_for_room } in waiting {
            let wait = former.get(&label).and_then(|waits| waits.get(&queue)).copied();
            let wait = match (wait, self.monitor_ms) {
                (Some(wait), Some(monitor_ms)) if waits_for_room => wait.next(monitor_ms, now_ms),
                _ => Wait::from(now_ms),
            };
            self.by_label.entry(label).or_default().insert(queue, wait);
        }
    }

    pub(super) fn of(&self, label: &str) -> impl Iterator<Item = &Arc<str>> {
        self.by_label.get(label).into_iter().flat_map(BTreeMap::keys)
    }

    /// The monitor may end a container on a node of a label, or has marked one.
    pub(super) fn monitor_acts(&mut self, label: &str, now_ms: i64) {
        let waits = self.by_label.get_mut(label).into_iter().flat_map(BTreeMap::values_mut);
        waits.for_each(|wait| wait.quiet_since_ms = now_ms);
    }

    /// A queue gets a container.
    pub(super) fn granted(&mut self, label: &str, queue: &str, now_ms: i64) {
        if let Some(wait) = self.by_label.get_mut(label).and_then(|waits| waits.get_mut(queue)) {
            wait.quiet_since_ms = now_ms;
        }
    }

    /// The process stood still.
    pub(super) fn restart(&mut self) {
        self.by_label.clear();
    }

    /// The queues whose guarantee is overdue.
    pub(super) fn overdue(&self, label: &str, now_ms: i64) -> impl Iterator<Item = Overdue<'_>> {
        let waits = self.by_label.get(label).into_iter().flatten();
        waits.filter(|(_, wait)| wait.steps > 0).map(move |(queue, wait)| Overdue {
            queue,
            times: STEP_FACTOR.saturating_pow(wait.steps - 1),
            is_new: wait.stepped_ms == Some(now_ms),
        })
    }
}

impl Wait {
    fn from(now_ms: i64) -> Self {
        Self { quiet_since_ms: now_ms, steps: 0, first_step_ms: None, stepped_ms: None }
    }

    fn next(self, monitor_ms: i64, now_ms: i64) -> Self {
        let since = |from_ms| now_ms.saturating_sub(from_ms);
        if self.first_step_ms.is_some_and(|first_ms| since(first_ms) >= OVERDUE_FOR_MS) {
            return Self { steps: 0, ..self };
        }
        if since(self.quiet_since_ms) < monitor_ms.saturating_mul(2) {
            return self;
        }
        Self {
            quiet_since_ms: now_ms,
            steps: self.steps.saturating_add(1),
            first_step_ms: self.first_step_ms.or(Some(now_ms)),
            stepped_ms: Some(now_ms),
        }
    }
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

    fn waits() -> GuaranteeWaits {
        GuaranteeWaits { monitor_ms: Some(15_000), ..GuaranteeWaits::default() }
    }

    /// How many times what the queues lack is withheld after a look in each of these seconds.
    fn withheld(waits: &mut GuaranteeWaits, seconds: std::ops::RangeInclusive<i64>) -> Vec<u32> {
        let last_ms = 1_000 * seconds.end();
        seconds.for_each(|second| waits.set(waiting(["root.a"]), 1_000 * second));
        waits.overdue("gpu", last_ms).map(|it| it.times).collect()
    }

    #[test]
    fn what_the_monitor_does_not_heed_is_overdue_by_more_and_more_for_five_minutes() {
        let mut waits = waits();
        assert_eq!(withheld(&mut waits, 0..=29), []);
        assert_eq!(withheld(&mut waits, 30..=59), [1]);
        assert_eq!(withheld(&mut waits, 60..=89), [4]);
        assert_eq!(withheld(&mut waits, 90..=90), [16]);
        assert_eq!(withheld(&mut waits, 91..=329), [262_144]);
        assert_eq!(withheld(&mut waits, 330..=2_000), []);
        waits.monitor_acts("gpu", 2_000_000);
        assert_eq!(withheld(&mut waits, 2_001..=2_100), [], "not again in the same wait");
    }

    #[test]
    fn no_step_is_made_while_the_monitor_acts_or_the_queue_gets_something() {
        let mut waits = waits();
        assert_eq!(withheld(&mut waits, 0..=29), []);
        waits.granted("gpu", "root.a", 29_000);
        waits.granted("gpu", "root.b", 40_000);
        waits.monitor_acts("", 40_000);
        assert_eq!(withheld(&mut waits, 30..=58), []);
        waits.monitor_acts("gpu", 58_000);
        assert_eq!(withheld(&mut waits, 59..=88), [1]);
        waits.monitor_acts("gpu", 100_000);
        assert_eq!(withheld(&mut waits, 89..=129), [1], "it stays until the monitor is done");
    }

    #[test]
    fn a_step_is_new_in_the_look_that_makes_it() {
        let mut waits = waits();
        let is_new = |waits: &GuaranteeWaits, now_ms| {
            waits.overdue("gpu", now_ms).map(|it| it.is_new).collect::<Vec<_>>()
        };
        withheld(&mut waits, 0..=30);
        assert_eq!(is_new(&waits, 30_000), [true]);
        withheld(&mut waits, 31..=31);
        assert_eq!(is_new(&waits, 31_000), [false]);
    }

    #[test]
    fn nothing_is_overdue_that_waits_for_something_else_than_room_or_where_no_monitor_runs() {
        let mut waits = waits();
        for second in 0..40 {
            let limited = waiting(["root.a"]);
            let limited = limited.map(|it| BelowGuarantee { waits_for_room: false, ..it });
            waits.set(limited, 1_000 * second);
        }
        assert_eq!(withheld(&mut waits, 40..=68), [], "it waits for room since 39 s");
        assert_eq!(withheld(&mut waits, 69..=69), [1]);
        waits.set_monitor_ms(None);
        assert_eq!(withheld(&mut waits, 70..=1_000), []);
    }

    #[test]
    fn each_wait_of_each_queue_counts_from_its_own_beginning() {
        let mut waits = waits();
        waits.set(waiting(["root.a"]), 0);
        waits.set(waiting(["root.b"]), 10_000);
        waits.set(waiting(["root.a", "root.b"]), 20_000);
        waits.set(waiting(["root.a", "root.b"]), 40_000);
        let overdue: Vec<_> = waits.overdue("gpu", 40_000).map(|it| it.queue).collect();
        assert_eq!(overdue, ["root.b"]);
    }
}
