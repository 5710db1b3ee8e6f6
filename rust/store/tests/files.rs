//! Files that are damaged, foreign, locked, or whose writer was killed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{prune, run};
use elastane_store::{Access, Depository, Retention, StoreErrorKind};
use rusqlite::Connection;

const WRITER_FILE: &str = "ELASTANE_TEST_WRITER_FILE";
const WRITER_KEY: &str = "ELASTANE_TEST_WRITER_KEY";
const WRITER_RUNS: &str = "ELASTANE_TEST_WRITER_RUNS";

fn depository_with_runs(path: &Path, runs: i64) {
    let mut depository = Depository::open(path).unwrap().depository;
    for number in 0..runs {
        depository.save(&run("sales", number)).unwrap();
    }
}

/// Not a test of its own: the other process of the tests below. It saves runs under a key, prints
/// each number once it is saved, and ends after as many as it was told.
#[test]
fn writer_process() {
    let Ok(path) = std::env::var(WRITER_FILE) else {
        return;
    };
    let key = std::env::var(WRITER_KEY).unwrap();
    let runs: i64 = std::env::var(WRITER_RUNS).unwrap().parse().unwrap();
    let mut depository = Depository::open(Path::new(&path)).unwrap().depository;
    let first = if key == "second" { 500_000 } else { 0 };
    for number in first..first + runs {
        depository.save(&run(&key, number)).unwrap();
        println!("\nsaved {number}");
    }
}

fn writer(path: &Path, key: &str, runs: i64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer_process", "--nocapture"])
        .env(WRITER_FILE, path)
        .env(WRITER_KEY, key)
        .env(WRITER_RUNS, runs.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_writer_that_is_killed_leaves_what_it_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    for round in 1..=5 {
        let mut child = writer(&path, "sales", 400_000);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut numbers = lines.filter_map(|line| {
            let line = line.unwrap();
            line.strip_prefix("saved ")?.parse::<i64>().ok()
        });
        assert_eq!(numbers.nth(round * 17), Some(round as i64 * 17));
        child.kill().unwrap();
        // What was printed before the kill and not read yet was saved too.
        let saved = numbers.last().unwrap_or(round as i64 * 17);
        child.wait().unwrap();

        let opened = Depository::open(&path).unwrap();
        assert_eq!(opened.moved_aside, None);
        let runs = opened.depository.latest_runs("sales", 1_000_000).unwrap();
        assert!(runs.len() as i64 > saved, "{} runs, {saved} saved", runs.len());
        for found in runs {
            let number: i64 = found.application_id[14..].parse().unwrap();
            assert_eq!(found, run("sales", number));
        }
    }
}

#[test]
fn two_processes_make_one_file_and_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut first = writer(&path, "first", 200);
    let mut second = writer(&path, "second", 200);
    // Nobody reads what they print: it stays below what a pipe holds.
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    for key in ["first", "second"] {
        assert_eq!(depository.latest_runs(key, 1_000).unwrap().len(), 200, "{key}");
    }
}

#[test]
fn a_reader_reads_while_another_process_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository_with_runs(&path, 1);
    let mut writing = Depository::open(&path).unwrap().depository;
    let reader = Depository::open_existing(&path, Access::Read).unwrap();
    writing.save(&run("sales", 1)).unwrap();
    assert_eq!(reader.latest_runs("sales", 9).unwrap().len(), 2);
}

#[test]
fn a_lock_is_waited_for_and_then_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository_with_runs(&path, 1);
    let mut depository = Depository::open(&path).unwrap().depository;
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begin = Instant::now();
    let error = depository.save(&run("sales", 1)).unwrap_err();
    assert!(begin.elapsed() >= Duration::from_secs(4), "{:?}", begin.elapsed());
    assert!(matches!(error.kind, StoreErrorKind::Locked(_)), "{error}");
    assert!(error.to_string().contains("save run application_1_000001"), "{error}");
    holder.execute_batch("ROLLBACK").unwrap();
    depository.save(&run("sales", 1)).unwrap();
}

#[test]
fn a_lock_is_waited_for_in_vain_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository_with_runs(&path, 1);
    let mut depository = Depository::open(&path).unwrap().depository;
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    depository.save(&run("sales", 1)).unwrap_err();
    let begin = Instant::now();
    for _ in 0..10 {
        let error = depository.save(&run("sales", 1)).unwrap_err();
        assert!(matches!(error.kind, StoreErrorKind::Locked(_)), "{error}");
        assert_eq!(depository.latest_runs("sales", 9).unwrap().len(), 1, "reading goes on");
    }
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    holder.execute_batch("ROLLBACK").unwrap();
    depository.save(&run("sales", 1)).unwrap();

    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let free = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        holder.execute_batch("ROLLBACK").unwrap();
    });
    depository.save(&run("sales", 2)).unwrap();
    free.join().unwrap();
}

type Damage = fn(&mut Vec<u8>);

