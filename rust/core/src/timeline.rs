//! Resources in use by the executors of one node, slot by slot.
//!
//! All times are slots of [`crate::SLOT_MS`] since the epoch. Predictions are made from samples of
//! this length, so nothing finer is known.

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::resources::{Resource, Resources};
use crate::running::Running;
use crate::{slot_of, slot_start_ms};

/// Resources in use from the slot of `now` on. Adding and removing an executor costs one step for
/// each slot that its demand still has, whatever else runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Timeline {
    slot: i64,
    /// By executors within their prediction, from `slot` to the last predicted end.
    taken: Vec<Amounts>,
    /// By executors without a predicted end.
    for_life: Amounts,
    /// By executors past their prediction; in `slot` only.
    overdue: Amounts,
    /// By the slot after the predicted end: the last demand of the executors that end there.
    ends: BTreeMap<i64, Ending>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ending {
    executors: usize,
    last: Amounts,
}

impl Timeline {
    /// The timeline of these executors from `slot`, the slot of `now`, on.
    pub(crate) fn of<'a>(slot: i64, executors: impl IntoIterator<Item = &'a Running>) -> Self {
        let mut timeline = Self {
            slot,
            taken: Vec::new(),
            for_life: Amounts::ZERO,
            overdue: Amounts::ZERO,
            ends: BTreeMap::new(),
        };
        for executor in executors {
            timeline.add(executor);
        }
        timeline
    }

    /// The earliest predicted end, in slots from now.
    pub(crate) fn first_end(&self) -> Option<i64> {
        let (end, _) = self.ends.first_key_value()?;
        Some(end.saturating_sub(self.slot))
    }

    /// In use by executors within their prediction, in each slot up to the last predicted end.
    pub(crate) fn predicted(&self) -> &[Amounts] {
        &self.taken
    }

    /// In use by executors past their prediction, in the current slot.
    pub(crate) fn overdue(&self) -> Amounts {
        self.overdue
    }

    /// In use by executors without a predicted end, in every slot.
    pub(crate) fn for_life(&self) -> Amounts {
        self.for_life
    }

    /// Advances to `slot` and drops past slots. Time does not go back.
    pub(crate) fn advance(&mut self, slot: i64) {
        let passed = slot.saturating_sub(self.slot).max(0);
        self.slot = self.slot.max(slot);
        let passed = usize::try_from(passed).unwrap_or(usize::MAX);
        self.taken.drain(..passed.min(self.taken.len()));
        // Shorter executors need no slots that far ahead.
        if self.taken.capacity() > 2 * self.taken.len() {
            self.taken.shrink_to_fit();
        }
        while let Some(first) = self.ends.first_entry()
            && *first.key() <= self.slot
        {
            self.overdue = self.overdue.wrapping_plus(first.remove().last);
        }
    }

    /// An executor starts.
    pub(crate) fn add(&mut self, executor: &Running) {
        let in_use = in_use(executor);
        self.apply(
            executor,
            |taken, slot| *taken = taken.wrapping_plus(in_use(slot)),
            |count| count.saturating_add(1),
        );
    }

    /// An executor ends; undoes [`Timeline::add`].
    pub(crate) fn remove(&mut self, executor: &Running) {
        let in_use = in_use(executor);
        self.apply(
            executor,
            |taken, slot| *taken = taken.wrapping_minus(in_use(slot)),
            |count| count.saturating_sub(1),
        );
        let kept = self.ends.last_key_value().map_or(0, |(end, _)| end.saturating_sub(self.slot));
        self.taken.truncate(usize::try_from(kept).unwrap_or(0));
    }

    /// Takes in a measurement of an added executor's memory. Returns whether the resources in use
    /// change: only if the former or the new measurement exceeds the prediction.
    pub(crate) fn measured(&mut self, executor: &Running, memory_bytes: f64) -> bool {
        let [former, floor] = [executor.measured_memory_bytes, memory_bytes]
            .map(|measured| Amounts::rounded_down_of(Resource::Memory, measured));
        let higher = former.max(floor);
        let mut changes = false;
        self.apply(
            executor,
            |taken, slot| {
                // For most slots only this comparison is made.
                if slot.memory_bytes < higher as f64 {
                    let predicted = Amounts::rounded_down(*slot);
                    *taken = taken
                        .wrapping_minus(predicted.with_memory_floor(former))
                        .wrapping_plus(predicted.with_memory_floor(floor));
                    changes = true;
                }
            },
            |count| count,
        );
        changes
    }

    fn apply(
        &mut self,
        executor: &Running,
        mut put: impl FnMut(&mut Amounts, &Resources),
        count: impl Fn(usize) -> usize,
    ) {
        let slots = executor.demand.slots();
        let last = &slots[slots.len() - 1];
        if executor.demand.duration_ms().is_none() {
            put(&mut self.for_life, last);
            return;
        }
        let start = slot_of(executor.start_ms).min(self.slot);
        let end = start.saturating_add(slots.len() as i64);
        if end <= self.slot {
            put(&mut self.overdue, last);
            return;
        }
        let ending = self.ends.entry(end).or_default();
        ending.executors = count(ending.executors);
        put(&mut ending.last, last);
        if ending.executors == 0 {
            self.ends.remove(&end);
        }
        let left = usize::try_from(end.saturating_sub(self.slot)).unwrap_or(0);
        if self.taken.len() < left {
            // Exact, because on a large cluster these vectors use most of the memory.
            self.taken.reserve_exact(left - self.taken.len());
            self.taken.resize(left, Amounts::ZERO);
        }
        let passed = slots.len() - left;
        for (taken, slot) in self.taken.iter_mut().zip(&slots[passed..]) {
            put(taken, slot);
        }
    }
}

