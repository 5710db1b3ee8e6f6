//! Resources left on a node by its plan, in forms that are fast to query.

use std::cell::OnceCell;

use crate::amounts::Amounts;
use crate::left_ahead::LeftAhead;
use crate::resources::Resource;
use crate::timeline::Timeline;
use crate::windows::{Coarse, WINDOWS, coarse, window_slots};

/// One sum is kept for this many slots: on a large cluster plans use most of the memory, and a sum is asked for
/// only where everything else fits.
const BLOCK_SLOTS: usize = 8;

/// Capacity less the demands in a [`Timeline`], from the slot of `now` on, in fixed point.
///
/// A resource of capacity 0 is unknown: nothing of it is left, and nothing of it is needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Left {
    timeline: Timeline,
    /// The rest is as of the latest [`Left::update`].
    capacity: Amounts,
    tolerance: Amounts,
    known: Amounts,
    /// Left in each slot after the last change.
    later: Amounts,
    /// Left in the slot of `now`.
    now: Amounts,
    slots_ahead: usize,
    /// Sum of what is left in the first n blocks of slots, for each n up to the last change.
    sums: Vec<Amounts>,
    least: Amounts,
    /// Least left in a slot of each window, for each resource, tolerance included.
    least_in_windows: [Coarse; 4],
    /// The most; computed when it is asked for, as most containers are decided without it.
    most_in_windows: OnceCell<[Coarse; 4]>,
    /// Memory left in each slot, tolerance included; the last entry holds for all later slots. Computed when it is
    /// asked for.
    memory: OnceCell<Vec<i32>>,
}

impl Left {
    /// What these demands leave of a node.
    pub(crate) fn of(capacity: Amounts, timeline: Timeline) -> Self {
        let mut left = Self { timeline, ..Self::default() };
        left.update(capacity);
        left
    }

    /// The demands, for a change; [`Left::update`] has to follow before anything else is asked.
    pub(crate) fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    /// Recomputes everything; allocations are reused.
    pub(crate) fn update(&mut self, capacity: Amounts) {
        self.capacity = capacity;
        self.tolerance = capacity.tolerance();
        self.known = capacity.known_mask();
        // Nothing is left of unknown resources.
        self.later = capacity.minus(self.timeline.for_life()).masked_by(self.known);
        let has_overdue = self.timeline.overdue() != Amounts::ZERO;
        self.slots_ahead = self.timeline.predicted().len().max(usize::from(has_overdue));
        self.now = self.less(self.taken_now());
        self.most_in_windows.take();
        self.memory.take();
        // The least is left where the most is in use.
        let least = self.by_window(Amounts::max, Amounts::min);
        self.least = least.into_iter().fold(self.later, Amounts::min);
        self.least_in_windows = self.coarse_windows(least);
        // If this is small, no sum wraps around, so not every sum has to be checked. A day of any real cluster is.
        let slots = i64::try_from(self.slots_ahead).unwrap_or(i64::MAX).saturating_add(1);
        let limit = i64::MAX / 4 / slots;
        match [self.later, self.least].into_iter().all(|amounts| amounts.is_within(limit)) {
            true => self.add_up(Amounts::wrapping_minus, Amounts::wrapping_plus),
            false => self.add_up(Amounts::minus, Amounts::plus),
        }
    }

    /// In the slot of `now`, by executors past their prediction too.
    fn taken_now(&self) -> Amounts {
        let predicted = self.timeline.predicted().first().copied().unwrap_or_default();
        predicted.plus(self.timeline.overdue())
    }

    /// What is left in a slot in which this much is in use.
    fn less(&self, taken: Amounts) -> Amounts {
        self.later.minus(taken).masked_by(self.known)
    }

    fn add_up(
        &mut self,
        minus: impl Fn(Amounts, Amounts) -> Amounts,
        plus: impl Fn(Amounts, Amounts) -> Amounts,
    ) {
        let Self { timeline, sums, known, later, now, slots_ahead, .. } = self;
        let left_of = |taken: Amounts| minus(*later, taken).masked_by(*known);
        let blocks = timeline.predicted().chunks_exact(BLOCK_SLOTS);
        make_room(sums, *slots_ahead / BLOCK_SLOTS + 1);
        let mut sum = Amounts::ZERO;
        sums.push(sum);
        for (number, block) in blocks.enumerate() {
            let (first, others) = block.split_first().unwrap_or((&Amounts::ZERO, &[]));
            sum = plus(sum, if number == 0 { *now } else { left_of(*first) });
            sum = others.iter().fold(sum, |sum, taken| plus(sum, left_of(*taken)));
            sums.push(sum);
        }
    }

