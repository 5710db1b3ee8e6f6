//! What is recorded of running applications survives the end of the process, however it ends.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::{GB, NODE, START_MS, commit, open, register, report, request, submission};
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId};
use elastane_predict::{ContainerKind, Outcome, Run};
use elastane_protocol::VERSION;
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};

const FOLDER: &str = "ELASTANE_TEST_FOLDER";
const ID: &str = "application_1_0001";
const CONTAINER: &str = "container_1_0001_01_000002";

fn now_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_epoch.unwrap().as_millis() as i64
}

/// Not a test of its own: the process that is killed. It takes a report every 50 ms whose memory is
/// its number, and prints number and time once it was taken.
#[test]
fn recording_process() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let elastane = open(Path::new(&folder), "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission(ID), now_ms());
    assert!(commit(&elastane, CONTAINER, application, node, now_ms()));
    println!();
    for number in 1.. {
        thread::sleep(Duration::from_millis(50));
        let body = report(number, &[(CONTAINER, 1.0, number)]);
        elastane.report(NODE, VERSION, &body, now_ms()).unwrap();
        println!("took {number} {}", now_ms());
        elastane.bookable_changes(9, now_ms());
    }
}

fn recorder(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "recording_process", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Number and time of every report that the process took before it was killed.
fn kill_after(folder: &Path, life: Duration) -> Vec<(u64, i64)> {
    let mut child = recorder(folder);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut taken = lines.filter_map(|line| {
        let line = line.ok()?;
        let (number, time) = line.strip_prefix("took ")?.split_once(' ')?;
        Some((number.parse().ok()?, time.parse().ok()?))
    });
    let first: (u64, i64) = taken.next().unwrap();
    let killer = thread::spawn(move || {
        thread::sleep(life);
        child.kill().unwrap();
        child.wait().unwrap();
    });
    let all = std::iter::once(first).chain(taken).collect();
    killer.join().unwrap();
    all
}

#[test]
fn a_kill_at_any_moment_loses_ten_seconds_at_most_and_damages_nothing() {
    // All at once, so that it takes no longer than the longest life.
    let lives = (0..24).map(|number| Duration::from_millis(number * 520));
    let killed: Vec<_> = lives
        .map(|life| {
            thread::spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let taken = kill_after(folder.path(), life);
                (life, folder, taken)
            })
        })
        .collect();
    let mut restored = 0;
    for thread in killed {
        let (life, folder, taken) = thread.join().unwrap();
        let path = folder.path().join("depository.sqlite");
        let checked = Depository::open(&path).unwrap();
        assert_eq!(checked.moved_aside, None, "after {life:?}");
        let mut depository = checked.depository;
        let (runs, unreadable) = depository.open_runs().unwrap();
        assert!(unreadable.is_empty(), "{unreadable:?} after {life:?}");
        let saved = runs.first().map_or(0, |run| {
            let series = run.recorder.series();
            let slots = series.iter().flat_map(|series| &series.slots);
            slots.fold(0.0, |most: f64, slot| most.max(slot.memory_bytes)) as u64
        });
        restored += usize::from(saved > 0);
        let (_, killed_ms) = *taken.last().unwrap();
        let lost_ms = taken
            .iter()
            .find(|(number, _)| *number > saved)
            .map_or(0, |(_, first_lost_ms)| killed_ms - first_lost_ms);
        println!(
            "killed after {life:?}: {} of {} reports saved, {lost_ms} ms lost",
            saved,
            taken.len()
        );
        assert!(lost_ms < 10_000, "{lost_ms} ms lost after {life:?}");
    }
    assert!(restored > 12, "{restored} of 24 had something to restore");
}

/// A recorder in the test's own time: reports from `from` to `to`, one each 3 s.
fn reports(elastane: &Elastane, from: u64, to: u64) -> i64 {
    let mut now_ms = 0;
    for number in from..=to {
        now_ms = START_MS + number as i64 * 3_000;
        let body = report(number, &[(CONTAINER, number as f32, number * GB)]);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        elastane.bookable_changes(9, now_ms);
    }
    now_ms
}

fn begin(elastane: &Elastane, now_ms: i64) -> (ApplicationId, NodeId) {
    let node = register(elastane);
    let application = elastane.application_added(&submission(ID), now_ms);
    let outlived = CommitRequest {
        container: CONTAINER,
        application,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(3),
        may_refuse: false,
        start_ms: START_MS,
    };
    assert!(elastane.commit(outlived, now_ms));
    (application, node)
}

