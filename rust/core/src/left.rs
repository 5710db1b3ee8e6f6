//! Resources left on a node by its plan, in forms that are fast to query.

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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
    windows: LeftWindows,
    /// Memory left in each slot, tolerance included; the last entry holds for all later slots.
    memory: Vec<i32>,
}

/// Least and most left in a slot of each window, for each resource, tolerance included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeftWindows {
    pub(crate) least: [Coarse; 4],
    pub(crate) most: [Coarse; 4],
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
        let most = self.add_up(Amounts::wrapping_minus, Amounts::wrapping_plus);
        // If all extremes are this small, no sum has wrapped around, so not every sum has to be checked. A day
        // of any real cluster is. Values that wrapped around are far beyond the limit.
        let slots = i64::try_from(self.slots_ahead).unwrap_or(i64::MAX).saturating_add(1);
        let limit = i64::MAX / 4 / slots;
        let extremes = [self.later, self.least, most];
        if !extremes.into_iter().all(|amounts| amounts.is_within(limit)) {
            self.add_up(Amounts::minus, Amounts::plus);
        }
    }

    /// Computes every form and returns the most that is left in any slot.
    ///
    /// Each form has its own loop, so that its sums stay in registers.
    fn add_up(
        &mut self,
        minus: impl Fn(Amounts, Amounts) -> Amounts,
        plus: impl Fn(Amounts, Amounts) -> Amounts,
    ) -> Amounts {
        let Self { timeline, sums, memory, windows, tolerance, known, later, slots_ahead, .. } =
            self;
        let (tolerance, known, later, ahead) = (*tolerance, *known, *later, *slots_ahead);
        let predicted = timeline.predicted();
        let left_of = |taken: Amounts| minus(later, taken).masked_by(known);
        let taken_now = predicted.first().copied().unwrap_or_default().plus(timeline.overdue());
        let now = left_of(taken_now);

        make_room(sums, ahead / BLOCK_SLOTS + 1);
        let mut sum = Amounts::ZERO;
        sums.push(sum);
        for (number, block) in predicted.chunks_exact(BLOCK_SLOTS).enumerate() {
            let (first, others) = block.split_first().unwrap_or((&Amounts::ZERO, &[]));
            sum = plus(sum, if number == 0 { now } else { left_of(*first) });
            sum = others.iter().fold(sum, |sum, taken| plus(sum, left_of(*taken)));
            sums.push(sum);
        }

        let memory_tolerance = tolerance.get(Resource::Memory);
        let memory_of =
            |left: Amounts| coarse(left.get(Resource::Memory).saturating_add(memory_tolerance));
        make_room(memory, ahead + 1);
        memory.extend((ahead > 0).then(|| memory_of(now)));
        let others = predicted.get(1..).unwrap_or_default();
        memory.extend(others.iter().map(|taken| memory_of(left_of(*taken))));
        memory.push(memory_of(later));

        let (mut least_ever, mut most_ever) = (later, later);
        for window in 0..WINDOWS {
            let (from, to) = window_slots(window);
            let slots = match window {
                0 if ahead > 0 => &[taken_now],
                0 => &[][..],
                _ => predicted.get(from..to.min(ahead)).unwrap_or_default(),
            };
            let (mut least, mut most) = (later, later);
            if let Some((first, rest)) = slots.split_first() {
                // The least is left where the most is in use.
                least = left_of(rest.iter().fold(*first, |most, taken| most.max(*taken)));
                most = left_of(rest.iter().fold(*first, |least, taken| least.min(*taken)));
            }
            if to > ahead {
                (least, most) = (least.min(later), most.max(later));
            }
            least_ever = least_ever.min(least);
            most_ever = most_ever.max(most);
            for resource in Resource::ALL {
                let window_of = |amounts: Amounts| coarse(amounts.plus(tolerance).get(resource));
                windows.least[resource as usize][window] = window_of(least);
                windows.most[resource as usize][window] = window_of(most);
            }
        }
        self.now = now;
        self.least = least_ever;
        most_ever
    }

    /// The minimum over all slots.
    pub(crate) fn least(&self) -> Amounts {
        self.least
    }

    /// The earliest predicted end, in slots from now.
    pub(crate) fn first_end(&self) -> Option<usize> {
        self.timeline.first_end().map(|slots| usize::try_from(slots).unwrap_or(usize::MAX))
    }

    pub(crate) fn windows(&self) -> &LeftWindows {
        &self.windows
    }

    /// Memory left from a slot on, in coarse form; the last entry holds for all later slots.
    pub(crate) fn memory_from(&self, slot: usize) -> &[i32] {
        let last = self.memory.len().saturating_sub(1);
        self.memory.get(slot.min(last)..).unwrap_or_default()
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

    /// An executor that would start later has started now, and one past its prediction ends with the slot of now.
    fn expected_at(executor: &Running, at_ms: i64, now_ms: i64) -> Resources {
        let started_ms = executor.start_ms.min(now_ms);
        let running = Running::new(started_ms, executor.demand.clone());
        let has_ended =
            running.end_from(at_ms).is_none() && executor.demand.duration_ms().is_some();
        if has_ended && at_ms > now_ms { Resources::ZERO } else { running.expected_at(at_ms) }
    }
}
