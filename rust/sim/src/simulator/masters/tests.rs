#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resources, SLOT_MS};

use super::*;
use crate::workload::{ApplicationSpec, Errors, QueueSpec};

/// What the masters of each queue may take.
const LIMIT: Request = memory(10);

const fn memory(memory_bytes: u64) -> Request {
    Request { memory_bytes, vcores: 0 }
}

fn of_queue(limit: Request) -> MastersLimits {
    MastersLimits { of_queue: Some(limit), of_user: None }
}

fn limited(_: usize) -> MastersLimits {
    of_queue(LIMIT)
}

fn master(name: &str, memory_bytes: u64) -> MasterSpec {
    MasterSpec {
        name: name.to_owned(),
        request: memory(memory_bytes),
        runs_already: false,
        lasts_ms: 7,
    }
}

/// Applications of these names, queues and submissions.
fn masters(applications: &[(&str, usize, i64)], masters: Vec<MasterSpec>) -> Masters {
    Masters::new(&workload(applications, masters))
}

pub(in crate::simulator) fn workload(
    applications: &[(&str, usize, i64)],
    masters: Vec<MasterSpec>,
) -> Workload {
    let actual = Demand::series(SLOT_MS, &[Resources::ZERO]).unwrap();
    let spec = |(name, queue, submitted_ms): &(&str, usize, i64)| ApplicationSpec {
        name: (*name).to_owned(),
        queue: *queue,
        user: String::new(),
        submitted_ms: *submitted_ms,
        deadline_ms: None,
        executors: 1,
        request: Request::default(),
        predicted: None,
        actual: actual.clone(),
        lengths: None,
        errors: Errors::default(),
    };
    Workload {
        name: String::new(),
        machines: Vec::new(),
        heartbeat_ms: 1_000,
        queues: vec![QueueSpec::new("root.a", 0.5), QueueSpec::new("root.b", 0.5)],
        applications: applications.iter().map(spec).collect(),
        masters,
    }
}

fn released(application: usize, at_ms: i64) -> Vec<Released> {
    vec![Released { application, at_ms }]
}

#[test]
fn a_master_waits_until_its_queue_has_room() {
    let applications =
        [("one", 0, 0), ("two", 0, 5), ("three", 0, 5), ("other", 1, 6), ("none", 0, 7)];
    let specs = vec![master("one", 4), master("two", 4), master("three", 4), master("other", 10)];
    let mut masters = masters(&applications, specs);
    assert_eq!(masters.submitted(0, 0, limited), Some(0));
    assert_eq!(masters.submitted(1, 5, limited), Some(5), "two of them are within the limit");
    assert_eq!(masters.submitted(2, 5, limited), None);
    assert!(masters.holds_first(2) && masters.any_waits());
    assert_eq!(masters.submitted(3, 6, limited), Some(6), "of another queue");
    assert_eq!(masters.submitted(4, 7, limited), Some(7), "without a master");
    assert_eq!(masters.ended(4), None);
    assert_eq!(masters.start(9, limited), []);
    assert_eq!(masters.start(9, |_| of_queue(memory(12))), released(2, 9), "nodes were raised");
    assert!(!masters.holds_first(2) && !masters.any_waits());
}

#[test]
fn one_that_ends_lets_the_next_start_and_a_smaller_one_may_pass() {
    let applications = [("one", 0, 0), ("large", 0, 1), ("small", 0, 2)];
    let specs = vec![master("one", 6), master("large", 5), master("small", 4)];
    let mut masters = masters(&applications, specs);
    assert_eq!(masters.submitted(0, 0, limited), Some(0));
    assert_eq!(masters.submitted(1, 1, limited), None);
    assert_eq!(masters.submitted(2, 2, limited), Some(2));
    assert_eq!(masters.ended(0), Some(7), "it lasts longer than its application's executors");
    assert_eq!(masters.start(30, limited), []);
    masters.master_ended(0);
    assert_eq!(masters.start(37, limited), released(1, 37));
}