    /// What is left of each window by the `extreme` use in its slots; in the window of the last change, `or_later` of
    /// that and what is left later.
    fn by_window(
        &self,
        extreme: impl Fn(Amounts, Amounts) -> Amounts,
        or_later: impl Fn(Amounts, Amounts) -> Amounts,
    ) -> [Amounts; WINDOWS] {
        let taken_now = [self.taken_now()];
        std::array::from_fn(|window| {
            let (from, to) = window_slots(window);
            let slots = match window {
                0 if self.slots_ahead > 0 => &taken_now,
                0 => &[][..],
                _ => {
                    let predicted = self.timeline.predicted();
                    predicted.get(from..to.min(self.slots_ahead)).unwrap_or_default()
                }
            };
            let taken = slots.iter().copied().reduce(&extreme);
            let left = taken.map_or(self.later, |taken| self.less(taken));
            if to > self.slots_ahead { or_later(left, self.later) } else { left }
        })
    }

    fn coarse_windows(&self, left: [Amounts; WINDOWS]) -> [Coarse; 4] {
        Resource::ALL
            .map(|resource| left.map(|amounts| coarse(amounts.plus(self.tolerance).get(resource))))
    }

    /// The minimum over all slots.
    pub(crate) fn least(&self) -> Amounts {
        self.least
    }

    /// The earliest predicted end, in slots from now.
    pub(crate) fn first_end(&self) -> Option<usize> {
        self.timeline.first_end().map(|slots| usize::try_from(slots).unwrap_or(usize::MAX))
    }

    /// The least left in a slot of each window, for each resource, tolerance included.
    pub(crate) fn least_in_windows(&self) -> &[Coarse; 4] {
        &self.least_in_windows
    }

    /// The most left in a slot of each window, for each resource, tolerance included.
    pub(crate) fn most_in_windows(&self) -> &[Coarse; 4] {
        self.most_in_windows
            .get_or_init(|| self.coarse_windows(self.by_window(Amounts::min, Amounts::max)))
    }

    /// Memory left from a slot on, in coarse form, tolerance included; the last entry holds for all later slots.
    pub(crate) fn memory_from(&self, slot: usize) -> &[i32] {
        let memory = self.memory.get_or_init(|| {
            let memory = |left: Amounts| coarse(left.plus(self.tolerance).get(Resource::Memory));
            let slots = (0..self.slots_ahead).map(|slot| self.slot(slot));
            slots.chain([self.later]).map(memory).collect()
        });
        let last = memory.len().saturating_sub(1);
        memory.get(slot.min(last)..).unwrap_or_default()
    }
}

impl LeftAhead for Left {
    fn capacity(&self) -> Amounts {
        self.capacity
    }

    fn tolerance(&self) -> Amounts {
        self.tolerance
    }

    fn slots_ahead(&self) -> usize {
        self.slots_ahead
    }

    #[inline]
    fn slot(&self, ahead: usize) -> Amounts {
        match self.timeline.predicted().get(ahead) {
            _ if ahead == 0 && self.slots_ahead > 0 => self.now,
            Some(taken) => self.later.minus(*taken).masked_by(self.known),
            None => self.later,
        }
    }

    #[inline]
    fn sum(&self, slots: usize) -> Amounts {
        let within = slots.min(self.slots_ahead);
        let blocks = within / BLOCK_SLOTS;
        let sum = self.sums.get(blocks).copied().unwrap_or_default();
        let others = blocks * BLOCK_SLOTS..within;
        let sum = others.fold(sum, |sum, slot| sum.plus(self.slot(slot)));
        let beyond = i64::try_from(slots - within).unwrap_or(i64::MAX);
        if beyond == 0 { sum } else { sum.plus(self.later.times(beyond)) }
    }
}