/// What an executor past its prediction has in use in `slot`, and for how many slots it has been past it.
pub(crate) fn overdue_by(executor: &Running, slot: i64) -> Option<(Amounts, usize)> {
    executor.demand.duration_ms()?;
    let slots = executor.demand.slots();
    let end = slot_of(executor.start_ms).saturating_add(slots.len() as i64);
    let overdue = usize::try_from(slot.checked_sub(end)?).ok()?;
    Some((in_use(executor)(slots.last()?), overdue))
}

/// An executor's resources in use in a slot, from the prediction for that slot.
fn in_use(executor: &Running) -> impl Fn(&Resources) -> Amounts {
    let memory_floor = Amounts::rounded_down_of(Resource::Memory, executor.measured_memory_bytes);
    move |slot| Amounts::rounded_down(*slot).with_memory_floor(memory_floor)
}

/// The start of the slot in which an executor starts, as [`Timeline`] counts it.
pub(crate) fn on_grid_ms(start_ms: i64, now_ms: i64) -> i64 {
    slot_start_ms(slot_of(start_ms.min(now_ms)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SLOT_MS;
    use crate::demand::Demand;

    /// Amounts that no binary fraction represents, so that floating-point sums would differ.
    fn executor() -> impl Strategy<Value = Running> {
        let amounts = prop::array::uniform4(0.0_f64..1e9);
        let slots = prop::collection::vec(amounts.prop_map(Resources::from_array), 1..12);
        let demand = (slots, any::<bool>()).prop_map(|(slots, ends)| {
            if ends { Demand::series(SLOT_MS, &slots).unwrap() } else { Demand::for_life(slots[0]) }
        });
        (demand, 0_i64..20, 0.0_f64..1e9).prop_map(|(demand, start_slot, measured)| Running {
            start_ms: start_slot * i64::from(SLOT_MS),
            demand,
            measured_memory_bytes: measured,
        })
    }

    const NOW: i64 = 20;

    proptest! {
        #[test]
        fn removing_an_executor_undoes_its_addition_exactly_at_any_time(
            executors in prop::collection::vec(executor(), 1..8),
            later in 0_i64..15,
        ) {
            for (number, removed) in executors.iter().enumerate() {
                let mut all = Timeline::of(NOW, &executors);
                all.advance(NOW + later);
                all.remove(removed);
                let others = executors.iter().enumerate().filter(|(other, _)| *other != number);
                let mut without = Timeline::of(NOW, others.map(|(_, executor)| executor));
                without.advance(NOW + later);
                prop_assert_eq!(all, without);
            }
        }

        #[test]
        fn a_late_measurement_equals_one_known_from_the_start(
            executors in prop::collection::vec(executor(), 1..8),
            memory_bytes in 0.0_f64..1e9,
            later in 0_i64..15,
        ) {
            let mut all = Timeline::of(NOW, &executors);
            all.advance(NOW + later);
            let before = all.clone();
            let changes = all.measured(&executors[0], memory_bytes);
            prop_assert_eq!(changes || all == before, true);
            let mut known = executors;
            known[0].measured_memory_bytes = memory_bytes;
            prop_assert_eq!(all, Timeline::of(NOW + later, &known));
        }

        #[test]
        fn the_order_of_starts_does_not_matter(
            executors in prop::collection::vec(executor(), 0..8),
        ) {
            let backwards = Timeline::of(NOW, executors.iter().rev());
            prop_assert_eq!(Timeline::of(NOW, &executors), backwards);
        }

        #[test]
        fn an_advanced_timeline_equals_one_computed_then(
            executors in prop::collection::vec(executor(), 0..8),
            later in 0_i64..40,
        ) {
            let mut aged = Timeline::of(NOW, &executors);
            aged.advance(NOW + later);
            prop_assert_eq!(aged, Timeline::of(NOW + later, &executors));
        }
    }
}
