//! Demand: the predicted use of one executor over its life.

use std::sync::Arc;

use crate::resources::{Resource, Resources};

/// The longest demand on the grid, in slots: a day.
const LONGEST_SLOTS: usize = 24 * 60 * 60 * 1_000 / crate::SLOT_MS as usize;

/// Predicted use of one executor as a step function of the time since its start.
///
/// Cheap to clone, and one pointer wide: the executors of an application share one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand(Arc<Shared>);

#[derive(Debug, PartialEq)]
struct Shared {
    slot_ms: u32,
    ends: bool,
    /// None for one slot, which is the peak. The planned request of a container is of this kind.
    slots: Option<Box<[Resources]>>,
    /// Cached, since policies read it repeatedly.
    peak: Resources,
    mean: Resources,
}

/// Why a series is no valid demand.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum DemandError {
    /// A series needs at least one slot.
    #[error("the series is empty, at least one slot is needed")]
    Empty,
    /// The slot length is 0.
    #[error("the slot length is 0 ms, at least 1 ms is needed")]
    NoSlotLength,
    /// An amount is not a number, infinite or negative.
    #[error("{} in slot {slot} is {amount}, finite and at least 0 is allowed", resource.name())]
    Amount {
        /// Which slot, from 0.
        slot: usize,
        /// Which resource.
        resource: Resource,
        /// The amount.
        amount: f64,
    },
}

impl Demand {
    /// A series with one value for each slot of `slot_ms` from the executor's start.
    ///
    /// An empty series, a slot length of 0, or an amount that is not finite and at least 0.
    pub fn series(slot_ms: u32, slots: &[Resources]) -> Result<Self, DemandError> {
        if slot_ms == 0 {
            return Err(DemandError::NoSlotLength);
        }
        if slots.is_empty() {
            return Err(DemandError::Empty);
        }
        for (slot, amounts) in slots.iter().enumerate() {
            if let Some((resource, amount)) = amounts.first_invalid() {
                return Err(DemandError::Amount { slot, resource, amount });
            }
        }
        Ok(Self::new(slot_ms, slots.to_vec(), true))
    }

    /// A constant demand without a predicted end, such as a request. An amount that is not finite and at
    /// least 0 counts as 0.
    pub fn for_life(amounts: Resources) -> Self {
        let amounts = amounts.map(|amount| if amount.is_finite() { amount.max(0.0) } else { 0.0 });
        Self::of_one_slot(crate::SLOT_MS, amounts, false)
    }

    /// Milliseconds from start to predicted end; none without an end.
    pub fn duration_ms(&self) -> Option<i64> {
        self.0.ends.then(|| i64::from(self.slot_ms()).saturating_mul(self.slots().len() as i64))
    }

    /// The length of a slot in milliseconds.
    pub fn slot_ms(&self) -> u32 {
        self.0.slot_ms
    }

    /// One value for each slot.
    pub fn slots(&self) -> &[Resources] {
        self.0.slots.as_deref().unwrap_or(std::slice::from_ref(&self.0.peak))
    }

    /// Whether another demand shares the series.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether both share one series.
    pub fn shares_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The demand `elapsed_ms` after the start; the last value holds past the end.
    pub fn at(&self, elapsed_ms: i64) -> Resources {
        self.slots()[self.slot_at(elapsed_ms)]
    }

    /// The index of the slot at `elapsed_ms`, at most the last.
    pub fn slot_at(&self, elapsed_ms: i64) -> usize {
        let slot = elapsed_ms.max(0) / i64::from(self.slot_ms());
        usize::try_from(slot).unwrap_or(usize::MAX).min(self.slots().len() - 1)
    }

    /// This demand in slots of [`crate::SLOT_MS`]. Each slot has the largest value that it overlaps. A demand
    /// longer than a day ends after a day, and its last slot has the largest value of the rest.
    pub fn on_grid(&self) -> Self {
        self.in_slots_of(crate::SLOT_MS)
    }

    /// This demand in slots of this length, at least 1 ms, with at most as many slots as a day on the grid has.
    pub(crate) fn in_slots_of(&self, wanted_ms: u32) -> Self {
        let slot_ms = u64::from(wanted_ms.max(1));
        let given = self.slots();
        if self.slot_ms() == wanted_ms && given.len() <= LONGEST_SLOTS {
            return self.clone();
        }
        let given_ms = u64::from(self.slot_ms());
        let last_given = given.len() - 1;
        let duration_ms = given_ms.saturating_mul(given.len() as u64);
        let count = usize::try_from(duration_ms.div_ceil(slot_ms))
            .unwrap_or(LONGEST_SLOTS)
            .min(LONGEST_SLOTS);
        let slots = (0..count).map(|slot| {
            let from_ms = slot as u64 * slot_ms;
            let first = usize::try_from(from_ms / given_ms).unwrap_or(last_given);
            let last = if slot + 1 == LONGEST_SLOTS {
                last_given
            } else {
                usize::try_from((from_ms + slot_ms - 1) / given_ms).unwrap_or(last_given)
            };
            Resources::peak_of(&given[first.min(last_given)..=last.min(last_given)])
        });
        Self::new(wanted_ms, slots.collect(), self.0.ends)
    }

    /// The largest value of each resource.
    pub fn peak(&self) -> Resources {
        self.0.peak
    }

    /// The mean of each resource over the slots.
    pub fn mean(&self) -> Resources {
        self.0.mean
    }

    /// This demand times one plus `margin`.
    pub fn with_margin(&self, margin: f64) -> Self {
        if margin == 0.0 {
            return self.clone();
        }
        self.mapped(|slot| slot * (1.0 + margin))
    }

