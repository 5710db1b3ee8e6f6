#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resources, SLOT_MS};

use super::*;
use crate::workload::{ApplicationSpec, Errors, MasterSpec};

/// The masters of a queue have at most a tenth of this.
const BOOKABLE_BYTES: u64 = 100;

/// Applications of these names, queues and submissions; each name's master has so much memory.
fn masters(applications: &[(&str, usize, i64)], memory_bytes: &[(&str, u64)]) -> Masters {
    let actual = Demand::series(SLOT_MS, &[Resources::ZERO]).unwrap();
    let spec = |(name, queue, submitted_ms): &(&str, usize, i64)| ApplicationSpec {
        name: (*name).to_owned(),
        queue: *queue,
        submitted_ms: *submitted_ms,
        deadline_ms: None,
        executors: 1,
        request: Request::default(),
        predicted: None,
        actual: actual.clone(),
        lengths: None,
        errors: Errors::default(),
    };
    let queue = |path| QueueSpec { maximum: 0.5, masters: 0.2, ..QueueSpec::new(path, 0.5) };
    let master = |(name, memory_bytes): &(&str, u64)| MasterSpec {
        name: (*name).to_owned(),
        memory_bytes: *memory_bytes,
    };
    Masters::new(&Workload {
        name: String::new(),
        machines: Vec::new(),
        heartbeat_ms: 1_000,
        queues: vec![queue("root.a"), queue("root.b")],
        applications: applications.iter().map(spec).collect(),
        masters: memory_bytes.iter().map(master).collect(),
    })
}

fn released(application: usize, at_ms: i64) -> Vec<Released> {
    vec![Released { application, at_ms }]
}

#[test]
fn a_master_waits_until_its_queue_has_room() {
    let applications = [("one", 0, 0), ("two", 0, 5), ("other", 1, 6), ("none", 0, 7)];
    let mut masters = masters(&applications, &[("one", 6), ("two", 5), ("other", 10)]);
    assert_eq!(masters.submitted(0, 0, BOOKABLE_BYTES), released(0, 0));
    assert_eq!(masters.submitted(1, 5, BOOKABLE_BYTES), []);
    assert_eq!(masters.submitted(2, 6, BOOKABLE_BYTES), released(2, 6), "of another queue");
    assert_eq!(masters.submitted(3, 7, BOOKABLE_BYTES), released(3, 7), "without a master");
    assert_eq!(masters.ended(3, 8, BOOKABLE_BYTES), []);
    assert_eq!(masters.start(9, BOOKABLE_BYTES), []);
    assert_eq!(masters.start(9, 2 * BOOKABLE_BYTES), released(1, 9), "nodes were raised");
}

#[test]
fn one_that_ends_lets_the_next_start_and_a_smaller_one_may_pass() {
    let applications = [("one", 0, 0), ("large", 0, 1), ("small", 0, 2)];
    let mut masters = masters(&applications, &[("one", 6), ("large", 5), ("small", 4)]);
    assert_eq!(masters.submitted(0, 0, BOOKABLE_BYTES), released(0, 0));
    assert_eq!(masters.submitted(1, 1, BOOKABLE_BYTES), []);
    assert_eq!(masters.submitted(2, 2, BOOKABLE_BYTES), released(2, 2));
    assert_eq!(masters.ended(0, 30, BOOKABLE_BYTES), released(1, 30));
}

#[test]
fn one_starts_in_any_case() {
    let mut masters = masters(&[("one", 0, 0)], &[("one", 60)]);
    assert_eq!(masters.submitted(0, 0, BOOKABLE_BYTES), released(0, 0));
}

#[test]
fn all_of_one_name_have_one_master_and_come_as_late_as_it_does() {
    let applications = [("one", 0, 0), ("two", 0, 10), ("two", 0, 25), ("two", 0, 90)];
    let mut masters = masters(&applications, &[("one", 10), ("two", 10)]);
    assert_eq!(masters.submitted(0, 0, BOOKABLE_BYTES), released(0, 0));
    assert_eq!(masters.submitted(1, 10, BOOKABLE_BYTES), []);
    assert_eq!(masters.submitted(2, 25, BOOKABLE_BYTES), []);
    let both = [Released { application: 1, at_ms: 50 }, Released { application: 2, at_ms: 65 }];
    assert_eq!(masters.ended(0, 50, BOOKABLE_BYTES), both);
    assert_eq!(masters.submitted(3, 90, BOOKABLE_BYTES), released(3, 130));
    assert_eq!(masters.ended(1, 140, BOOKABLE_BYTES), []);
    assert_eq!(masters.used_bytes[0], 10, "its master runs on");
    assert_eq!(masters.ended(2, 140, BOOKABLE_BYTES), []);
    assert_eq!(masters.ended(3, 140, BOOKABLE_BYTES), []);
    assert_eq!(masters.used_bytes[0], 0);
}
