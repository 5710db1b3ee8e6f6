//! Fit and MinFrag against a plain reference that looks at every millisecond.

// Helpers of a test may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use elastane_core::fit::fit;
use elastane_core::node::ExecutorId;
use elastane_core::policy::{Candidate, MinFrag, Place, Policy, Waiting};
use elastane_core::{Demand, Node, Resource, Resources, Running};
use proptest::prelude::*;

/// Long enough for everything here to have ended.
const END_MS: i64 = 200;
const NOW_MS: i64 = 50;
const CAPACITY: f64 = 20.0;

/// Whole numbers, so that sums are exact and a tie is a tie.
fn amounts() -> impl Strategy<Value = Resources> {
    prop::array::uniform4(0_u8..8).prop_map(|amounts| Resources::from_array(amounts.map(f64::from)))
}

fn demand() -> impl Strategy<Value = Demand> {
    let series = (1_u32..6, prop::collection::vec(amounts(), 1..8))
        .prop_map(|(slot_ms, slots)| Demand::series(slot_ms, &slots).unwrap());
    let for_life = amounts().prop_map(|amounts| Demand::for_life(amounts).unwrap());
    prop_oneof![4 => series, 1 => for_life]
}

fn running() -> impl Strategy<Value = Running> {
    (demand(), 0..=NOW_MS, 0_u8..8).prop_map(|(demand, start_ms, memory)| {
        let mut running = Running::new(start_ms, demand);
        running.measured_memory_bytes = f64::from(memory);
        running
    })
}

/// What one executor uses `offset_ms` after now, by the words of the design.
fn used(executor: &Running, offset_ms: i64) -> Resources {
    let elapsed_now = NOW_MS - executor.start_ms;
    let overdue = executor
        .demand
        .duration_ms()
        .is_some_and(|duration_ms| elapsed_now >= duration_ms);
    let end_offset_ms = match executor.demand.duration_ms() {
        None => i64::MAX,
        Some(_) if overdue => i64::from(executor.demand.slot_ms()),
        Some(duration_ms) => duration_ms - elapsed_now,
    };
    if offset_ms >= end_offset_ms {
        return Resources::ZERO;
    }
    let last = executor.demand.slots().len() as i64 - 1;
    let slot = ((elapsed_now + offset_ms) / i64::from(executor.demand.slot_ms())).min(last);
    let slot = if overdue { last } else { slot };
    let mut amounts = executor.demand.slots()[slot as usize];
    amounts.memory_bytes = amounts.memory_bytes.max(executor.measured_memory_bytes);
    amounts
}

fn left(running: &[Running], offset_ms: i64) -> Resources {
    running
        .iter()
        .fold(Resources::from_array([CAPACITY; 4]), |left, executor| {
            left - used(executor, offset_ms)
        })
}

fn reference_fits(running: &[Running], candidate: &Demand) -> bool {
    let life_ms = candidate.duration_ms().unwrap_or(END_MS);
    (0..life_ms).all(|offset_ms| {
        let (need, left) = (candidate.at(offset_ms), left(running, offset_ms));
        Resource::ALL
            .iter()
            .all(|resource| need.get(*resource) <= left.get(*resource))
    })
}

fn reference_shares(running: &[Running], candidate: &Demand) -> [f64; 4] {
    let ends = running.iter().filter_map(|executor| {
        let duration_ms = executor.demand.duration_ms()?;
        let left_ms = duration_ms - (NOW_MS - executor.start_ms);
        (left_ms > 0).then_some(left_ms)
    });
    let horizon_ms = ends
        .chain(candidate.duration_ms())
        .min()
        .unwrap_or(i64::from(candidate.slot_ms()));
    let mut remaining = Resources::ZERO;
    for offset_ms in 0..horizon_ms {
        remaining += left(running, offset_ms) - candidate.at(offset_ms);
    }
    remaining
        .map(|sum| sum / (CAPACITY * horizon_ms as f64))
        .to_array()
}

fn node(running: &[Running]) -> Node {
    let mut node = Node::new(Resources::from_array([CAPACITY; 4]));
    for (id, executor) in running.iter().enumerate() {
        node.insert(ExecutorId(id as u64), executor.clone());
    }
    node
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn fits_what_the_reference_fits(
        running in prop::collection::vec(running(), 0..6),
        candidate in demand(),
    ) {
        let available = node(&running).available(NOW_MS);
        prop_assert_eq!(
            fit(&available, &candidate, 0.0).is_ok(),
            reference_fits(&running, &candidate)
        );
    }

    #[test]
    fn scores_as_the_reference_scores(
        running in prop::collection::vec(running(), 0..6),
        candidate in demand(),
    ) {
        let node = node(&running);
        let place = Place {
            node: &node,
            available: &node.available(NOW_MS),
            booked: Resources::ZERO,
            now_ms: NOW_MS,
            rates: None,
        };
        let candidate = Candidate {
            demand: &candidate,
            needed: &candidate,
            request: Resources::ZERO,
            waiting: Waiting::default(),
        };
        let got = MinFrag::default().score(&place, &candidate);
        let expected = reference_shares(&running, candidate.demand).into_iter().fold(0.0, f64::max);
        prop_assert!((got - expected).abs() < 1e-9, "{} is not {}", got, expected);
    }

    #[test]
    fn the_order_of_insertion_does_not_matter(
        mut running in prop::collection::vec(running(), 0..6),
    ) {
        let forward = node(&running).available(NOW_MS);
        running.reverse();
        prop_assert_eq!(forward, node(&running).available(NOW_MS));
    }
}
