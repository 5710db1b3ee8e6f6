//! Resources left on a node in each slot, as running sums.

use crate::amounts::Amounts;

/// Capacity less the demands on a node, in fixed point, from the slot of `now` on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LeftSums {
    capacity: Amounts,
    tolerance: Amounts,
    /// Sum of the first n slots, for each n up to the last change.
    sums: Vec<Amounts>,
    /// Left in each slot after the last change.
    later: Amounts,
}

impl LeftSums {
    /// Takes a node of this capacity of which this is left in the end; the slots before follow.
    pub(crate) fn begin(&mut self, capacity: Amounts, later: Amounts) {
        self.capacity = capacity;
        self.tolerance = capacity.tolerance();
        self.later = later;
    }

    /// Replaces the slots up to the last change: `ahead` of them.
    pub(crate) fn add_up(
        &mut self,
        ahead: usize,
        left: impl Iterator<Item = Amounts>,
        plus: impl Fn(Amounts, Amounts) -> Amounts,
    ) {
        make_room(&mut self.sums, ahead + 1);
        let mut sum = Amounts::ZERO;
        self.sums.push(sum);
        self.sums.extend(left.map(move |left| {
            sum = plus(sum, left);
            sum
        }));
    }

    /// The first `horizon` slots. What is left in the slot after them counts as left for good.
    pub(crate) fn up_to(&self, horizon: usize) -> Self {
        let sums = self.sums.get(..=horizon).unwrap_or(&self.sums);
        Self {
            sums: sums.to_vec(),
            later: self.slot(horizon),
            capacity: self.capacity,
            tolerance: self.tolerance,
        }
    }

    /// Takes the needs of an executor that starts in the slot `start`. What it needs in the slot `horizon`, which
    /// is not before `start`, counts as needed for good.
    pub(crate) fn take(&mut self, start: usize, needs: &[Amounts], horizon: usize) {
        let beyond = horizon.checked_sub(start).and_then(|slot| needs.get(slot)).copied();
        let end = start.saturating_add(needs.len()).min(horizon);
        if self.sums.is_empty() {
            self.sums.push(Amounts::ZERO);
        }
        let mut last = self.sums.last().copied().unwrap_or_default();
        while self.slots_ahead() < end {
            last = last.plus(self.later);
            self.sums.push(last);
        }
        let mut taken = Amounts::ZERO;
        let mut needs = needs.iter();
        for sum in self.sums.iter_mut().skip(start.saturating_add(1)) {
            taken = taken.plus(needs.next().copied().unwrap_or_default());
            *sum = sum.minus(taken);
        }
        self.later = self.later.minus(beyond.unwrap_or_default());
    }

    pub(crate) fn capacity(&self) -> Amounts {
        self.capacity
    }

    /// The tolerance: amounts are rounded, so a need may exceed the amount left by this.
    pub(crate) fn tolerance(&self) -> Amounts {
        self.tolerance
    }

    /// Left in each slot after the last change.
    pub(crate) fn later(&self) -> Amounts {
        self.later
    }

    /// Number of slots up to the last change.
    pub(crate) fn slots_ahead(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// Left in the slot `ahead` slots from now.
    pub(crate) fn slot(&self, ahead: usize) -> Amounts {
        match (self.sums.get(ahead), self.sums.get(ahead.saturating_add(1))) {
            (Some(before), Some(after)) => after.minus(*before),
            _ => self.later,
        }
    }

    /// Sum of the first `slots` slots.
    pub(crate) fn sum(&self, slots: usize) -> Amounts {
        if let Some(sum) = self.sums.get(slots) {
            return *sum;
        }
        let known = self.sums.last().copied().unwrap_or_default();
        let beyond = slots.saturating_sub(self.slots_ahead());
        known.plus(self.later.times(i64::try_from(beyond).unwrap_or(i64::MAX)))
    }
}

/// Empties `kept` and fits its capacity to `needed` entries: on a large cluster these vectors use
/// most of the memory.
pub(crate) fn make_room<T>(kept: &mut Vec<T>, needed: usize) {
    kept.clear();
    if kept.capacity() > 2 * needed {
        kept.shrink_to(needed);
    }
    kept.reserve_exact(needed);
}
