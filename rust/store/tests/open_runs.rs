//! What is recorded of running applications, across a crash.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::run;
use elastane_core::Resources;
use elastane_runs::{ContainerKind, ContainerSample, CpuMeasured, Crowding, Outcome, RunRecorder};
use elastane_store::{Depository, OpenRun, RunEvent};
use rusqlite::Connection;
use tempfile::TempDir;

fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    (folder, path)
}

fn open(path: &Path) -> Depository {
    Depository::open(path).unwrap().depository
}

fn begun(id: &str) -> RunEvent {
    RunEvent::Whole(Box::new(OpenRun {
        application_id: id.into(),
        application_key: "sales".into(),
        application_name: "Sales 1".into(),
        ..OpenRun::begun(7)
    }))
}

fn sampled(id: &str, container: &str, slot: i64) -> RunEvent {
    RunEvent::Sampled {
        application_id: id.into(),
        container: container.into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        sample: ContainerSample::new(
            slot * 3_000 + 2_000,
            3_000,
            Resources::from_array([slot as f64, 1e9 / 3.0, 0.1, 7.0]),
        )
        .crowded(&crowding(), None, Resources::ZERO),
    }
}

fn crowding() -> Crowding {
    Crowding::new(&CpuMeasured {
        used_cores: 0.5,
        waited_threads: 0.5,
        ready_threads_of_node: 80.0,
        ..CpuMeasured::default()
    })
}

fn stages_ended(id: &str, container: &str, slot: i64) -> RunEvent {
    RunEvent::StagesEnded {
        application_id: id.into(),
        container: container.into(),
        stages: slot as u32 / 10,
        since_start_ms: slot * 3_000,
    }
}

fn recorded(events: &[RunEvent]) -> RunRecorder {
    let mut recorder = RunRecorder::new();
    for event in events {
        match event {
            RunEvent::Sampled { container, kind, sample, .. } => {
                recorder.add(Arc::clone(container), *kind, *sample);
            }
            RunEvent::StagesEnded { container, stages, since_start_ms, .. } => {
                recorder.stages_ended(container, *stages, *since_start_ms);
            }
            _ => {}
        }
    }
    recorder
}

fn open_runs(depository: &mut Depository) -> Vec<OpenRun> {
    let (runs, unreadable) = depository.open_runs().unwrap();
    assert!(unreadable.is_empty(), "{unreadable:?}");
    runs
}

fn count(path: &Path, table: &str) -> i64 {
    let statement = format!("SELECT count(*) FROM {table}");
    let connection = Connection::open(path).unwrap();
    connection.query_row(&statement, [], |row| row.get(0)).unwrap()
}

#[test]
fn samples_are_replayed_as_if_nothing_had_been() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository.checkpoint(&[begun("a"), begun("b")], 10).unwrap();
    let mut all = Vec::new();
    // Long enough that batches are replaced by the recorder twice, and some are left.
    for slot in 0..250 {
        let events = [
            sampled("a", "first", slot),
            sampled("b", "other", slot),
            sampled("a", "second", slot),
            stages_ended("a", "first", slot),
        ];
        depository.checkpoint(&events, 20 + slot).unwrap();
        depository.shorten_open_runs().unwrap();
        all.extend([&events[0], &events[2], &events[3]].map(RunEvent::clone));
    }
    drop(depository);
    assert_eq!(count(&path, "open_samples"), 2 * 50);
    let runs = open_runs(&mut open(&path));
    assert_eq!(runs.len(), 2);
    let run = &runs[0];
    assert_eq!(run.recorder, recorded(&all));
    assert_eq!(run.recorder.series()[0].stage_ends_ms.len(), 24);
    let known = (run.application_id.as_str(), run.started_ms, run.sampled_ms, run.ended_ms);
    assert_eq!(known, ("a", 7, 269, None));
    assert_eq!(run.outcome, Outcome::Succeeded);
}

#[test]
fn a_run_that_was_saved_or_dropped_is_not_open_and_stays_so() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let saved = run("sales", 1);
    let id = saved.application_id.as_str();
    depository
        .checkpoint(&[begun(id), sampled(id, "a", 0), begun("b"), sampled("b", "c", 0)], 10)
        .unwrap();
    depository.save(&saved).unwrap();
    let dropped = RunEvent::Dropped { application_id: "b".into() };
    depository.checkpoint(&[dropped], 11).unwrap();
    // What was on its way when they went.
    depository.checkpoint(&[begun(id), sampled(id, "a", 1), sampled("b", "c", 1)], 12).unwrap();
    assert!(open_runs(&mut depository).is_empty());
    drop(depository);
    assert_eq!(count(&path, "open_samples"), 0);
}