/// Empties `kept` and fits its capacity to `needed` entries: on a large cluster these vectors use
/// most of the memory.
fn make_room<T>(kept: &mut Vec<T>, needed: usize) {
    kept.clear();
    if kept.capacity() > 2 * needed {
        kept.shrink_to(needed);
    }
    kept.reserve_exact(needed);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::demand::Demand;
    use crate::left_sums::LeftSums;
    use crate::resources::Resources;
    use crate::running::Running;
    use crate::{SLOT_MS, slot_of};

    #[test]
    fn sums_saturate_at_the_smallest_integer() {
        let slots = vec![Resources::from_array([f64::MAX, 1.0, 1.0, 1.0]); 200_000];
        let running = Running::new(0, Demand::series(SLOT_MS, &slots).unwrap());
        let capacity = Amounts::rounded_down(Resources::from_array([4.0; 4]));
        let left = Left::of(capacity, Timeline::of(slot_of(0), [&running]));
        assert_eq!(left.sum(200_000).get(Resource::Cpu), i64::MIN);
        assert_eq!(left.sum(200_000).get(Resource::Disk), 3 * 200_000);
    }

    fn executor() -> impl Strategy<Value = Running> {
        let amounts = prop::array::uniform4(0.0_f64..1e9).prop_map(Resources::from_array);
        let slots = prop::collection::vec(amounts, 1..40);
        (slots, any::<bool>(), 0_i64..40).prop_map(|(slots, ends, start_slot)| {
            let series = || Demand::series(SLOT_MS, &slots).unwrap();
            let demand = if ends { series() } else { Demand::for_life(slots[0]) };
            Running::new(start_slot * i64::from(SLOT_MS), demand)
        })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_slots_and_a_copy_has_the_same(
            executors in prop::collection::vec(executor(), 0..5),
            capacity in prop::array::uniform4(prop_oneof![Just(0.0), 1e9..4e9]),
            horizon in 0_usize..90,
        ) {
            let timeline = Timeline::of(20, &executors);
            let capacity = Amounts::rounded_down(Resources::from_array(capacity));
            let now = (slot_of(0) + 20) * i64::from(SLOT_MS);
            let left = Left::of(capacity, timeline);
            let copy = LeftSums::up_to(horizon, &left);
            let mut sum = Amounts::ZERO;
            for slot in 0..90 {
                prop_assert_eq!(left.sum(slot), sum);
                prop_assert_eq!(copy.slot(slot), left.slot(slot.min(horizon)));
                if slot <= horizon {
                    prop_assert_eq!(copy.sum(slot), sum);
                }
                let at_ms = now + slot as i64 * i64::from(SLOT_MS);
                let in_use = executors.iter().fold(Amounts::ZERO, |sum, executor| {
                    sum.plus(Amounts::rounded_down(expected_at(executor, at_ms, now)))
                });
                prop_assert_eq!(left.slot(slot), capacity.minus(in_use).masked_by(capacity.known_mask()));
                sum = sum.plus(left.slot(slot));
            }
        }
    }

    proptest! {
        #[test]
        fn after_a_change_every_form_is_that_of_the_slots(
            executors in prop::collection::vec(executor(), 1..5),
            capacity in prop::array::uniform4(prop_oneof![Just(0.0), 1e9..4e9]),
        ) {
            let capacity = Amounts::rounded_down(Resources::from_array(capacity));
            let mut left = Left::of(capacity, Timeline::of(20, &executors[1..]));
            // What is computed when asked for has been, before the change.
            let _ = (left.most_in_windows(), left.memory_from(0));
            left.timeline_mut().add(&executors[0]);
            left.update(capacity);
            let end = left.slots_ahead();
            let coarse_of = |slot, resource| coarse(left.slot(slot).plus(left.tolerance()).get(resource));
            for (resource, number) in Resource::ALL.into_iter().zip(0..) {
                for window in 0..WINDOWS {
                    let (from, to) = window_slots(window);
                    // The slot after the last change stands for all later ones.
                    let slots = from.min(end)..to.min(end + 1).max(from.min(end) + 1);
                    let least = slots.clone().map(|slot| coarse_of(slot, resource)).min();
                    let most = slots.map(|slot| coarse_of(slot, resource)).max();
                    prop_assert_eq!(Some(left.least_in_windows()[number][window]), least);
                    prop_assert_eq!(Some(left.most_in_windows()[number][window]), most);
                }
            }
            let memory: Vec<_> = (0..=end).map(|slot| coarse_of(slot, Resource::Memory)).collect();
            prop_assert_eq!(left.memory_from(0), memory);
            let least = (0..=end).map(|slot| left.slot(slot)).reduce(Amounts::min);
            prop_assert_eq!(Some(left.least()), least);
        }
    }

    /// An executor that would start later has started now, and one past its prediction ends with the slot of now.
    fn expected_at(executor: &Running, at_ms: i64, now_ms: i64) -> Resources {
        let started_ms = executor.start_ms.min(now_ms);
        let running = Running::new(started_ms, executor.demand.clone());
        let has_ended =
            running.end_from(at_ms).is_none() && executor.demand.duration_ms().is_some();
        if has_ended && at_ms > now_ms { Resources::ZERO } else { running.expected_at(at_ms) }
    }
}