    /// This demand, at most `capacity`: a container whose request fits an empty node fits it by prediction too.
    pub fn capped(&self, capacity: Resources) -> Self {
        if self.peak().capped(capacity) == self.peak() {
            return self.clone();
        }
        self.mapped(|slot| slot.capped(capacity))
    }

    /// This demand, each resource times its factor.
    pub fn scaled(&self, factors: Resources) -> Self {
        if factors == Resources::ONE {
            return self.clone();
        }
        self.mapped(|slot| slot.zip(factors, |amount, factor| amount * factor))
    }

    /// This demand plus `more` in the slots from `first` on. One slot without an addition follows,
    /// so that no addition is held past the end.
    pub(crate) fn raised(&self, first: usize, more: &[Resources]) -> Self {
        let end = first.saturating_add(more.len());
        let before = self.slots();
        let count = before.len().max(end.saturating_add(1));
        let slots = (0..count).map(|slot| {
            let more = slot.checked_sub(first).and_then(|at| more.get(at));
            before[slot.min(before.len() - 1)] + more.copied().unwrap_or_default()
        });
        Self::new(self.slot_ms(), slots.collect(), self.0.ends)
    }

    fn mapped(&self, change: impl Fn(Resources) -> Resources) -> Self {
        let slots = self.slots().iter().map(|slot| change(*slot)).collect();
        Self::new(self.slot_ms(), slots, self.0.ends)
    }

    fn new(slot_ms: u32, slots: Vec<Resources>, ends: bool) -> Self {
        if let [slot] = slots[..] {
            return Self::of_one_slot(slot_ms, slot, ends);
        }
        let sum: Resources = slots.iter().copied().sum();
        let mean = sum * (1.0 / slots.len().max(1) as f64);
        let peak = Resources::peak_of(&slots);
        Self(Arc::new(Shared { slot_ms, ends, slots: Some(slots.into()), peak, mean }))
    }

    fn of_one_slot(slot_ms: u32, slot: Resources, ends: bool) -> Self {
        Self(Arc::new(Shared { slot_ms, ends, slots: None, peak: slot, mean: slot }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::cpu;

    #[test]
    fn the_last_value_holds_past_the_end() {
        let demand = Demand::series(3_000, &[cpu(1.0), cpu(2.0)]).unwrap();
        assert_eq!(demand.at(0).cpu_cores, 1.0);
        assert_eq!(demand.at(2_999).cpu_cores, 1.0);
        assert_eq!(demand.at(3_000).cpu_cores, 2.0);
        assert_eq!(demand.at(60_000).cpu_cores, 2.0);
        assert_eq!(demand.duration_ms(), Some(6_000));
    }

    #[test]
    fn peak_and_mean_are_those_of_the_slots() {
        let demand = Demand::series(3_000, &[1.0, 2.0, 6.0].map(cpu)).unwrap();
        assert_eq!((demand.peak(), demand.mean()), (cpu(6.0), cpu(3.0)));
    }

    #[test]
    fn a_request_has_no_end() {
        assert_eq!(Demand::for_life(cpu(1.0)).duration_ms(), None);
    }

    #[test]
    fn an_error_names_the_cause() {
        assert_eq!(Demand::series(3_000, &[]), Err(DemandError::Empty));
        assert_eq!(Demand::series(0, &[cpu(1.0)]), Err(DemandError::NoSlotLength));
        for amount in [f64::NAN, f64::INFINITY, -1.0] {
            let error = Demand::series(3_000, &[cpu(1.0), cpu(amount)]).unwrap_err();
            assert!(error.to_string().starts_with("cpu in slot 1 is "), "{error}");
        }
    }

    #[test]
    fn a_cap_lowers_only_the_peaks() {
        let demand = Demand::series(3_000, &[cpu(1.0), cpu(4.0)]).unwrap();
        let capped = demand.capped(cpu(2.0));
        assert_eq!(capped.slots(), &[cpu(1.0), cpu(2.0)]);
    }

    #[test]
    fn an_addition_is_not_held_past_the_end() {
        let demand = Demand::series(3_000, &[1.0, 2.0].map(cpu)).unwrap();
        let raised = demand.raised(1, &[cpu(5.0), cpu(4.0)]);
        assert_eq!(raised.slots(), &[1.0, 7.0, 6.0, 2.0].map(cpu));
        assert_eq!(demand.raised(0, &[cpu(5.0)]).slots(), &[6.0, 2.0].map(cpu));
    }

    #[test]
    fn on_the_grid_a_slot_has_the_largest_value_that_it_overlaps() {
        let fine = Demand::series(1_000, &[1.0, 3.0, 2.0, 1.0].map(cpu)).unwrap();
        assert_eq!(fine.on_grid().slots(), &[cpu(3.0), cpu(1.0)]);
        let crossing = Demand::series(2_000, &[1.0, 3.0, 2.0].map(cpu)).unwrap();
        assert_eq!(crossing.on_grid().slots(), &[cpu(3.0), cpu(3.0)]);
        let coarse = Demand::series(6_000, &[1.0, 2.0].map(cpu)).unwrap();
        assert_eq!(coarse.on_grid().slots(), &[1.0, 1.0, 2.0, 2.0].map(cpu));
        let on_grid = Demand::series(3_000, &[1.0, 2.0].map(cpu)).unwrap();
        assert_eq!(on_grid.on_grid(), on_grid);
    }

    #[test]
    fn on_the_grid_a_demand_ends_after_a_day_and_keeps_its_peak() {
        let demand = Demand::series(u32::MAX, &[cpu(1.0), cpu(5.0)]).unwrap();
        let on_grid = demand.on_grid();
        assert_eq!(on_grid.slots().len(), LONGEST_SLOTS);
        assert_eq!(on_grid.peak(), cpu(5.0));
    }
}
