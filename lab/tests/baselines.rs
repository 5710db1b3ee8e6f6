//! The baselines against a plain reference. Placement by peaks and packing never exceed the capacity.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../rust/core/tests/properties/against_reference.rs"]
mod against_reference;
#[path = "../../rust/core/tests/reference/mod.rs"]
mod reference;

use elastane_core::policy::{Policy, PolicyOptions, names};
use elastane_core::{Resource, Resources, Running};
use elastane_lab::baselines;
use elastane_lab::ispark::packing::pack;
use proptest::prelude::*;

use reference::policies::{ROUNDING, peak, requests_fit, seconds_since};
use reference::{Asked, END_MS, Scene, amounts, fill, scene, slots, used};

fn policies() -> Vec<Box<dyn Policy>> {
    let all = baselines::policies();
    let mut baselines = all.names();
    baselines.retain(|name| !names().contains(name));
    assert_eq!(baselines.len(), 10);
    let baselines = baselines.into_iter();
    baselines.map(|name| all.named(name, PolicyOptions::default()).unwrap().policy).collect()
}

fn fits(policy: &str, scene: &Scene, asked: &Asked) -> bool {
    match policy {
        "tetris" => peaks_fit(scene, asked),
        "watermark" => requests_fit(scene, asked, |resource| watermark(scene, resource)),
        "oversubscribe-1.5" => requests_fit(scene, asked, |_| 1.5),
        "oversubscribe" => requests_fit(scene, asked, |_| 2.0),
        "oversubscribe-2.5" => requests_fit(scene, asked, |_| 2.5),
        "oversubscribe-3" => requests_fit(scene, asked, |_| 3.0),
        _ => requests_fit(scene, asked, |_| 1.0),
    }
}

fn score(policy: &str, scene: &Scene, asked: &Asked) -> f64 {
    match policy {
        "tetris" => Resource::ALL
            .into_iter()
            .filter(|resource| scene.has(*resource))
            .map(|resource| {
                let capacity = scene.capacity.get(resource);
                let left = capacity - peaks_of_running(scene, resource);
                left / capacity * (peak(&asked.demand, resource) / capacity)
            })
            .sum(),
        "drf" => asked.waiting.dominant_share,
        "static" | "dynamic" => seconds_since(asked.waiting.queued_ms),
        "capacity" | "watermark" => seconds_since(asked.waiting.submitted_ms),
        factor if factor.starts_with("oversubscribe") => seconds_since(asked.waiting.submitted_ms),
        unknown => panic!("{unknown} has no reference"),
    }
}

fn highest_wins(policy: &str) -> bool {
    policy != "drf"
}

/// The factor of booked capacity: 1.5 below a utilization of 0.6, 1 above 0.8, linear between.
fn watermark(scene: &Scene, resource: Resource) -> f64 {
    let capacity = scene.capacity.get(resource);
    let used_now: f64 = scene.running.iter().map(|one| used(one, 0).get(resource)).sum();
    let below_high = (0.8 - used_now / capacity) / 0.2;
    1.0 + 0.5 * below_high.clamp(0.0, 1.0)
}

fn peaks_of_running(scene: &Scene, resource: Resource) -> f64 {
    let peak_of = |one: &Running| match resource {
        Resource::Memory => peak(&one.demand, resource).max(one.measured_memory_bytes),
        _ => peak(&one.demand, resource),
    };
    scene.running.iter().map(peak_of).sum()
}

fn peaks_fit(scene: &Scene, asked: &Asked) -> bool {
    Resource::ALL.into_iter().all(|resource| {
        let peaks = peaks_of_running(scene, resource) + peak(&asked.needed, resource);
        !scene.has(resource) || peaks <= scene.capacity.get(resource) + ROUNDING
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_node_filled_by_peaks_never_exceeds_its_capacity(scene in scene()) {
        let mut filled = scene.clone();
        filled.running.clear();
        fill(&mut filled, &baselines::Tetris);
        for offset_ms in slots(END_MS) {
            for resource in Resource::ALL {
                let left = filled.left(offset_ms).get(resource);
                prop_assert!(left >= -1e-9 || !filled.has(resource));
            }
        }
    }

    #[test]
    fn packed_executors_stay_within_the_limit(
        usage in prop::collection::vec(amounts(), 0..8), limit in 14_u8..40,
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
