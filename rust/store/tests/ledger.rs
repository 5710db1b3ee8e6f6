//! The ledger of what applications booked and used.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;

use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSubject, LedgerSums, NodesHour};
use elastane_store::{Depository, Retention};

fn entry(id: &str, hour: i64, booked_byte_s: f64) -> LedgerEntry {
    in_queue(id, "root.a", hour, booked_byte_s)
}

fn in_queue(id: &str, queue: &str, hour: i64, booked_byte_s: f64) -> LedgerEntry {
    LedgerEntry {
        subject: Arc::new(LedgerSubject {
            application_id: id.to_owned(),
            queue: queue.to_owned(),
            application_key: "key".to_owned(),
            application_name: "name".to_owned(),
            user: "user".to_owned(),
        }),
        hour_ms: hour * HOUR_MS,
        sums: LedgerSums {
            containers: 1,
            booked_byte_s,
            used_core_s: 0.5,
            largest_use_bytes: booked_byte_s as u64,
            ..LedgerSums::default()
        },
    }
}

fn nodes(hour: i64) -> NodesHour {
    NodesHour { hour_ms: hour * HOUR_MS, node_s: 60.0, ..NodesHour::default() }
}

#[test]
fn what_is_added_to_an_hour_is_summed_and_the_largest_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    for booked in [5.0, 3.0] {
        let applications = [entry("a", 1, booked), entry("a", 2, booked), entry("b", 2, booked)];
        depository
            .add_to_ledger(applications.into_iter(), [nodes(1), nodes(2)].into_iter())
            .unwrap();
    }

    let all = depository.ledger(0).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].subject.application_id.as_str(), all[0].hour_ms), ("a", HOUR_MS));
    assert_eq!((all[0].sums.containers, all[0].sums.booked_byte_s), (4, 16.0));
    assert_eq!((all[0].sums.used_core_s, all[0].sums.largest_use_bytes), (2.0, 5));
    assert_eq!(all[1].sums.booked_byte_s, 8.0);
    assert_eq!(depository.nodes_since(0).unwrap().unwrap().node_s, 240.0);

    // The first hour ended before that.
    let later = depository.ledger(2 * HOUR_MS).unwrap();
    assert_eq!(later[0].sums.booked_byte_s, 8.0);
    assert_eq!(depository.nodes_since(2 * HOUR_MS).unwrap().unwrap().node_s, 120.0);
    assert_eq!(depository.ledger(3 * HOUR_MS).unwrap(), []);
    assert_eq!(depository.nodes_since(3 * HOUR_MS).unwrap(), None);
}

#[test]
fn old_hours_are_removed_with_old_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    let applications = [entry("a", 1, 1.0), entry("a", 9, 1.0)];
    depository.add_to_ledger(applications.into_iter(), [nodes(1), nodes(9)].into_iter()).unwrap();
    let retention = Retention { keep_ms: 5 * HOUR_MS, most_bytes: u64::MAX, profile_runs: 3 };

    common::prune(&mut depository, &retention, 10 * HOUR_MS).unwrap();

    assert_eq!(depository.ledger(0).unwrap()[0].hour_ms, 9 * HOUR_MS);
    assert_eq!(depository.nodes_since(0).unwrap().unwrap().hour_ms, 9 * HOUR_MS);
}

#[test]
fn each_queue_has_its_part_of_an_application() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    let entries = [in_queue("a", "root.dev", 1, 5.0), in_queue("a", "root.prod", 1, 3.0)];
    depository.add_to_ledger(entries.into_iter(), [].into_iter()).unwrap();
    let all = depository.ledger(0).unwrap();
    let of = |entry: &LedgerEntry| (entry.subject.queue.clone(), entry.sums.booked_byte_s);
    let expected = [("root.dev".to_owned(), 5.0), ("root.prod".to_owned(), 3.0)];
    assert_eq!(all.iter().map(of).collect::<Vec<_>>(), expected);
    depository.forget("key").unwrap();
    assert_eq!(depository.ledger(0).unwrap(), []);
}

/// Without it, runs would go in its place.
#[test]
fn the_ledger_takes_no_more_than_a_quarter_of_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    depository.save(&common::run("key", 1)).unwrap();
    let all =
        (0..20_000_i64).map(|number| entry(&format!("application_{number}"), number / 10, 1.0));
    depository.add_to_ledger(all, [].into_iter()).unwrap();
    let most_bytes = 2_000_000;
    let retention = Retention { keep_ms: i64::MAX, most_bytes, profile_runs: 3 };

    let pruned = common::prune(&mut depository, &retention, 2_000 * HOUR_MS).unwrap();

    assert_eq!(pruned.runs(), 0);
    let left = depository.ledger(i64::MIN).unwrap();
    assert_eq!(left.iter().map(|it| it.hour_ms).max(), Some(1_999 * HOUR_MS), "the latest stay");
    let bytes = depository.used_bytes().unwrap();
    assert!((most_bytes / 8..most_bytes / 4).contains(&bytes), "{bytes} bytes");
}
