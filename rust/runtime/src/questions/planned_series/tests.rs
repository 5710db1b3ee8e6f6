#![allow(clippy::unwrap_used, reason = "tests")]

use elastane_core::node::ExecutorId;
use elastane_core::{Node, Running};
use proptest::prelude::*;

use super::*;

fn amounts(cpu_cores: f64) -> Resources {
    Resources { cpu_cores, memory_bytes: cpu_cores * 8.0, ..Resources::ZERO }
}

/// A start, and the use in each slot, all of one length.
fn executor() -> impl Strategy<Value = (i64, Vec<u32>)> {
    (-900_i64..0, prop::collection::vec(0..4_u32, 1..260))
}

proptest! {
    /// The reference asks each executor for its use at the time, and counts those that have ended as nothing.
    #[test]
    fn the_series_is_the_sum_of_what_executors_are_expected_to_use(
        executors in prop::collection::vec(executor(), 0..6),
    ) {
        let slot_ms = i64::from(SLOT_MS);
        let mut node = Node::new(Resources::from_array([64.0; 4]));
        for (number, (start_slot, slots)) in executors.iter().enumerate() {
            let slots: Vec<_> = slots.iter().map(|cores| amounts(f64::from(*cores))).collect();
            let demand = Demand::series(SLOT_MS, &slots).unwrap();
            node.insert(ExecutorId(number as u64), Running::new(start_slot * slot_ms, demand));
        }
        let series = PlannedSeries::of(&node.available(0));
        prop_assert_eq!(series.cpu_cores.len(), 200);
        for slot in 0..200 {
            let expected: u32 = executors
                .iter()
                .map(|(start, slots)| {
                    let elapsed = usize::try_from(slot - start).unwrap();
                    // What outlives its prediction is expected to end in one slot.
                    let outlives = slot == 0 && elapsed >= slots.len();
                    slots.get(elapsed).or(slots.last().filter(|_| outlives)).copied().unwrap_or(0)
                })
                .sum();
            let place = usize::try_from(slot).unwrap();
            prop_assert!((series.cpu_cores[place] - f64::from(expected)).abs() < 1e-9);
            prop_assert!((series.memory_bytes[place] - f64::from(expected) * 8.0).abs() < 1e-9);
        }
    }
}
