//! What applications booked and used is in the depository's ledger.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{GB, NODE, START_MS, commit, open, open_with, register, reply, submission};
use elastane_core::cluster::Request;
use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSums};
use elastane_store::{Access, Depository};

const APPLICATION: &str = "application_1_0090";

fn ledger(folder: &Path) -> Vec<LedgerEntry> {
    let path = folder.join("depository.sqlite");
    Depository::open_existing(&path, Access::Read).unwrap().ledger(0).unwrap()
}

fn is_near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn booked_is_the_request_for_as_long_as_a_container_ran_and_used_is_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let prices = [("price.core-hour", "36"), ("price.gb-hour", "3.6")];
    let elastane = open_with(folder.path(), "observe", &prices);
    let node = register(&elastane);
    reply(&elastane, 0, START_MS, &[]);
    let application = elastane.application_added(&submission(APPLICATION), START_MS);
    // The helper's container asks for 3 GB and 1 virtual core.
    assert!(commit(&elastane, "container_1", application, node, START_MS));
    elastane.bookable_changes(9, START_MS);
    // Samples are 3 s long.
    reply(&elastane, 1, START_MS + 3_000, &[("container_1", GB)]);
    reply(&elastane, 2, START_MS + 6_000, &[("container_1", 2 * GB)]);
    elastane.bookable_changes(9, START_MS + 60_000);
    elastane.finished("container_1", START_MS + 100_000);
    elastane.application_removed(application, true, START_MS + 110_000);
    elastane.bookable_changes(9, START_MS + 120_000);
    elastane.close();

    let [entry] = ledger(folder.path()).try_into().unwrap();

    assert_eq!(entry.subject.application_id, APPLICATION);
    assert_eq!(
        (entry.subject.user.as_str(), entry.subject.queue.as_str()),
        ("alice", "root.default")
    );
    let LedgerSums { containers, largest_request_bytes, largest_use_bytes, .. } = entry.sums;
    assert_eq!((containers, largest_request_bytes, largest_use_bytes), (1, 3 * GB, 2 * GB));
    is_near(entry.sums.booked_vcore_s, 100.0);
    is_near(entry.sums.booked_byte_s, 100.0 * 3.0 * GB as f64);
    is_near(entry.sums.measured_byte_s, 6.0 * 3.0 * GB as f64);
    is_near(entry.sums.used_byte_s, 3.0 * (1 + 2) as f64 * GB as f64);
    is_near(entry.sums.core_cost, 1.0);
    is_near(entry.sums.memory_cost, 0.3);
}

/// Half a minute before the end of an hour.
const LATE_MS: i64 = 500 * HOUR_MS - 30_000;

fn opened(folder: &Path) -> (elastane_runtime::Elastane, elastane_core::cluster::NodeId) {
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    reply(&elastane, 0, LATE_MS, &[]);
    elastane.bookable_changes(9, LATE_MS);
    (elastane, node)
}

#[test]
fn each_hour_has_its_part_and_a_container_that_runs_on_its_request() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, node) = opened(folder.path());
    let application = elastane.application_added(&submission(APPLICATION), LATE_MS);
    assert!(commit(&elastane, "container_1", application, node, LATE_MS));
    for minute in 1..=3 {
        let at_ms = LATE_MS + minute * 60_000;
        reply(&elastane, u64::try_from(minute).unwrap(), at_ms - 1_000, &[("container_1", GB)]);
        elastane.bookable_changes(9, at_ms);
    }
    // A late sample, of a container that has ended.
    elastane.finished("container_1", LATE_MS + 190_000);
    elastane.application_removed(application, true, LATE_MS + 190_000);
    reply(&elastane, 4, LATE_MS + 192_000, &[("container_1", 2 * GB)]);
    elastane.bookable_changes(9, LATE_MS + 240_000);
    elastane.close();

    let path = folder.path().join("depository.sqlite");
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    let [all] = depository.ledger(0).unwrap().try_into().unwrap();
    is_near(all.sums.booked_vcore_s, 190.0);
    is_near(all.sums.measured_vcore_s, 12.0);
    assert_eq!((all.sums.containers, all.hour_ms), (1, 500 * HOUR_MS), "counted by then");
    assert_eq!((all.sums.largest_request_bytes, all.sums.largest_use_bytes), (3 * GB, 2 * GB));
}