/// Damages that leave the file in its place, each of another kind.
fn damages() -> Vec<(&'static str, Damage)> {
    vec![
        ("text", |bytes| *bytes = b"these are no pages\n".repeat(300)),
        ("header", |bytes| bytes[..16].fill(0)),
        ("schema page", |bytes| bytes[100..600].fill(0xAB)),
        ("last pages", |bytes| {
            let from = bytes.len() - 3 * 4096;
            bytes[from..].fill(0xAB);
        }),
        ("cut short", |bytes| bytes.truncate(bytes.len() / 2)),
    ]
}

#[test]
fn a_damaged_file_is_moved_aside_and_kept() {
    for (damage, apply) in damages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.db");
        depository_with_runs(&path, 60);
        let mut bytes = fs::read(&path).unwrap();
        apply(&mut bytes);
        fs::write(&path, &bytes).unwrap();

        let error = Depository::open_existing(&path, Access::Write).unwrap_err();
        assert!(matches!(error.kind, StoreErrorKind::Damaged(_)), "{damage}: {error}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{damage}: opening changed it");

        let mut opened = Depository::open(&path).unwrap();
        let aside = folder.path().join("depository.db.damaged-1");
        assert_eq!(opened.moved_aside, Some(aside.clone()), "{damage}");
        assert_eq!(fs::read(&aside).unwrap(), bytes, "{damage}");
        assert_eq!(opened.depository.applications().unwrap(), []);
        opened.depository.save(&run("sales", 1)).unwrap();
    }
}

#[test]
fn a_second_damaged_file_does_not_replace_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    for number in 1..=3 {
        fs::write(&path, b"no depository, but long enough to be one".repeat(9)).unwrap();
        let aside = Depository::open(&path).unwrap().moved_aside.unwrap();
        let name = format!("depository.db.damaged-{number}");
        assert_eq!(aside, folder.path().join(name));
    }
}

#[test]
fn the_log_of_a_damaged_file_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    depository_with_runs(&path, 60);
    // A crash leaves the log beside the file: what it holds then is copied while the file is open.
    let mut depository = Depository::open(&path).unwrap().depository;
    depository.save(&run("sales", 60)).unwrap();
    let log = fs::read(beside("-wal")).unwrap();
    drop(depository);
    fs::write(beside("-wal"), &log).unwrap();
    fs::write(&path, b"no pages ".repeat(900)).unwrap();
    let opened = Depository::open(&path).unwrap();
    assert!(opened.moved_aside.is_some());
    assert_eq!(fs::read(beside(".damaged-1-wal")).unwrap(), log);
    assert_eq!(opened.depository.applications().unwrap(), []);
}

#[test]
fn the_file_of_another_program_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE mine (x)").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    let error = Depository::open(&path).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Foreign), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), b"").unwrap();
    let error = Depository::open(&folder.path().join("file/depository.db")).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::File(..)), "{error}");
}

/// Damages pages at random while the file is open, as a bad disk or a stray program would.
#[test]
fn pages_damaged_while_the_file_is_open_are_an_error_and_a_fresh_start_afterwards() {
    let (mut noticed, mut fresh_starts) = (0, 0);
    for seed in 1..=20_u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.db");
        depository_with_runs(&path, 80);
        let mut depository = Depository::open(&path).unwrap().depository;
        // It has read nothing yet: what it reads is what is in the file then.
        let reader = Depository::open_existing(&path, Access::Read).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let pages = bytes.len() / 4096;
        let mut state = seed;
        for _ in 0..6 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (state >> 33) as usize % pages * 4096;
            bytes[at + 8..at + 600].fill(state as u8);
        }
        // In place: a new file would leave the open one as it is.
        fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
            .unwrap();

        // Whatever is read or written meanwhile: an error with the file's name, never a panic.
        for number in 0..10 {
            let results = [
                depository.save(&run("sales", 1_000 + number)).err(),
                reader.latest_runs("sales", 100).err(),
                prune(&mut depository, &retention(), 0).err(),
            ];
            for error in results.into_iter().flatten() {
                assert!(error.to_string().contains("depository.db"), "{error}");
                noticed += 1;
            }
        }
        drop((depository, reader));
        let mut opened = Depository::open(&path).unwrap();
        fresh_starts += usize::from(opened.moved_aside.is_some());
        opened.depository.save(&run("sales", 9_999)).unwrap();
        // What the checks of pages cannot see, the checksum of each series does.
        match opened.depository.latest_runs("sales", 10_000) {
            Ok(runs) => assert!(opened.moved_aside.is_none() || runs.len() == 1, "seed {seed}"),
            Err(error) => assert!(matches!(error.kind, StoreErrorKind::Record(..)), "{error}"),
        }
    }
    // What was written afterwards may have healed the others, or they hold a damaged series.
    assert!(fresh_starts > 5, "{fresh_starts} of 20 files were moved aside");
    assert!(noticed > 0, "no damage was noticed while the files were open");
}

fn retention() -> Retention {
    Retention { keep_ms: i64::MAX / 2, most_bytes: u64::MAX, profile_runs: 3 }
}
