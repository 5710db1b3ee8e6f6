//! What a plan leaves of a node, in the forms that make it quick to ask.

use crate::amounts::Amounts;
use crate::resources::Resource;
use crate::timeline::Timeline;
use crate::windows::{Coarse, WINDOWS, coarse, window_slots};

/// Capacity less what a [`Timeline`] takes, from the slot that `now` lies in on.
///
/// A resource of capacity 0 is not known: nothing is left of it, and nothing is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Left {
    capacity: Amounts,
    tolerance: Amounts,
    /// What is left in the first n slots together, for each n up to the last predicted end.
    sums: Vec<Amounts>,
    /// What is left in each slot after that.
    later: Amounts,
    least: Amounts,
    first_end: Option<usize>,
    windows: LeftWindows,
    /// Memory in each slot, tolerance included, and at the end what is left ever after.
    memory: Vec<i32>,
}

/// For each resource and window the least and the most that is left in a slot, tolerance included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeftWindows {
    pub(crate) least: [Coarse; 4],
    pub(crate) most: [Coarse; 4],
}

impl Left {
    /// Computes all of it anew; what was allocated before is used again.
    pub(crate) fn update(&mut self, capacity: Amounts, timeline: &Timeline) {
        self.capacity = capacity;
        self.tolerance = capacity.tolerance();
        // Nothing is left of what is not known.
        self.later = capacity
            .minus(timeline.for_life())
            .masked_by(capacity.known());
        self.first_end = timeline
            .first_end()
            .map(|slots| usize::try_from(slots).unwrap_or(usize::MAX));
        let most = self.add_up(timeline, Amounts::wrapping_minus, Amounts::wrapping_plus);
        // As a day of any cluster is, so that not each sum has to be looked at. What wrapped around
        // is far beyond.
        let slots = i64::try_from(self.sums.len()).unwrap_or(i64::MAX);
        let limit = i64::MAX / 4 / slots.max(1);
        let extremes = [self.later, self.least, most];
        if !extremes.into_iter().all(|amounts| amounts.is_within(limit)) {
            self.add_up(timeline, Amounts::minus, Amounts::plus);
        }
    }

    /// Computes what each slot leaves and returns the most of it.
    ///
    /// Each form has a loop of its own, so that what it adds up stays in registers.
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
        let (tolerance, later, known) = (self.tolerance, self.later, self.capacity.known());
        let left_of = |taken: &Amounts| minus(later, *taken).masked_by(known);
        let left = || now.iter().chain(others).map(left_of);

        make_room(&mut self.sums, ahead + 1);
        let (mut sum, plus) = (Amounts::ZERO, &plus);
        self.sums.push(sum);
        self.sums.extend(left().map(move |left| {
            sum = plus(sum, left);
            sum
        }));

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
                // The least is left where the most is taken.
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

    pub(crate) fn capacity(&self) -> Amounts {
        self.capacity
    }

    /// What a demand may pass what is left by, since its amounts are rounded.
    pub(crate) fn tolerance(&self) -> Amounts {
        self.tolerance
    }

    /// The least that is left at any time.
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

    /// Memory from a slot on, coarsely; the last one is what is left ever after.
    pub(crate) fn memory_from(&self, slot: usize) -> &[i32] {
        let last = self.memory.len().saturating_sub(1);
        self.memory.get(slot.min(last)..).unwrap_or_default()
    }

    /// After how many slots nothing changes any more.
    pub(crate) fn slots_ahead(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// What is left in a slot from now.
    pub(crate) fn slot(&self, ahead: usize) -> Amounts {
        match (self.sums.get(ahead), self.sums.get(ahead.saturating_add(1))) {
            (Some(before), Some(after)) => after.minus(*before),
            _ => self.later,
        }
    }

    /// What is left in the first slots from now together.
    pub(crate) fn sum(&self, slots: usize) -> Amounts {
        if let Some(sum) = self.sums.get(slots) {
            return *sum;
        }
        let known = self.sums.last().copied().unwrap_or_default();
        let beyond = slots.saturating_sub(self.slots_ahead());
        known.plus(self.later.times(i64::try_from(beyond).unwrap_or(i64::MAX)))
    }
}

/// Empties `kept` and fits its capacity to `needed` entries: on a large cluster these vectors are most of
/// the memory.
fn make_room<T>(kept: &mut Vec<T>, needed: usize) {
    kept.clear();
    if kept.capacity() > 2 * needed {
        kept.shrink_to(needed);
    }
    kept.reserve_exact(needed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Demand;
    use crate::resources::Resources;
    use crate::running::Running;
    use crate::{SLOT_MS, slot_of};

    #[test]
    fn sums_that_no_integer_holds_stop_at_the_least() {
        let slots = vec![Resources::from_array([f64::MAX, 1.0, 1.0, 1.0]); 200_000];
        let running = Running::new(0, Demand::series(SLOT_MS, &slots).unwrap());
        let capacity = Amounts::rounded_down(Resources::from_array([4.0; 4]));
        let mut left = Left::default();
        left.update(capacity, &Timeline::of(slot_of(0), [&running]));
        assert_eq!(left.sum(200_000).get(Resource::Cpu), i64::MIN);
        assert_eq!(left.sum(200_000).get(Resource::Disk), 3 * 200_000);
    }
}
