//! `elastane report`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSubject, LedgerSums, NodesHour};
use elastane_store::{Access, Depository};
use serde_json::Value;
use tempfile::TempDir;

const GB: f64 = (1_u64 << 30) as f64;

fn entry(number: i64, name: &str, user: &str, hours_ago: i64, cost: f64) -> LedgerEntry {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let hour_ms = i64::try_from(now).unwrap() / HOUR_MS * HOUR_MS - hours_ago * HOUR_MS;
    LedgerEntry {
        subject: Arc::new(LedgerSubject {
            application_id: format!("application_1_{number:04}"),
            queue: "root.a".to_owned(),
            application_key: format!("app|{user}|{name}"),
            application_name: name.to_owned(),
            user: user.to_owned(),
        }),
        hour_ms,
        sums: LedgerSums {
            containers: 10,
            booked_vcore_s: 36_000.0,
            booked_byte_s: 144_000.0 * GB,
            measured_vcore_s: 36_000.0,
            measured_byte_s: 144_000.0 * GB,
            used_core_s: 9_000.0,
            used_byte_s: 36_000.0 * GB,
            core_cost: cost,
            memory_cost: cost,
            largest_request_bytes: 4 * GB as u64,
            largest_use_bytes: GB as u64,
        },
    }
}

/// Two runs of one application this hour, and one of another user ten days ago.
fn depository(cost: f64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let entries = [
        entry(1, "nightly <b>1</b>", "ann", 0, cost),
        entry(2, "nightly <b>1</b>", "ann", 0, cost),
        entry(3, "old", "bob", 240, cost),
    ];
    let nodes = NodesHour {
        hour_ms: entries[0].hour_ms,
        node_s: 36_000.0,
        physical_vcore_s: 0.0,
        physical_byte_s: 36_000.0 * 64.0 * GB,
        booked_byte_s: 36_000.0 * 80.0 * GB,
        above_vcore_s: 0.0,
        above_byte_s: 36_000.0 * 16.0 * GB,
    };
    let mut depository = Depository::open(&path).unwrap().depository;
    depository.add_to_ledger(entries.into_iter(), [nodes].into_iter()).unwrap();
    (folder, path)
}

fn report(path: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_elastane"))
        .args(["report", "--depository"])
        .arg(path)
        .args(arguments)
        .output()
        .unwrap()
}

fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_table_has_the_waste_of_the_period_and_who_could_ask_for_less() {
    let (_folder, path) = depository(0.0);
    let table = printed(report(&path, &[]));
    assert!(table.contains("2 runs with 20 containers booked 20.00 core-hours"), "{table}");
    let row = table.lines().find(|line| line.starts_with("nightly")).unwrap();
    for cell in [" 2 ", "20.00", "5.00", "15.00", "80.00", "20.00", "60.00", "1.25 of 4.00 GB"] {
        assert!(row.contains(cell), "{cell} in {row}");
    }
    assert!(!table.contains("old") && !table.contains("cost"), "{table}");
    assert!(table.contains("as much as 2.50 node-hours more (25.0 %)"), "{table}");
    let who = "1 application could ask for less memory and save 55.00 GB-hours. Users: ann (55.00 GB-hours). \
               Queues: root.a (55.00 GB-hours).";
    assert!(table.contains(who), "{table}");
    let by_user = printed(report(&path, &["--since", "2w", "--by", "user"]));
    for (user, application) in [("ann", "nightly"), ("bob", "old")] {
        let row = by_user.lines().find(|line| line.starts_with(user)).unwrap();
        assert!(row.contains(application), "{row}");
    }
    assert!(by_user.lines().any(|line| line.starts_with("ann") && line.contains(" 55.00 ")));
}

#[test]
fn with_prices_there_is_money() {
    let (_folder, path) = depository(4.0);
    let table = printed(report(&path, &[]));
    assert!(table.contains("it cost 16.00, of which 12.00 is waste"), "{table}");
    assert!(table.contains("Users: ann (55.00 GB-hours, cost 5.50)."), "{table}");
    // 160 GB-hours above the nodes, at 0.10 each.
    assert!(table.contains("(25.0 %), worth 16.00 at the mean prices"), "{table}");
}