#[test]
fn a_whole_run_takes_the_place_of_what_is_saved_of_it() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let samples: Vec<_> = (0..4).map(|slot| sampled("a", "x", slot)).collect();
    let whole = OpenRun {
        application_id: "a".into(),
        application_key: "sales".into(),
        application_name: "Sales 1".into(),
        started_ms: 7,
        ended_ms: None,
        outcome: Outcome::CutOff,
        sampled_ms: 19,
        recorder: recorded(&samples[..3]),
    };
    depository.checkpoint(&[begun("a"), samples[0].clone()], 10).unwrap();
    // One sample from before it, which it has, and one from after it.
    let events = [samples[2].clone(), RunEvent::Whole(Box::new(whole.clone())), begun("b")];
    depository.checkpoint(&events, 20).unwrap();
    assert_eq!(open_runs(&mut depository)[0], whole);
    depository.checkpoint(&samples[3..], 30).unwrap();
    let runs = open_runs(&mut depository);
    assert_eq!(runs[0].recorder, recorded(&samples));
    assert_eq!((runs.len(), runs[0].sampled_ms), (2, 30));
    drop(depository);
    assert_eq!(count(&path, "open_samples"), 1);

    let saved = run("sales", 1);
    let mut depository = open(&path);
    depository.save(&saved).unwrap();
    let late = OpenRun { application_id: saved.application_id, ..whole };
    depository.checkpoint(&[RunEvent::Whole(Box::new(late))], 40).unwrap();
    assert_eq!(open_runs(&mut depository).len(), 2);
}

#[test]
fn how_a_run_ended_is_known_before_it_is_saved() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let ended =
        RunEvent::Ended { application_id: "a".into(), ended_ms: 9_000, outcome: Outcome::Failed };
    let cut_off = RunEvent::CutOff { application_id: "b".into() };
    depository
        .checkpoint(&[begun("a"), begun("b"), sampled("a", "x", 0), ended, cut_off], 10)
        .unwrap();
    let runs = open_runs(&mut depository);
    assert_eq!((runs[0].ended_ms, runs[0].outcome), (Some(9_000), Outcome::Failed));
    assert_eq!((runs[1].ended_ms, runs[1].outcome), (None, Outcome::CutOff));
    let run = runs[0].clone().into_run();
    assert_eq!((run.ended_ms, run.series.len()), (9_000, 1));
}

#[test]
fn what_cannot_be_read_is_dropped_and_the_others_stay() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository
        .checkpoint(&[begun("a"), begun("b"), sampled("a", "x", 0), sampled("b", "x", 0)], 10)
        .unwrap();
    let changed = "UPDATE open_samples SET samples = x'0011' WHERE application_id = 'a'";
    Connection::open(&path).unwrap().execute(changed, []).unwrap();
    let (runs, unreadable) = depository.open_runs().unwrap();
    assert_eq!(runs[0].application_id, "b");
    let error = unreadable[0].to_string();
    assert!(error.contains("the open run a: 2 compressed bytes"), "{error}");
    assert_eq!(open_runs(&mut depository).len(), 1);
}

fn of_kind(mut sampled: RunEvent, of: ContainerKind) -> RunEvent {
    if let RunEvent::Sampled { kind, .. } = &mut sampled {
        *kind = of;
    }
    sampled
}

#[test]
fn containers_of_every_kind_go_on_where_they_were() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository.checkpoint(&[begun("a")], 10).unwrap();
    let mut all = Vec::new();
    let master = ContainerKind::ApplicationMaster;
    let large = ContainerKind::Executor { priority: 1 };
    for (from, name, kind) in [(0, "master", master), (100, "large", large)] {
        for slot in from..from + 100 {
            let events = [sampled("a", "executor", slot), of_kind(sampled("a", name, slot), kind)];
            depository.checkpoint(&events, 20 + slot).unwrap();
            all.extend(events);
        }
        depository.shorten_open_runs().unwrap();
        assert_eq!(count(&path, "open_samples"), 0, "the recorder takes their place");
        assert_eq!(open_runs(&mut depository)[0].recorder, recorded(&all));
    }
}