#[test]
fn virtual_cores_count_too() {
    let applications = [("one", 0, 0), ("two", 0, 0)];
    let cores = |name, vcores| MasterSpec {
        request: Request { memory_bytes: 1, vcores },
        ..master(name, 1)
    };
    for (limit, starts) in [(4, Some(0)), (3, None)] {
        let mut masters = masters(&applications, vec![cores("one", 1), cores("two", 3)]);
        let limited = |_| of_queue(Request { vcores: limit, ..LIMIT });
        assert_eq!(masters.submitted(0, 0, limited), Some(0));
        assert_eq!(masters.submitted(1, 0, limited), starts, "{limit} virtual cores");
    }
}

#[test]
fn one_starts_in_any_case_and_without_a_limit_all_do() {
    let applications = [("one", 0, 0), ("two", 0, 0)];
    let specs = || vec![master("one", 60), master("two", 60)];
    let mut limiting = masters(&applications, specs());
    assert_eq!(limiting.submitted(0, 0, limited), Some(0));
    assert_eq!(limiting.submitted(1, 0, limited), None);
    let mut unlimited = masters(&applications, specs());
    assert_eq!(unlimited.submitted(0, 0, |_| MastersLimits::default()), Some(0));
    assert_eq!(unlimited.submitted(1, 0, |_| MastersLimits::default()), Some(0));
}

#[test]
fn what_ran_before_counts_and_does_not_wait() {
    let ran = |name| MasterSpec { runs_already: true, ..master(name, 8) };
    let applications = [("one", 0, 0), ("two", 0, 0), ("three", 0, 1)];
    let specs = vec![ran("one"), ran("two"), master("three", 1)];
    let mut masters = masters(&applications, specs);
    assert_eq!(masters.submitted(0, 0, limited), Some(0));
    assert_eq!(masters.submitted(1, 0, limited), Some(0));
    assert_eq!(masters.submitted(2, 1, limited), None);
    masters.master_ended(0);
    assert_eq!(masters.start(5, limited), released(2, 5));
}

#[test]
fn all_of_one_name_have_one_master_and_come_as_late_as_it_does() {
    let applications = [("one", 0, 0), ("two", 0, 10), ("two", 0, 25), ("two", 0, 90)];
    let mut masters = masters(&applications, vec![master("one", 10), master("two", 10)]);
    assert_eq!(masters.submitted(0, 0, limited), Some(0));
    assert_eq!(masters.submitted(1, 10, limited), None);
    assert_eq!(masters.submitted(2, 25, limited), None);
    assert!(masters.holds_first(1) && !masters.holds_first(2));
    masters.master_ended(0);
    let both = [Released { application: 1, at_ms: 50 }, Released { application: 2, at_ms: 65 }];
    assert_eq!(masters.start(50, limited), both);
    assert_eq!(masters.submitted(3, 90, limited), Some(130));
    assert_eq!((masters.ended(1), masters.ended(2)), (None, None));
    assert_eq!(masters.ended(3), Some(7));
}

#[test]
fn a_users_masters_stay_within_its_limit() {
    let applications = [("one", 0, 0), ("two", 0, 0), ("three", 0, 0)];
    let mut workload =
        workload(&applications, ["one", "two", "three"].map(|it| master(it, 4)).to_vec());
    workload.applications[2].user = "bob".to_owned();
    let mut masters = Masters::new(&workload);
    let limits = |_| MastersLimits { of_queue: Some(memory(12)), of_user: Some(memory(7)) };
    assert_eq!(masters.submitted(0, 0, limits), Some(0));
    assert_eq!(masters.submitted(1, 0, limits), None);
    assert_eq!(masters.submitted(2, 0, limits), Some(0), "of another user");
    masters.master_ended(2);
    assert_eq!(masters.start(5, limits), []);
    masters.master_ended(0);
    assert_eq!(masters.start(9, limits), released(1, 9));
}
