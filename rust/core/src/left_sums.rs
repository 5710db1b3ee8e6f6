//! Resources left on a node in each slot, as running sums from which needs are taken.

use crate::amounts::Amounts;
use crate::left_ahead::LeftAhead;

/// A node's resources up to a horizon, less what waiting executors are planned to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftSums {
    capacity: Amounts,
    /// Sum of the first n slots, for each n up to the last change.
    sums: Vec<Amounts>,
    /// Left in each slot after the last change.
    later: Amounts,
}

impl LeftSums {
    /// The first `horizon` slots of a node. What is left in the slot after them counts as left for good.
    pub(crate) fn up_to(horizon: usize, left: &impl LeftAhead) -> Self {
        let mut sum = Amounts::ZERO;
        let slots = (0..left.slots_ahead().min(horizon)).map(|slot| {
            sum = sum.plus(left.slot(slot));
            sum
        });
        Self {
            capacity: left.capacity(),
            sums: std::iter::once(Amounts::ZERO).chain(slots).collect(),
            later: left.slot(horizon),
        }
    }

    /// Takes the needs of an executor that starts in the slot `start`. What it needs in the slot `horizon`, which
    /// is not before `start`, counts as needed for good.
    pub(crate) fn take(&mut self, start: usize, needs: &[Amounts], horizon: usize) {
        let beyond = horizon.checked_sub(start).and_then(|slot| needs.get(slot)).copied();
        let end = start.saturating_add(needs.len()).min(horizon);
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
}

impl LeftAhead for LeftSums {
    fn capacity(&self) -> Amounts {
        self.capacity
    }

    fn slots_ahead(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    fn slot(&self, ahead: usize) -> Amounts {
        match (self.sums.get(ahead), self.sums.get(ahead.saturating_add(1))) {
            (Some(before), Some(after)) => after.minus(*before),
            _ => self.later,
        }
    }

    fn sum(&self, slots: usize) -> Amounts {
        if let Some(sum) = self.sums.get(slots) {
            return *sum;
        }
        let known = self.sums.last().copied().unwrap_or_default();
        let beyond = slots.saturating_sub(self.slots_ahead());
        known.plus(self.later.times(i64::try_from(beyond).unwrap_or(i64::MAX)))
    }
}
