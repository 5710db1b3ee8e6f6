//! A depository whose fields somebody else filled, as in a shared copy: each is read or refused, without a
//! panic, and whatever is read can be merged. What is read has amounts that a profile can be made of.
//!
//! Arbitrary bytes hardly ever have the checksums of zstd. So the input is what a checksum protects: one field of a
//! sound file, compressed here.
#![no_main]

#[path = "../../../rust/store/tests/common/records.rs"]
mod records;
#[path = "../run_folder.rs"]
mod run_folder;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use elastane_core::Resources;
use elastane_runs::{ContainerKind, ContainerSample};
use elastane_store::{Access, Depository, OpenRun, RunEvent, StoreError};
use libfuzzer_sys::fuzz_target;
use records::{model, prediction, submission};
use run_folder::run_folder;
use rusqlite::{Connection, types::Value};

/// Two runs of `sales`.
const RUNS: &str = include_str!("../../../rust/store/tests/data/depository-7.sql");
const RUN: &str = "application_1_000001";
const RUNNING: &str = "application_1_000009";
const MOST_BYTES: u64 = 64 << 20;
/// The format of a series, before the number of its slots and their compressed bytes.
const SERIES_FORMAT: u8 = 1;

/// What the bytes of a field are.
#[derive(Clone, Copy)]
enum Content {
    Text,
    Plain,
    Compressed,
    /// The first byte is the number of slots.
    Series,
}

const FIELDS: [(&str, &str, Content); 11] = [
    ("series", "slots", Content::Series),
    ("series", "slots", Content::Plain),
    ("series", "stage_ends", Content::Plain),
    ("prediction", "bound", Content::Series),
    ("prediction", "made", Content::Text),
    ("prediction", "outcome", Content::Text),
    ("model", "model", Content::Compressed),
    ("open_run", "recorder", Content::Compressed),
    ("open_samples", "samples", Content::Compressed),
    ("submission", "signature", Content::Text),
    ("submission", "settings", Content::Text),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&field, bytes)) = bytes.split_first() else { return };
    let (table, column, content) = FIELDS[usize::from(field) % FIELDS.len()];
    let Some(value) = stored(content, bytes) else { return };
    let (sound, path) = files();
    fs::copy(sound, path).expect("a file in /dev/shm");
    let changed = format!("UPDATE {table} SET {column} = ?1");
    Connection::open(path)
        .and_then(|file| file.execute(&changed, [value]))
        .expect("a sound file can be changed");
    read_all(path).expect("SQLite reads what it wrote");
});

/// The value of a field.
fn stored(content: Content, bytes: &[u8]) -> Option<Value> {
    let compressed = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).ok();
    Some(match content {
        Content::Text => Value::Text(std::str::from_utf8(bytes).ok()?.to_owned()),
        Content::Plain => Value::Blob(bytes.to_owned()),
        Content::Compressed => Value::Blob(compressed(bytes)?),
        Content::Series => {
            let (&slots, planes) = bytes.split_first()?;
            let series = (SERIES_FORMAT, u32::from(slots), compressed(planes)?);
            Value::Blob(postcard::to_stdvec(&series).ok()?)
        }
    })
}

/// A sound file, and where each input is tried. In memory: the second is written hundreds of times a second.
fn files() -> &'static (PathBuf, PathBuf) {
    static FILES: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = run_folder(Path::new("/dev/shm"));
        let (sound, tried) = (folder.join("sound.db"), folder.join("tried.db"));
        let execute = |statements| Connection::open(&sound)?.execute_batch(statements);
        execute(RUNS).expect("the file of the store's tests");
        fill(&sound).expect("an older file is brought up to date");
        // Without a log beside the file.
        execute("PRAGMA journal_mode = DELETE").expect("nobody else has it open");
        (sound, tried)
    })
}

/// Puts rows into the tables that the runs leave empty.
fn fill(path: &Path) -> Result<(), StoreError> {
    let mut depository = Depository::open(path)?.depository;
    depository.save_submission(&submission(RUN))?;
    depository.save_prediction(&prediction(RUN, 5))?;
    depository.save_model(&model("bound", 5))?;
    let begun = OpenRun {
        application_id: RUNNING.into(),
        application_key: "sales".into(),
        ..OpenRun::begun(7)
    };
    let sampled = RunEvent::Sampled {
        application_id: RUNNING.into(),
        container: "1".into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        sample: ContainerSample::new(2_000, 3_000, Resources::from_array([1.0; 4])),
    };
    depository.checkpoint(&[RunEvent::Whole(Box::new(begun)), sampled], 8)
}

/// Merges a file, then reads all that Elastane reads of it. What cannot be read is refused by itself.
fn read_all(path: &Path) -> Result<(), StoreError> {
    // First, as shortening changes the file. A merge that fails keeps the runs before the failure.
    let mut merged = Depository::in_memory(MOST_BYTES)?;
    let _ = merged.merge(path);
    read_ended(&merged)?;
    let mut depository = Depository::open_existing(path, Access::Write)?;
    read_ended(&depository)?;
    let (open_runs, _unreadable) = depository.open_runs()?;
    for run in open_runs {
        for series in run.recorder.series() {
            assert!(series.slots.iter().all(|slot| slot.first_invalid().is_none()), "{series:?}");
        }
    }
    depository.shorten_open_runs()
}

/// What is read of the runs that ended, and of the models.
fn read_ended(depository: &Depository) -> Result<(), StoreError> {
    for application in depository.applications()? {
        for run in depository.latest_runs(&application.key, 9).unwrap_or_default() {
            let series = run.series.iter().flat_map(|series| &series.slots);
            for amount in series.flat_map(|slot| slot.to_array()) {
                assert!(amount.is_finite() && amount >= 0.0, "{amount}");
            }
            let _ = depository.submission(&run.application_id);
            let _ = depository.predictions_of_run(&run.application_id);
        }
        let _ = depository.models(&application.key);
        let _ = depository.latest_settings(&application.key, 9);
    }
    Ok(())
}
