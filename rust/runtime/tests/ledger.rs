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

    assert_eq!(entry.application_id, APPLICATION);
    assert_eq!((entry.user.as_str(), entry.queue.as_str()), ("alice", "root.default"));
    assert_eq!(entry.hour_ms % HOUR_MS, 0);
    let LedgerSums { containers, largest_request_bytes, largest_use_bytes, .. } = entry.sums;
    assert_eq!((containers, largest_request_bytes, largest_use_bytes), (1, 3 * GB, 2 * GB));
    is_near(entry.sums.booked_vcore_s, 100.0);
    is_near(entry.sums.booked_byte_s, 100.0 * 3.0 * GB as f64);
    is_near(entry.sums.measured_byte_s, 6.0 * 3.0 * GB as f64);
    is_near(entry.sums.used_byte_s, 3.0 * (1 + 2) as f64 * GB as f64);
    is_near(entry.sums.core_cost, 1.0);
    is_near(entry.sums.memory_cost, 0.3);
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
