//! Containers placed by demand never need more than the capacity.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod reference;

use elastane_core::Resource;
use elastane_core::policy::{PolicyOptions, named};
use proptest::prelude::*;

use reference::{END_MS, fill, scene, slots};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_node_filled_by_demand_never_needs_more_than_it_has(scene in scene()) {
        for policy in ["minfrag", "trc"] {
            let mut filled = scene.clone();
            filled.running.clear();
            fill(&mut filled, named(policy, PolicyOptions::default()).unwrap().as_ref());
            for offset_ms in slots(END_MS) {
                let left = filled.left(offset_ms);
                for resource in Resource::ALL {
                    let enough = left.get(resource) >= -1e-9 || !filled.has(resource);
                    prop_assert!(enough, "{}: {} at {}", policy, resource.name(), offset_ms);
                }
            }
        }
    }
}
