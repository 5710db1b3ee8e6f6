#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;

use elastane_protocol::{ContainerSamples, Sample, Usage};
use proptest::prelude::*;

use super::*;

fn samples(containers: &HashSet<u8>, cpu_cores: f32) -> Vec<ContainerSamples> {
    let usage = Usage { cpu_cores, memory_bytes: 1 << 20, ..Usage::default() };
    let samples = vec![Sample { sequence: 1, age_ms: 0, length_ms: 1000, usage }];
    let of = |number: &u8| ContainerSamples {
        container: format!("container_{number}"),
        limits: None,
        stages: None,
        samples: samples.clone(),
    };
    containers.iter().map(of).collect()
}

#[test]
fn a_container_takes_16_bytes_for_each_step() {
    let mut history = UseHistory::default();
    for step in 0..200 {
        let containers = samples(&HashSet::from([1, 2]), 1.0);
        history.arrived(&containers, step * STEP_MS, |id| Some((id.into(), Resources::ZERO)));
    }
    assert_eq!(size_of::<PackedUse>(), 16);
    assert_eq!(history.columns.len(), 2);
    assert!(history.columns.iter().all(|it| it.steps.capacity() <= MOST_STEPS));
}

#[test]
fn columns_of_containers_that_ended_are_freed() {
    let mut history = UseHistory::default();
    for step in 0..100 {
        let numbers = if step < 10 { (0..200).collect() } else { HashSet::from([1]) };
        let containers = samples(&numbers, 1.0);
        history.arrived(&containers, step * STEP_MS, |id| Some((id.into(), Resources::ZERO)));
        assert!(history.columns.is_sorted_by(|a, b| a.name < b.name));
        assert!(history.columns.len() >= history.columns.capacity() / 2);
    }
    assert_eq!(history.columns.len(), 1);
}

#[test]
fn of_two_samples_of_a_container_the_first_counts() {
    let mut history = UseHistory::default();
    for step in 0..2 {
        let mut containers = samples(&HashSet::from([1]), 1.0);
        containers.extend(samples(&HashSet::from([1]), 2.0));
        history.arrived(&containers, step * STEP_MS, |id| Some((id.into(), Resources::ZERO)));
    }
    let (_, columns) = history.columns();
    let cores: Vec<_> =
        columns["container_1"].iter().map(|it| it.unwrap().used.cpu_cores).collect();
    assert_eq!(cores, [1.0; 2]);
}

proptest! {
    /// The reference keeps every report, and looks the last ones up.
    #[test]
    fn each_step_has_what_its_report_had(
        reports in prop::collection::vec(
            (1_000..40_000_i64, prop::collection::hash_set(0..5_u8, 0..4)),
            0..150,
        ),
    ) {
        let mut history = UseHistory::default();
        let mut kept: Vec<(i64, f32, HashSet<u8>)> = Vec::new();
        let mut now_ms = 0;
        for (number, (after_ms, containers)) in reports.into_iter().enumerate() {
            now_ms += after_ms;
            history.arrived(&samples(&containers, number as f32), now_ms, |id| Some((id.into(), Resources::ZERO)));
            if kept.last().is_none_or(|(last_ms, ..)| now_ms - last_ms >= STEP_MS) {
                kept.push((now_ms, number as f32, containers));
            }
        }
        let kept = &kept[kept.len().saturating_sub(MOST_STEPS)..];

        let times_ms: Vec<_> = kept.iter().map(|(at_ms, ..)| *at_ms).collect();
        let (found_ms, columns) = history.columns();
        prop_assert_eq!(found_ms, times_ms);
        let mut expected = Vec::new();
        for number in 0..5_u8 {
            let of = |(_, cpu_cores, containers): &(i64, f32, HashSet<u8>)| {
                containers.contains(&number).then_some(*cpu_cores)
            };
            let steps: Vec<_> = kept.iter().map(of).collect();
            if steps.iter().any(Option::is_some) {
                expected.push((format!("container_{number}"), steps));
            }
        }
        let cores = |steps: Vec<Option<Use>>| {
            steps.into_iter().map(|step| step.map(|it| it.used.cpu_cores as f32)).collect::<Vec<_>>()
        };
        let found: Vec<_> = columns.into_iter().map(|(id, steps)| (id, cores(steps))).collect();
        prop_assert_eq!(found, expected);
    }
}