#[test]
fn an_hour_that_began_later_knows_the_request_of_what_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, node) = opened(folder.path());
    let application = elastane.application_added(&submission(APPLICATION), LATE_MS);
    assert!(commit(&elastane, "container_1", application, node, LATE_MS));
    elastane.bookable_changes(9, LATE_MS + 60_000);
    let later_ms = LATE_MS + HOUR_MS + 60_000;
    reply(&elastane, 1, later_ms - 1_000, &[("container_1", GB)]);
    elastane.bookable_changes(9, later_ms);
    elastane.close();

    let path = folder.path().join("depository.sqlite");
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    let [second] = depository.ledger(501 * HOUR_MS).unwrap().try_into().unwrap();
    assert_eq!((second.sums.containers, second.sums.largest_request_bytes), (0, 3 * GB));
    is_near(second.sums.booked_vcore_s, 3_600.0);
}

#[test]
fn each_queue_pays_its_part_of_an_application_that_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, node) = opened(folder.path());
    let application = elastane.application_added(&submission(APPLICATION), LATE_MS);
    assert!(commit(&elastane, "container_1", application, node, LATE_MS));
    elastane.bookable_changes(9, LATE_MS + 60_000);
    elastane.application_moved(application, "root.other");
    elastane.bookable_changes(9, LATE_MS + 120_000);
    elastane.finished("container_1", LATE_MS + 180_000);
    elastane.close();

    let booked: Vec<_> = ledger(folder.path())
        .into_iter()
        .map(|entry| (entry.subject.queue.clone(), entry.sums.booked_vcore_s.round()))
        .collect();
    assert_eq!(booked, [("root.default".to_owned(), 60.0), ("root.other".to_owned(), 120.0)]);
}

#[test]
fn containers_go_with_their_node() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, node) = opened(folder.path());
    let application = elastane.application_added(&submission(APPLICATION), LATE_MS);
    assert!(commit(&elastane, "container_1", application, node, LATE_MS));
    elastane.bookable_changes(9, LATE_MS + 60_000);
    elastane.node_removed(node);
    // CapacityScheduler takes back what was on it.
    elastane.finished("container_1", LATE_MS + 60_000);
    elastane.bookable_changes(9, LATE_MS + 120_000);
    let node = register(&elastane);
    assert!(commit(&elastane, "container_2", application, node, LATE_MS + 120_000));
    elastane.bookable_changes(9, LATE_MS + 180_000);
    elastane.bookable_changes(9, LATE_MS + 240_000);
    elastane.close();

    let [entry] = ledger(folder.path()).try_into().unwrap();
    // The minute in which the node went counts whole.
    is_near(entry.sums.booked_vcore_s, 60.0 + 60.0 + 120.0);
}

#[test]
fn what_an_earlier_process_counted_is_not_counted_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path(), "observe");
    let node = register(&first);
    reply(&first, 0, START_MS, &[]);
    let application = first.application_added(&submission(APPLICATION), START_MS);
    assert!(commit(&first, "container_1", application, node, START_MS));
    // The end of the process is when something last happened.
    reply(&first, 1, START_MS + 30_000, &[("container_1", GB)]);
    first.close();

    let second = open(folder.path(), "observe");
    let node = second.node_added(NODE, Request { memory_bytes: 8 * GB, vcores: 8 });
    let application = second.application_added(&submission(APPLICATION), START_MS + 40_000);
    let recovered = elastane_core::cluster::CommitRequest {
        container: "container_1",
        application,
        node,
        kind: elastane_predict::ContainerKind::DEFAULT_EXECUTOR,
        request: common::request(3),
        may_refuse: false,
        start_ms: START_MS,
    };
    assert!(second.commit(recovered, START_MS + 40_000));
    second.finished("container_1", START_MS + 70_000);
    second.application_removed(application, true, START_MS + 70_000);
    second.bookable_changes(9, START_MS + 70_000);
    second.bookable_changes(9, START_MS + 130_000);
    second.close();

    let [entry] = ledger(folder.path()).try_into().unwrap();

    assert_eq!(entry.sums.containers, 1);
    is_near(entry.sums.booked_vcore_s, 30.0 + 30.0);
}

#[test]
fn what_is_booked_above_a_node_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission(APPLICATION), START_MS);
    elastane.bookable_changes(9, START_MS);
    // 9 of 8 GB: CapacityScheduler has the last word.
    for container in ["container_1", "container_2", "container_3"] {
        assert!(commit(&elastane, container, application, node, START_MS));
    }
    elastane.bookable_changes(9, START_MS + 60_000);
    elastane.close();

    let path = folder.path().join("depository.sqlite");
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    let nodes = depository.nodes_since(0).unwrap().unwrap();

    is_near(nodes.node_s, 60.0);
    is_near(nodes.physical_byte_s, 60.0 * 8.0 * GB as f64);
    is_near(nodes.booked_byte_s, 60.0 * 9.0 * GB as f64);
    is_near(nodes.above_byte_s, 60.0 * GB as f64);
    is_near(nodes.above_vcore_s, 0.0);
}
