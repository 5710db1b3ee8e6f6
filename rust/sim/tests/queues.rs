//! Runs of workloads with queues.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/small_cluster.rs"]
mod small_cluster;

use elastane_sim::simulator::{Policies, Settings};
use elastane_sim::workload::{ApplicationSpec, QueueSpec, Workload};

use small_cluster::{application, run, workload};

fn known_policies() -> Policies {
    Policies::default()
}

/// A machine on which two requests have room, and queues with these capacities.
fn with_queues(capacities: &[f64], applications: &[ApplicationSpec]) -> Workload {
    let queues = capacities.iter().enumerate();
    let queues =
        queues.map(|(number, capacity)| QueueSpec::new(&format!("root.queue-{number}"), *capacity));
    Workload { queues: queues.collect(), ..workload(1, applications.to_vec()) }
}

fn without_queues(applications: &[ApplicationSpec]) -> Workload {
    let in_one = applications.iter().map(|one| ApplicationSpec { queue: 0, ..one.clone() });
    workload(1, in_one.collect())
}

#[test]
fn a_queue_that_uses_less_of_its_capacity_is_asked_first() {
    // With the margin, two have room.
    let needs = [0.5, 3.3e9, 0.0, 0.0];
    let first = application("first", 0, 6, &[needs; 10]);
    let later = application("later", 5_000, 6, &[needs; 10]);
    let applications = [first, ApplicationSpec { queue: 1, ..later }];
    let started_s = |workload: &Workload| {
        run(workload, "elastane", &Settings::default()).applications[1].started_s
    };
    let as_the_first_ends_s = 28.0..40.0;
    let started = started_s(&with_queues(&[0.5, 0.5], &applications));
    assert!(as_the_first_ends_s.contains(&started), "{started} s");
    let started = started_s(&without_queues(&applications));
    assert!(started > 60.0, "the first one has less left: {started} s");
}

#[test]
fn bookable_capacity_follows_demand_in_steps() {
    let small = application("small", 0, 8, &[[0.5, 0.5e9, 0.0, 0.0]; 40]);
    let makespan_s =
        |workload: &Workload| run(workload, "elastane", &Settings::default()).makespan_s;
    // One container a heartbeat.
    let at_once_s = makespan_s(&without_queues(std::slice::from_ref(&small)));
    assert!((125.0..135.0).contains(&at_once_s), "{at_once_s}");
    // Half a request every three seconds.
    let in_steps_s = makespan_s(&with_queues(&[1.0], std::slice::from_ref(&small)));
    assert!((140.0..180.0).contains(&in_steps_s), "{in_steps_s}");
    // The other queue's guarantee is held back.
    let half_s = makespan_s(&with_queues(&[0.5, 0.5], &[small]));
    assert!(half_s > 240.0, "{half_s}");
}
