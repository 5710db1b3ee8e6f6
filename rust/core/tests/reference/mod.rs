//! Plain slot-by-slot references of the policies, by the definitions in docs/policies.md.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod events;
pub mod policies;
pub mod segments;

use elastane_core::node::ExecutorId;
use elastane_core::policy::{Candidate, Place, Policy, Rates, Waiting};
use elastane_core::{Available, Demand, Node, Resource, Resources, Running, SLOT_MS};
use proptest::prelude::*;

/// Everything here starts, changes and ends with a slot.
pub const SLOT: i64 = SLOT_MS as i64;
/// A time by which everything here has ended.
pub const END_MS: i64 = 200 * SLOT;
pub const NOW_MS: i64 = 50 * SLOT;

/// The starts of all slots of a period.
pub fn slots(length_ms: i64) -> impl DoubleEndedIterator<Item = i64> {
    (0..length_ms / SLOT).map(|slot| slot * SLOT)
}

/// A waiting executor.
#[derive(Debug, Clone)]
pub struct Asked {
    pub demand: Demand,
    pub needed: Demand,
    pub request: Resources,
    pub waiting: Waiting,
}

/// A node, its running executors, and the waiting ones.
#[derive(Debug, Clone)]
pub struct Scene {
    pub capacity: Resources,
    pub running: Vec<Running>,
    pub booked: Resources,
    pub rates: Option<Rates>,
    pub asked: Vec<Asked>,
}

/// Even numbers: sums are exact, equal scores tie, and a margin of one half yields whole numbers.
pub fn amounts() -> impl Strategy<Value = Resources> {
    let even = |amount| 2.0 * f64::from(amount);
    prop::array::uniform4(0_u8..8).prop_map(move |amounts| Resources::from_array(amounts.map(even)))
}

fn capacity() -> impl Strategy<Value = Resources> {
    let one = prop_oneof![1 => Just(0_u8), 6 => 16_u8..60];
    prop::array::uniform4(one).prop_map(|amounts| Resources::from_array(amounts.map(f64::from)))
}

pub fn demand() -> impl Strategy<Value = Demand> {
    // Few distinct values, so that stages are longer than a slot.
    let slot = prop_oneof![
        amounts(),
        Just(Resources::from_array([2.0, 4.0, 6.0, 8.0])),
        Just(Resources::from_array([2.0, 4.0, 6.0, 0.0])),
    ];
    let series = (1_u32..6, prop::collection::vec(slot, 1..8))
        .prop_map(|(long, slots)| Demand::series(long * SLOT_MS, &slots).unwrap().on_grid());
    let for_life = amounts().prop_map(Demand::for_life);
    prop_oneof![8 => series, 1 => for_life]
}

pub fn running() -> impl Strategy<Value = Running> {
    (demand(), 0..=NOW_MS / SLOT, 0_u8..16).prop_map(|(demand, start, memory)| {
        let mut running = Running::new(start * SLOT, demand);
        running.measured_memory_bytes = f64::from(memory);
        running
    })
}

