//! Files that another version of Elastane wrote.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use common::records::{fresh, model, open, prediction, submission};
use common::run;
use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSubject, LedgerSums, NodesHour};
use elastane_store::{Access, Depository, OpenRun, RunEvent};
use rusqlite::Connection;

#[test]
fn a_file_of_the_previous_version_is_read_as_it_is_and_upgraded_by_a_writer() {
    let (folder, path) = fresh();
    Connection::open(&path).unwrap().execute_batch(include_str!("data/depository-7.sql")).unwrap();
    let before = fs::read(&path).unwrap();
    let reader = Depository::open_existing(&path, Access::Read).unwrap();
    assert_eq!(reader.latest_runs("sales", 9).unwrap(), [run("sales", 1), run("sales", 0)]);
    assert_eq!(fs::read(&path).unwrap(), before);

    let mut opened = Depository::open(&path).unwrap();
    assert_eq!((&opened.moved_aside, opened.newer_version), (&None, None));
    save_everything(&mut opened.depository);
    // Who has it open goes on.
    assert_eq!(reader.latest_runs("sales", 9).unwrap().len(), 3);
    let new = folder.path().join("new.db");
    drop(open(&new));
    assert_eq!(tables_of(&path), tables_of(&new));
}

/// As the next version may do it: a column with a default in every table, and one more table.
#[test]
fn a_file_of_the_next_version_is_used_where_it_says_so_and_keeps_its_tables() {
    let (folder, path) = fresh();
    drop(open(&path));
    let next = Connection::open(&path).unwrap();
    let (version, tables) = tables_of(&path);
    for (table, _) in &tables {
        let add = format!("ALTER TABLE {table} ADD COLUMN more INTEGER NOT NULL DEFAULT 0");
        next.execute_batch(&add).unwrap();
    }
    next.execute_batch("CREATE TABLE more (x)").unwrap();
    next.pragma_update(None, "user_version", version + 1).unwrap();
    let tables = tables_of(&path);

    let mut opened = Depository::open(&path).unwrap();
    assert_eq!((&opened.moved_aside, opened.newer_version), (&None, Some(version + 1)));
    save_everything(&mut opened.depository);
    drop(opened);
    assert_eq!(tables_of(&path), tables);
    let mut other = open(&folder.path().join("other.db"));
    assert_eq!(other.merge(&path).unwrap().added, 1);
}

#[test]
fn the_schema_of_a_version_too_far_away_is_refused_and_stays_as_it_is() {
    let (_folder, path) = fresh();
    drop(open(&path));
    for version in [6, 9] {
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        other.execute("UPDATE schema SET readable_from = 9", []).unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        for error in [
            Depository::open(&path).unwrap_err(),
            Depository::open_existing(&path, Access::Read).unwrap_err(),
        ] {
            let text = error.to_string();
            let expected = format!("schema version {version}, this program reads 7 to 8");
            assert!(text.contains(&expected), "{text}");
            assert_eq!(text.lines().count(), 1);
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    // As a file that lost the table.
    Connection::open(&path).unwrap().execute_batch("DROP TABLE schema").unwrap();
    let error = Depository::open(&path).unwrap_err().to_string();
    assert!(error.contains("schema version 9, this program reads 7 to 8"), "{error}");
}

/// A row in every table.
fn save_everything(depository: &mut Depository) {
    depository.save(&run("sales", 2)).unwrap();
    depository.save_submission(&submission("application_1_3")).unwrap();
    depository.save_prediction(&prediction("application_1_3", 1)).unwrap();
    depository.save_model(&model("rbf", 1)).unwrap();
    let begun = OpenRun { application_id: "application_1_3".into(), ..OpenRun::begun(7) };
    depository.checkpoint(&[RunEvent::Whole(Box::new(begun))], 8).unwrap();
    let subject = LedgerSubject {
        application_id: "application_1_3".into(),
        queue: "root.a".into(),
        application_key: "sales".into(),
        application_name: "sales".into(),
        user: "user".into(),
    };
    let entry = LedgerEntry {
        subject: Arc::new(subject),
        hour_ms: HOUR_MS,
        sums: LedgerSums { containers: 1, used_core_s: 0.5, ..LedgerSums::default() },
    };
    let hour = NodesHour { hour_ms: HOUR_MS, node_s: 60.0, ..NodesHour::default() };
    depository.add_to_ledger(iter::once(entry), iter::once(hour)).unwrap();
    assert_eq!(depository.ledger(0).unwrap()[0].sums.used_core_s, 0.5);
}

/// The version, and each table with its columns.
fn tables_of(path: &Path) -> (i32, Vec<(String, String)>) {
    let connection = Connection::open(path).unwrap();
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let columns = "SELECT tables.name, group_concat(columns.name) FROM sqlite_master AS tables
        JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' GROUP BY tables.name";
    let mut statement = connection.prepare(columns).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (version, rows.map(|row| row.unwrap()).collect())
}
