//! Resources left on a node by its plan, in forms that are fast to query.

use std::ops::Deref;

use crate::amounts::Amounts;
use crate::left_sums::{LeftSums, make_room};
use crate::resources::Resource;
use crate::timeline::Timeline;
use crate::windows::{Coarse, WINDOWS, coarse, window_slots};

/// Capacity less the demands in a [`Timeline`], from the slot of `now` on, in fixed point.
///
/// A resource of capacity 0 is unknown: nothing of it is left, and nothing of it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Left {
    sums: LeftSums,
    least: Amounts,
    first_end: Option<usize>,
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

impl Deref for Left {
    type Target = LeftSums;

    fn deref(&self) -> &LeftSums {
        &self.sums
    }
}

impl Left {
    /// Recomputes everything; allocations are reused.
    pub(crate) fn update(&mut self, capacity: Amounts, timeline: &Timeline) {
        // Nothing is left of unknown resources.
        let later = capacity.minus(timeline.for_life()).masked_by(capacity.known_mask());
        self.sums.begin(capacity, later);
        self.first_end =
            timeline.first_end().map(|slots| usize::try_from(slots).unwrap_or(usize::MAX));
        let most = self.add_up(timeline, Amounts::wrapping_minus, Amounts::wrapping_plus);
        // If all extremes are this small, no sum has wrapped around, so not every sum has to be checked. A day
        // of any real cluster is. Values that wrapped around are far beyond the limit.
        let slots = i64::try_from(self.slots_ahead()).unwrap_or(i64::MAX).saturating_add(1);
        let limit = i64::MAX / 4 / slots;
        let extremes = [self.later(), self.least, most];
        if !extremes.into_iter().all(|amounts| amounts.is_within(limit)) {
            self.add_up(timeline, Amounts::minus, Amounts::plus);
        }
    }

    /// Computes every form and returns the most that is left in any slot.
    ///
    /// Each form has its own loop, so that its sums stay in registers.
    fn add_up(
        &mut self,
        timeline: &Timeline,
        minus: impl Fn(Amounts, Amounts) -> Amounts,
        plus: impl Fn(Amounts, Amounts) -> Amounts,
    ) -> Amounts {
        let (predicted, overdue) = (timeline.predicted(), timeline.overdue());
        let ahead = predicted.len().max(usize::from(overdue != Amounts::ZERO));
        let now = [predicted.first().copied().unwrap_or_default().plus(overdue)];
        let now = now.get(..ahead.min(1)).unwrap_or_default();
        let others = predicted.get(1..).unwrap_or_default();
        let (tolerance, later) = (self.tolerance(), self.later());
        let known = self.capacity().known_mask();
        let left_of = |taken: &Amounts| minus(later, *taken).masked_by(known);
        let left = || now.iter().chain(others).map(left_of);

        self.sums.add_up(ahead, left(), plus);

        let memory_tolerance = tolerance.get(Resource::Memory);
        let memory =
            |left: Amounts| coarse(left.get(Resource::Memory).saturating_add(memory_tolerance));
        make_room(&mut self.memory, ahead + 1);
        self.memory.extend(left().map(memory));
        self.memory.push(memory(later));

        let (mut least_ever, mut most_ever) = (later, later);
        for window in 0..WINDOWS {
            let (from, to) = window_slots(window);
            let slots = match window {
                0 => now,
                _ => predicted.get(from..to.min(ahead)).unwrap_or_default(),
            };
            let (mut least, mut most) = (later, later);
            if let Some((first, rest)) = slots.split_first() {
                // The least is left where the most is in use.
                least = left_of(&rest.iter().fold(*first, |most, taken| most.max(*taken)));
                most = left_of(&rest.iter().fold(*first, |least, taken| least.min(*taken)));
            }
            if to > ahead {
                (least, most) = (least.min(later), most.max(later));
            }
            least_ever = least_ever.min(least);
            most_ever = most_ever.max(most);
            for resource in Resource::ALL {
                let window_of = |amounts: Amounts| coarse(amounts.plus(tolerance).get(resource));
                self.windows.least[resource as usize][window] = window_of(least);
                self.windows.most[resource as usize][window] = window_of(most);
            }
        }
        self.least = least_ever;
        most_ever
    }

    /// The minimum over all slots.
    pub(crate) fn least(&self) -> Amounts {
        self.least
    }

    /// The earliest predicted end, in slots from now.
    pub(crate) fn first_end(&self) -> Option<usize> {
        self.first_end
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Demand;
    use crate::resources::Resources;
    use crate::running::Running;
    use crate::{SLOT_MS, slot_of};

    #[test]
    fn sums_saturate_at_the_smallest_integer() {
        let slots = vec![Resources::from_array([f64::MAX, 1.0, 1.0, 1.0]); 200_000];
        let running = Running::new(0, Demand::series(SLOT_MS, &slots).unwrap());
        let capacity = Amounts::rounded_down(Resources::from_array([4.0; 4]));
        let mut left = Left::default();
        left.update(capacity, &Timeline::of(slot_of(0), [&running]));
        assert_eq!(left.sum(200_000).get(Resource::Cpu), i64::MIN);
        assert_eq!(left.sum(200_000).get(Resource::Disk), 3 * 200_000);
    }
}