/// The process ends here and says nothing: its threads are left where they are, once they have
/// saved what they got.
fn crash(folder: &Path, elastane: Elastane, samples: usize) {
    let path = folder.join("depository.sqlite");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut depository = Depository::open_existing(&path, Access::Write).unwrap();
        let (runs, _) = depository.open_runs().unwrap();
        let series = runs.first().map(|run| run.recorder.series());
        let slots = series.and_then(|series| Some(series.first()?.slots.len()));
        if slots == Some(samples) {
            break;
        }
        assert!(Instant::now() < deadline, "{slots:?} of {samples} are saved");
        thread::sleep(Duration::from_millis(10));
    }
    std::mem::forget(elastane);
}

fn end(elastane: Elastane, application: ApplicationId, now_ms: i64) {
    elastane.finished(CONTAINER, now_ms);
    elastane.application_removed(application, true, now_ms);
    elastane.close();
}

fn saved(folder: &Path) -> Vec<Run> {
    let path = folder.join("depository.sqlite");
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    let applications = depository.applications().unwrap();
    let runs = applications.iter().map(|a| depository.latest_runs(&a.key, 9).unwrap());
    runs.flatten().collect()
}

#[test]
fn a_run_over_two_crashes_is_the_run_that_it_would_have_been() {
    let (crashed, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (from, to) in [(1, 4), (5, 9)] {
        let elastane = open(crashed.path(), "observe");
        begin(&elastane, START_MS + (from - 1) * 3_000);
        reports(&elastane, from as u64, to);
        crash(crashed.path(), elastane, to as usize);
    }
    let elastane = open(crashed.path(), "observe");
    let (application, _) = begin(&elastane, START_MS + 9 * 3_000);
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    assert_eq!(status["runs_resumed"], 1);
    let now_ms = reports(&elastane, 10, 12);
    end(elastane, application, now_ms);

    let elastane = open(whole.path(), "observe");
    let (application, _) = begin(&elastane, START_MS);
    let now_ms = reports(&elastane, 1, 12);
    end(elastane, application, now_ms);

    let runs = saved(crashed.path());
    assert_eq!(runs, saved(whole.path()));
    assert_eq!((runs.len(), runs[0].outcome), (1, Outcome::Succeeded));
    assert_eq!(runs[0].series[0].slots.len(), 12);
}

#[test]
fn an_orderly_restart_is_no_loss_either() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    begin(&elastane, START_MS);
    reports(&elastane, 1, 4);
    elastane.close();
    assert_eq!(saved(folder.path()), []);
    let elastane = open(folder.path(), "observe");
    let (application, _) = begin(&elastane, START_MS + 15_000);
    let now_ms = reports(&elastane, 5, 6);
    end(elastane, application, now_ms);
    let runs = saved(folder.path());
    assert_eq!(runs[0].series[0].slots.len(), 6);
    assert_eq!(runs[0].outcome, Outcome::Succeeded);
}

#[test]
fn a_run_with_a_break_that_agents_do_not_bridge_teaches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    begin(&elastane, START_MS);
    let now_ms = reports(&elastane, 1, 4);
    crash(folder.path(), elastane, 4);
    let elastane = open(folder.path(), "observe");
    let (application, _) = begin(&elastane, now_ms + 120_001);
    end(elastane, application, now_ms + 130_000);
    assert_eq!(saved(folder.path())[0].outcome, Outcome::CutOff);
}

#[test]
fn a_run_that_ended_and_was_not_saved_is_saved_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let (application, _) = begin(&elastane, START_MS);
    reports(&elastane, 1, 4);
    elastane.finished(CONTAINER, START_MS + 12_000);
    elastane.application_removed(application, true, START_MS + 12_500);
    elastane.bookable_changes(9, START_MS + 15_000);
    crash(folder.path(), elastane, 4);
    open(folder.path(), "observe").close();
    let runs = saved(folder.path());
    assert_eq!((runs[0].ended_ms, runs[0].outcome), (START_MS + 12_500, Outcome::Succeeded));
}

#[test]
fn what_belongs_to_an_application_that_does_not_come_back_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    begin(&elastane, START_MS);
    reports(&elastane, 1, 4);
    elastane.close();
    for (waited_ms, left) in [(599_999, 1), (600_000, 0)] {
        let elastane = open(folder.path(), "observe");
        elastane.bookable_changes(9, START_MS);
        elastane.bookable_changes(9, START_MS + waited_ms);
        elastane.close();
        let path = folder.path().join("depository.sqlite");
        let mut depository = Depository::open(&path).unwrap().depository;
        assert_eq!(depository.open_runs().unwrap().0.len(), left);
    }
}
