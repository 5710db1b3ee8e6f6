//! The product's policies against a plain reference.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "properties/against_reference.rs"]
mod against_reference;
mod reference;

use elastane_core::Available;
use elastane_core::policy::{Policy, PolicyOptions, named, names};
use proptest::prelude::*;

use reference::policies::{self, fits, highest_wins, score};
use reference::{NOW_MS, amounts, running, waiting};

fn policies() -> Vec<Box<dyn Policy>> {
    let names = names().into_iter();
    names.map(|name| named(name, PolicyOptions::default()).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_order_of_insertion_does_not_matter(
        mut running in prop::collection::vec(running(), 0..6), capacity in amounts(),
    ) {
        let forward = Available::new(capacity, &running, NOW_MS);
        running.reverse();
        prop_assert_eq!(forward, Available::new(capacity, &running, NOW_MS));
    }

    #[test]
    fn prophets_turns_equal_the_reference(waiting in prop::collection::vec(waiting(), 0..12)) {
        let prophet = named("prophet", PolicyOptions::default()).unwrap();
        prop_assert!(prophet.needs_gangs());
        prop_assert_eq!(prophet.turns(&waiting, NOW_MS), policies::turns(&waiting));
    }
}
