//! What is placed by demand never needs more than there is, and leaves no trace when it goes.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod reference;

use elastane_core::node::ExecutorId;
use elastane_core::packing::pack;
use elastane_core::policy::{PolicyOptions, named};
use elastane_core::{Resource, Resources, Running};
use proptest::prelude::*;

use reference::{END_MS, NOW_MS, Scene, amounts, scene};

/// Places what fits, best first, until nothing does.
fn fill(scene: &mut Scene, policy: &str) {
    let policy = named(policy, PolicyOptions::default()).unwrap();
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_node_filled_by_demand_never_needs_more_than_it_has(scene in scene()) {
        for policy in ["minfrag", "trc"] {
            let mut filled = scene.clone();
            filled.running.clear();
            fill(&mut filled, policy);
            for offset_ms in 0..END_MS {
                let left = filled.left(offset_ms);
                for resource in Resource::ALL {
                    let enough = left.get(resource) >= -1e-9 || !filled.has(resource);
                    prop_assert!(enough, "{}: {} at {}", policy, resource.name(), offset_ms);
                }
            }
        }
    }

    #[test]
    fn a_node_filled_by_peaks_never_needs_more_than_it_has(scene in scene()) {
        let mut filled = scene.clone();
        filled.running.clear();
        fill(&mut filled, "tetris");
        for offset_ms in 0..END_MS {
            for resource in Resource::ALL {
                let left = filled.left(offset_ms).get(resource);
                prop_assert!(left >= -1e-9 || !filled.has(resource));
            }
        }
    }

    #[test]
    fn an_executor_that_ends_leaves_the_node_as_it_was(scene in scene()) {
        let mut node = scene.node();
        let before = node.available(NOW_MS);
        let scores = |node: &elastane_core::Node| -> Vec<f64> {
            let available = node.available(NOW_MS);
            let place = scene.place(node, &available);
            let policies = elastane_core::policy::names().into_iter();
            policies
                .map(|name| named(name, PolicyOptions::default()).unwrap())
                .map(|policy| policy.score(&place, &scene.asked[0].candidate()))
                .collect()
        };
        let scores_before = scores(&node);
        let id = ExecutorId(1_000);
        node.insert(id, Running::new(NOW_MS, scene.asked[0].demand.clone()));
        node.remove(id);
        prop_assert_eq!(node.available(NOW_MS), before);
        prop_assert_eq!(scores(&node), scores_before);
    }

    #[test]
    fn packed_executors_stay_within_the_limit(
        usage in prop::collection::vec(amounts(), 0..8), limit in 7_u8..20,
    ) {
        let limit = Resources::from_array([f64::from(limit); 4]);
        let mut used = usage.clone();
        let handovers = pack(&usage, limit);
        for handover in &handovers {
            let given = used[handover.giver];
            used[handover.receiver] += given;
            used[handover.giver] = Resources::ZERO;
        }
        for (at, used) in used.iter().enumerate() {
            let gave = handovers.iter().any(|handover| handover.giver == at);
            let took = handovers.iter().any(|handover| handover.receiver == at);
            prop_assert!(!(gave && took));
            prop_assert!(Resource::ALL.iter().all(|resource| used.get(*resource) <= limit.get(*resource)));
        }
        let all = |usage: &[Resources]| usage.iter().fold(Resources::ZERO, |sum, one| sum + *one);
        prop_assert_eq!(all(&used), all(&usage));
    }
}