#[test]
fn programs_get_json_and_spreadsheets_csv() {
    let (_folder, path) = depository(4.0);
    let all: Value = serde_json::from_str(&printed(report(&path, &["--json"]))).unwrap();
    assert_eq!(all["rows"][0]["wasted_gb_hours"], 60.0);
    assert_eq!(all["rows"][0]["could_ask_bytes"], 1_342_177_280_u64);
    assert_eq!(all["total"]["runs"], 2);
    assert_eq!(all["nodes"]["saved_node_hours"], 2.5);
    let csv = printed(report(&path, &["--csv", "--by", "run"]));
    let mut lines = csv.lines();
    assert!(
        lines.next().unwrap().starts_with("of,name,runs,containers,booked_core_hours,"),
        "{csv}"
    );
    assert!(lines.next().unwrap().starts_with("application_1_000"), "{csv}");
    assert_eq!(csv.lines().count(), 3);
    assert_eq!(all["could_ask_less"]["queues"][0]["of"], "root.a");
    assert_eq!(all["could_ask_less"]["users"][0]["could_save_gb_hours"], 55.0);
    let by_user = columns(&printed(report(&path, &["--csv", "--by", "user"])));
    let amounts = ["could_ask_applications", "could_save_gb_hours", "could_save_cost"];
    assert_eq!(amounts.map(|name| by_user[name].as_str()), ["1", "55.0", "5.5"]);
    let saved = columns(&printed(report(&path, &["--csv=saved"])));
    let amounts = ["above_gb_hours", "above_core_hours", "saved_node_hours", "saved_cost"];
    assert_eq!(amounts.map(|name| saved[name].as_str()), ["160.0", "0.0", "2.5", "16.0"]);
}

/// The first record, by the names of columns.
fn columns(csv: &str) -> HashMap<String, String> {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned));
    let (names, values): (Vec<_>, Vec<_>) =
        (lines.next().unwrap().collect(), lines.next().unwrap().collect());
    assert_eq!(names.len(), values.len(), "{csv}");
    names.into_iter().zip(values).collect()
}

#[test]
fn the_page_has_the_same_with_names_escaped() {
    let (folder, path) = depository(4.0);
    let file = folder.path().join("report.html");
    let said = printed(report(&path, &["--html", file.to_str().unwrap()]));
    assert!(said.contains("report.html: written"), "{said}");
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page.contains("nightly &lt;b&gt;1&lt;/b&gt;") && !page.contains("<b>1"), "{page}");
    assert!(page.contains("1.25 of 4.00 GB") && page.contains("25.0 %"), "{page}");
    assert!(page.contains("Users: ann (55.00 GB-hours, cost 5.50)"), "{page}");
    assert!(page.contains("worth 16.00 at the mean prices"), "{page}");
}

#[test]
fn bad_input_is_named_in_one_line() {
    let (folder, path) = depository(0.0);
    for wrong in ["soon", "-1d", "0h"] {
        let output = report(&path, &[&format!("--since={wrong}")]);
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(&format!("'{wrong}': allowed is a length of time")), "{error}");
    }
    let output = report(&folder.path().join("missing.db"), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let both = report(&path, &["--json", "--csv"]);
    assert_eq!(both.status.code(), Some(2));
}

/// With this name and no other application.
fn named(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let entries = [entry(1, name, "ann", 0, 0.0), entry(2, name, "bob", 0, 0.0)];
    let mut depository = Depository::open(&path).unwrap().depository;
    depository.add_to_ledger(entries.into_iter(), [].into_iter()).unwrap();
    (folder, path)
}

#[test]
fn any_name_is_printed() {
    let (_folder, path) = named(&"x".repeat(70_000));
    let table = printed(report(&path, &["--by", "run"]));
    assert!(table.lines().all(|line| line.chars().count() < 400), "{table}");
    let (_folder, path) = named("=HYPERLINK(1)");
    let csv = printed(report(&path, &["--csv"]));
    assert!(csv.contains(",'=HYPERLINK(1),"), "{csv}");
}

#[test]
fn applications_of_one_name_are_told_apart() {
    let (_folder, path) = named("etl");
    let table = printed(report(&path, &[]));
    assert!(table.contains("app|ann|etl") && table.contains("app|bob|etl"), "{table}");
    // What differs in long names is at their end.
    let entries =
        ["3", "4"].map(|end| entry(end.parse().unwrap(), &("x".repeat(200) + end), "ann", 0, 0.0));
    let mut depository = Depository::open_existing(&path, Access::Write).unwrap();
    depository.add_to_ledger(entries.into_iter(), [].into_iter()).unwrap();
    let table = printed(report(&path, &[]));
    assert!(table.contains("xx3 ") && table.contains("xx4 "), "{table}");
}

#[test]
fn an_application_that_two_resource_managers_saw_is_one_run() {
    let (_one, path) = depository(1.0);
    let (_other, other) = depository(1.0);
    let json = ["--json", "--depository", other.to_str().unwrap()];
    let all: Value = serde_json::from_str(&printed(report(&path, &json))).unwrap();
    assert_eq!(all["total"]["runs"], 2);
    assert_eq!(all["total"]["booked_core_hours"], 40.0);
    assert_eq!(all["nodes"]["node_hours"], 20.0);
    assert_eq!(all["nodes"]["saved_node_hours"], 5.0);
}

#[test]
fn an_empty_ledger_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    drop(Depository::open(&path).unwrap());
    assert!(printed(report(&path, &[])).contains("No application ran."));
    assert_eq!(printed(report(&path, &["--csv"])).lines().count(), 1, "the names of columns");
}
