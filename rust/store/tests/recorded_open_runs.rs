//! Checkpoints of running applications as each format wrote them. `data/depository-N.sql` was written by schema N and never
//! changes. Where the format changes, raise the schema's version, keep reading the former bytes, and run
//! `this_format_writes_its_recorded_bytes` alone with `ELASTANE_WRITE_GOLDEN=1`, which writes only a missing file.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::records::{fresh, open};
use elastane_core::Resources;
use elastane_runs::{ContainerKind, ContainerSample, CpuMeasured, Crowding, Outcome, RunRecorder};
use elastane_store::{OpenRun, RunEvent};
use rusqlite::Connection;

/// The schema that writes the present format.
const SCHEMA: i32 = 8;
const WHOLE: &str = "application_1_000001";
const BATCHES: &str = "application_1_000002";

fn sample(slot: i64) -> ContainerSample {
    let measured = CpuMeasured {
        used_cores: 0.5,
        waited_threads: 0.5,
        ready_threads_of_node: 80.0,
        ..CpuMeasured::default()
    };
    let usage = Resources::from_array([slot as f64, 1e9 / 3.0, 0.1, 7.0]);
    ContainerSample::new(slot * 3_000 + 2_000, 3_000, usage).crowded(
        &Crowding::new(&measured),
        None,
        Resources::ZERO,
    )
}

/// Slots of a container that are closed and one that is open, the ends of stages, and a sample that was left out. One
/// container: the order of several in the bytes is arbitrary.
fn recorder() -> RunRecorder {
    let mut recorder = RunRecorder::new();
    for slot in 0..4 {
        recorder.add("container_1", ContainerKind::Executor { priority: 3 }, sample(slot));
    }
    assert!(recorder.stages_ended("container_1", 2, 7_000));
    recorder.add("container_1", ContainerKind::DEFAULT_EXECUTOR, sample(1));
    assert_eq!(recorder.left_out(), 1);
    recorder
}

fn open_run(id: &str, recorder: RunRecorder) -> OpenRun {
    OpenRun {
        application_id: id.into(),
        application_key: "sales".into(),
        application_name: "Sales 1".into(),
        recorder,
        ..OpenRun::begun(7)
    }
}

/// Two batches of samples and ends of stages, of both kinds of containers.
fn batches() -> [Vec<RunEvent>; 2] {
    let sampled = |container: &str, kind, slot| RunEvent::Sampled {
        application_id: BATCHES.into(),
        container: container.into(),
        kind,
        sample: sample(slot),
    };
    let stages_ended = RunEvent::StagesEnded {
        application_id: BATCHES.into(),
        container: "container_1".into(),
        stages: 2,
        since_start_ms: 4_000,
    };
    let master = ContainerKind::ApplicationMaster;
    [
        vec![
            sampled("container_1", master, 0),
            sampled("container_2", ContainerKind::DEFAULT_EXECUTOR, 1),
        ],
        vec![sampled("container_1", master, 1), stages_ended],
    ]
}

/// What the recorded files contain.
fn expected() -> [OpenRun; 2] {
    let mut sampled = RunRecorder::new();
    for event in batches().concat() {
        match event {
            RunEvent::Sampled { container, kind, sample, .. } => {
                sampled.add(container, kind, sample);
            }
            RunEvent::StagesEnded { container, stages, since_start_ms, .. } => {
                assert!(sampled.stages_ended(&container, stages, since_start_ms));
            }
            _ => {}
        }
    }
    let mut with_batches = open_run(BATCHES, sampled);
    with_batches.sampled_ms = 20;
    let mut ended = open_run(WHOLE, recorder());
    (ended.ended_ms, ended.outcome) = (Some(19_000), Outcome::Failed);
    [ended, with_batches]
}

/// A depository as this program writes it.
fn written() -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = fresh();
    let mut depository = open(&path);
    let begun = [
        RunEvent::Whole(Box::new(open_run(WHOLE, recorder()))),
        RunEvent::Ended {
            application_id: WHOLE.into(),
            ended_ms: 19_000,
            outcome: Outcome::Failed,
        },
        RunEvent::Whole(Box::new(open_run(BATCHES, RunRecorder::new()))),
    ];
    depository.checkpoint(&begun, 8).unwrap();
    for batch in batches() {
        depository.checkpoint(&batch, 20).unwrap();
    }
    (folder, path)
}

fn recorded(schema: i32) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    folder.join(format!("depository-{schema}.sql"))
}

/// The statements that make a file with the same content.
fn dump(path: &Path) -> String {
    let file = Connection::open(path).unwrap();
    let texts = |statement: &str| -> Vec<String> {
        let mut statement = file.prepare(statement).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    };
    let pragma = |name| -> i32 { file.pragma_query_value(None, name, |row| row.get(0)).unwrap() };
    let mut lines = Vec::new();
    for name in ["application_id", "user_version"] {
        lines.push(format!("PRAGMA {name} = {};", pragma(name)));
    }
    lines.push("BEGIN;".to_owned());
    let made =
        "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name";
    lines.extend(texts(made));
    for table in texts("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
        let columns = format!(
            "SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') FROM pragma_table_info('{table}')"
        );
        let quoted = texts(&columns).concat();
        let rows = format!(
            "SELECT 'INSERT INTO \"{table}\" VALUES(' || {quoted} || ');' FROM \"{table}\" ORDER BY 1"
        );
        lines.extend(texts(&rows));
    }
    lines.push("COMMIT;\n".to_owned());
    lines.join("\n")
}

/// What the columns of running applications contain before their compression, whose bytes are zstd's.
fn contents(path: &Path) -> Vec<Vec<u8>> {
    let file = Connection::open(path).unwrap();
    let columns = "SELECT recorder FROM (SELECT recorder FROM open_run ORDER BY application_id)
                   UNION ALL SELECT samples FROM (SELECT samples FROM open_samples ORDER BY id)";
    let mut statement = file.prepare(columns).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|row| zstd::decode_all(row.unwrap().as_slice()).unwrap()).collect()
}

fn restored(schema: i32) -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = fresh();
    let statements = fs::read_to_string(recorded(schema)).unwrap();
    Connection::open(&path).unwrap().execute_batch(&statements).unwrap();
    (folder, path)
}

#[test]
fn this_format_writes_its_recorded_bytes() {
    let (_folder, path) = written();
    if std::env::var_os("ELASTANE_WRITE_GOLDEN").is_some() && !recorded(SCHEMA).exists() {
        fs::write(recorded(SCHEMA), dump(&path)).unwrap();
    }
    let (_restored, golden) = restored(SCHEMA);
    assert!(
        contents(&golden) == contents(&path),
        "the bytes of running applications changed. Raise the schema's version, keep reading the former bytes, and write \
         the new file with ELASTANE_WRITE_GOLDEN=1"
    );
}

#[test]
fn checkpoints_of_every_recorded_format_are_read() {
    for schema in 8..=SCHEMA {
        let (_folder, path) = restored(schema);
        let (runs, unreadable) = open(&path).open_runs().unwrap();
        assert!(unreadable.is_empty(), "schema {schema}: {unreadable:?}");
        assert_eq!(runs, expected(), "schema {schema}");
    }
}
