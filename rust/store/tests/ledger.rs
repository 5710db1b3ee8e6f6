//! The ledger of what applications booked and used.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSums, NodesHour};
use elastane_store::{Depository, Retention};

fn entry(id: &str, hour: i64, booked_byte_s: f64) -> LedgerEntry {
    LedgerEntry {
        application_id: id.to_owned(),
        hour_ms: hour * HOUR_MS,
        application_key: "key".to_owned(),
        application_name: "name".to_owned(),
        user: "user".to_owned(),
        queue: "root.a".to_owned(),
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
        depository.add_to_ledger(applications.iter(), [nodes(1), nodes(2)].iter()).unwrap();
    }

    let all = depository.ledger(0).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].application_id.as_str(), all[0].hour_ms), ("a", HOUR_MS));
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
    depository.add_to_ledger(applications.iter(), [nodes(1), nodes(9)].iter()).unwrap();
    let retention = Retention { keep_ms: 5 * HOUR_MS, most_bytes: u64::MAX, profile_runs: 3 };

    common::prune(&mut depository, &retention, 10 * HOUR_MS).unwrap();

    assert_eq!(depository.ledger(0).unwrap()[0].hour_ms, 9 * HOUR_MS);
    assert_eq!(depository.nodes_since(0).unwrap().unwrap().hour_ms, 9 * HOUR_MS);
}
