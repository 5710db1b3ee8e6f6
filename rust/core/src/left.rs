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
        let (predicted, overdue) = (timeline.predicted(), timeline.overdue());
        let ahead = predicted.len().max(usize::from(overdue != Amounts::ZERO));
        // Nothing is left of what is not known.
        let later = capacity.minus(timeline.for_life()).known_in(capacity);
        let tolerance = capacity.tolerance();
        let memory_tolerance = tolerance.get(Resource::Memory);
        let memory = |left: Amounts| coarse(left.get(Resource::Memory) + memory_tolerance);
        self.capacity = capacity;
        self.tolerance = tolerance;
        self.later = later;
        self.first_end = timeline
            .first_end()
            .map(|slots| usize::try_from(slots).unwrap_or(usize::MAX));

        make_room(&mut self.memory, ahead + 1);
        make_room(&mut self.sums, ahead + 1);
        let mut sum = Amounts::ZERO;
        self.sums.push(sum);
        let mut least_ever = later;
        for window in 0..WINDOWS {
            let (from, to) = window_slots(window);
            let (mut least, mut most) = (None, None);
            if to > ahead {
                (least, most) = (Some(later), Some(later));
            }
            let mut include = |left: Amounts| {
                sum = sum.plus(left);
                self.sums.push(sum);
                self.memory.push(memory(left));
                least = Some(least.map_or(left, |least: Amounts| least.min(left)));
                most = Some(most.map_or(left, |most: Amounts| most.max(left)));
            };
            if window == 0 && ahead > 0 {
                let now = predicted.first().copied().unwrap_or_default().plus(overdue);
                include(later.minus(now).known_in(capacity));
            } else {
                for taken in predicted.get(from..to.min(ahead)).unwrap_or_default() {
                    include(later.minus(*taken).known_in(capacity));
                }
            }
            let (least, most) = (least.unwrap_or(later), most.unwrap_or(later));
            least_ever = least_ever.min(least);
            for resource in Resource::ALL {
                let window_of = |amounts: Amounts| coarse(amounts.plus(tolerance).get(resource));
                self.windows.least[resource as usize][window] = window_of(least);
                self.windows.most[resource as usize][window] = window_of(most);
            }
        }
        self.least = least_ever;
        self.memory.push(memory(self.later));
    }

    pub(crate) fn capacity(&self) -> Amounts {
        self.capacity
    }

    /// What a demand may pass what is left by, since its amounts are rounded.
    pub(crate) fn tolerance(&self) -> Amounts {
        self.tolerance
    }

    /// By how much a demand may pass what is left: rounding and, of CPU, network and disk, what is
    /// `soft`.
    pub(crate) fn allowed(&self, soft: bool) -> Amounts {
        if soft {
            self.tolerance.plus(self.capacity.soft())
        } else {
            self.tolerance
        }
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

/// Empties `kept` for so many, and gives back what is far more than they need: on a large cluster
/// these are most of the memory.
fn make_room<T>(kept: &mut Vec<T>, needed: usize) {
    kept.clear();
    if kept.capacity() > 2 * needed {
        kept.shrink_to(needed);
    }
    kept.reserve_exact(needed);
}