pub fn waiting() -> impl Strategy<Value = Waiting> {
    let share = || (0_u8..=16).prop_map(|share| f64::from(share) / 16.0);
    let shares = prop::array::uniform4(share()).prop_map(Resources::from_array);
    (0..=NOW_MS, 0..=NOW_MS, share(), any::<bool>(), prop::option::of(shares)).prop_map(
        |(submitted_ms, queued_ms, dominant_share, whole, remaining_share)| Waiting {
            submitted_ms,
            queued_ms,
            executors: 1,
            running: 0,
            dominant_share,
            whole,
            remaining_share,
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    let margin = prop_oneof![Just(0.0), Just(0.5)];
    (demand(), margin, amounts(), waiting()).prop_map(|(demand, margin, request, waiting)| Asked {
        needed: demand.with_margin(margin),
        demand,
        request,
        waiting,
    })
}

fn rates() -> impl Strategy<Value = Rates> {
    (1_u8..120, amounts(), amounts()).prop_map(|(expected, per_s, assigned)| Rates {
        expected_processing_s: f64::from(expected),
        per_s,
        assigned,
    })
}

pub fn scene() -> impl Strategy<Value = Scene> {
    (
        capacity(),
        prop::collection::vec(running(), 0..6),
        prop::collection::vec(amounts(), 0..4),
        prop::option::of(rates()),
        prop::collection::vec(asked(), 1..5),
    )
        .prop_map(|(capacity, running, requests, rates, asked)| Scene {
            capacity,
            running,
            booked: requests.into_iter().fold(Resources::ZERO, |sum, request| sum + request),
            rates,
            asked,
        })
}

impl Scene {
    pub fn node(&self) -> Node {
        let mut node = Node::new(self.capacity);
        for (id, executor) in self.running.iter().enumerate() {
            node.insert(ExecutorId(id as u64), executor.clone());
        }
        node
    }

    pub fn place<'a>(&'a self, node: &'a Node, available: &'a Available) -> Place<'a> {
        Place { node, available, booked: self.booked, now_ms: NOW_MS, rates: self.rates.as_ref() }
    }

    /// Available resources of the node `offset_ms` after now.
    pub fn left(&self, offset_ms: i64) -> Resources {
        self.running.iter().fold(self.capacity, |left, executor| left - used(executor, offset_ms))
    }

    pub fn has(&self, resource: Resource) -> bool {
        self.capacity.get(resource) > 0.0
    }
}

impl Asked {
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate {
            demand: &self.demand,
            needed: &self.needed,
            request: self.request,
            waiting: self.waiting,
        }
    }
}

/// End of an executor, in milliseconds from now; one slot from now for an executor past its prediction.
pub fn end_ms(executor: &Running) -> Option<i64> {
    let life_ms = executor.demand.duration_ms()?;
    let left_ms = executor.start_ms + life_ms - NOW_MS;
    Some(if left_ms > 0 { left_ms } else { i64::from(executor.demand.slot_ms()) })
}

pub fn outlives_its_prediction(executor: &Running) -> bool {
    let life_ms = executor.demand.duration_ms();
    life_ms.is_some_and(|life_ms| executor.start_ms + life_ms <= NOW_MS)
}

/// Use of one executor `offset_ms` after now.
pub fn used(executor: &Running, offset_ms: i64) -> Resources {
    if end_ms(executor).is_some_and(|end_ms| offset_ms >= end_ms) {
        return Resources::ZERO;
    }
    let mut amounts = demanded(&executor.demand, NOW_MS - executor.start_ms + offset_ms);
    amounts.memory_bytes = amounts.memory_bytes.max(executor.measured_memory_bytes);
    amounts
}

/// A demand `elapsed_ms` after its start; the last value holds past the end.
pub fn demanded(demand: &Demand, elapsed_ms: i64) -> Resources {
    let slots = demand.slots();
    let slot = (elapsed_ms / i64::from(demand.slot_ms())) as usize;
    slots[slot.min(slots.len() - 1)]
}

/// Places fitting executors, best first, until none fits.
pub fn fill(scene: &mut Scene, policy: &dyn Policy) {
    loop {
        let node = scene.node();
        let available = node.available(NOW_MS);
        let place = scene.place(&node, &available);
        let fitting = scene
            .asked
            .iter()
            .enumerate()
            .filter(|(_, asked)| policy.fits(&place, &asked.candidate()).is_ok());
        let best = fitting.min_by(|a, b| {
            let [a, b] = [a, b].map(|(_, asked)| policy.score(&place, &asked.candidate()));
            a.total_cmp(&b)
        });
        let Some((best, _)) = best else { return };
        let placed = scene.asked.remove(best);
        scene.running.push(Running::new(NOW_MS, placed.demand));
    }
}
