//! Small clusters and small applications.
#![allow(dead_code, reason = "each test file uses its own part")]

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resources, SLOT_MS};
use elastane_sim::simulator::{Settings, SimulatedRun, simulate};
use elastane_sim::workload::{ApplicationSpec, Errors, QueueSpec, Workload};
use proptest::prelude::*;

pub const MACHINE: Resources = Resources::from_array([4.0, 8e9, 100e6, 100e6]);

pub fn application(
    name: &str,
    submitted_ms: i64,
    executors: u32,
    slots: &[[f64; 4]],
) -> ApplicationSpec {
    let slots: Vec<_> = slots.iter().copied().map(Resources::from_array).collect();
    let actual = Demand::series(SLOT_MS, &slots).unwrap();
    ApplicationSpec {
        name: name.to_owned(),
        queue: 0,
        user: String::new(),
        submitted_ms,
        deadline_ms: None,
        executors,
        request: Request { memory_bytes: 2_000_000_000, vcores: 2 },
        predicted: Some(actual.clone()),
        actual,
        lengths: None,
        errors: Errors::default(),
    }
}

pub fn workload(machines: usize, applications: Vec<ApplicationSpec>) -> Workload {
    Workload {
        name: "test".to_owned(),
        machines: vec![MACHINE; machines],
        heartbeat_ms: 1_000,
        queues: Vec::new(),
        applications,
        masters: Vec::new(),
    }
}

pub fn run(workload: &Workload, policy: &str, settings: &Settings) -> SimulatedRun {
    simulate(workload, &crate::known_policies(), policy, settings, 1, &mut |_| {}).unwrap()
}

/// What small clusters never need.
pub const TOO_LONG_MS: i64 = 24 * 3_600_000;

pub fn settings() -> Settings {
    Settings { give_up_after_ms: TOO_LONG_MS, ..Settings::default() }
}

pub fn starving_after(starvation_wait_ms: i64) -> Settings {
    let mut settings = settings();
    settings.cluster.starvation_wait_ms = starvation_wait_ms;
    settings
}

/// A cluster of up to three machines, with up to six small applications.
pub fn any_workload() -> impl Strategy<Value = Workload> {
    let slot = (0.0..3.0, 0.1e9..3e9, 0.0..60e6, 0.0..60e6)
        .prop_map(|(cpu, memory, network, disk)| [cpu, memory, network, disk]);
    let slots = prop::collection::vec(slot, 1..8);
    let due_in_ms = prop::option::weighted(0.3, 1..120_000_i64);
    let application =
        (0..60_000_i64, 1..6_u32, 1..4_u32, slots, any::<bool>(), due_in_ms, 0..9_usize);
    let applications = prop::collection::vec(application, 1..6);
    let heartbeat_ms = prop::sample::select(vec![700, 1_000, 3_000]);
    (1..4_usize, applications, 0.0..0.4, heartbeat_ms, any_queues()).prop_map(
        |(machines, applications, error, heartbeat_ms, queues)| {
            let specs = applications.into_iter().enumerate().map(
                |(number, (submitted_ms, executors, vcores, slots, known, due_in_ms, queue))| {
                    let mut spec =
                        application_named(number, submitted_ms, executors, vcores, &slots);
                    spec.deadline_ms = due_in_ms.map(|due_in_ms| submitted_ms + due_in_ms);
                    spec.errors = Errors::uniform(error, error / 2.0);
                    spec.predicted = spec.predicted.filter(|_| known);
                    spec.queue = queue % queues.len().max(1);
                    spec
                },
            );
            let specs = specs.collect();
            Workload { heartbeat_ms, queues, ..workload(machines, specs) }
        },
    )
}

/// No queue that is known, or up to three.
fn any_queues() -> impl Strategy<Value = Vec<QueueSpec>> {
    prop::collection::vec(0.05..0.33, 0..4).prop_map(|capacities| {
        let queues = capacities.into_iter().enumerate();
        let queue = |(number, capacity)| QueueSpec::new(&format!("root.queue-{number}"), capacity);
        queues.map(queue).collect()
    })
}

fn application_named(
    number: usize,
    submitted_ms: i64,
    executors: u32,
    vcores: u32,
    slots: &[[f64; 4]],
) -> ApplicationSpec {
    let request = Request { memory_bytes: 2_000_000_000, vcores };
    ApplicationSpec { request, ..application(&number.to_string(), submitted_ms, executors, slots) }
}
