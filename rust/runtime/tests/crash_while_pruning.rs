//! A process that is killed while it shortens runs that go on, or removes old ones, leaves a whole file
//! with all that it said was in it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use elastane_core::Resources;
use elastane_predict::{ContainerKind, ContainerSample, Outcome, Run, RunRecorder, RunSeries};
use elastane_store::{Depository, OpenRun, Pruning, Retention, RunEvent};

const FOLDER: &str = "ELASTANE_TEST_FOLDER";
const KEY: &str = "sales";

const OPEN_RUNS: usize = 8;
const CONTAINERS: usize = 10;
/// A run that goes on is shortened once it has so many batches.
const BATCHES: u64 = 100;
/// So many runs are saved before old ones go, and so many stay.
const SAVED_AT_ONCE: u64 = 300;
const KEPT: u64 = 50;

const SHORTENING: &str = "shortening";
const REMOVING: &str = "removing";
/// Of the time that each of them takes: a kill comes at the beginning of each part.
const PARTS: u32 = 6;

fn retention() -> Retention {
    Retention { keep_ms: KEPT as i64, most_bytes: u64::MAX, profile_runs: 3 }
}

/// It ended in the millisecond of its number.
fn run(number: u64) -> Run {
    let slot = |at: u64| Resources::from_array([at as f64, 1e9, 0.125, number as f64]);
    Run {
        application_key: KEY.into(),
        application_id: format!("application_1_{number:06}"),
        application_name: format!("Sales {number}"),
        started_ms: 0,
        ended_ms: number as i64,
        outcome: Outcome::Succeeded,
        series: vec![RunSeries {
            stage_ends_ms: Vec::new(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            containers: 1,
            slots: (0..100).map(slot).collect(),
        }],
    }
}

fn open_run_id(number: usize) -> String {
    format!("application_2_{number:06}")
}

/// What each open run has of this slot.
fn samples(slot: u64) -> impl Iterator<Item = (String, ContainerSample)> {
    (0..CONTAINERS).map(move |container| {
        let usage = Resources::from_array([slot as f64, 1e9 / 3.0, container as f64, 7.0]);
        let sample = ContainerSample::new((slot as i64 + 1) * 3_000, 3_000, usage);
        (format!("container_{container}"), sample)
    })
}

fn batch(slot: u64) -> Vec<RunEvent> {
    let of_run = |number| {
        samples(slot).map(move |(container, sample)| RunEvent::Sampled {
            application_id: open_run_id(number).into(),
            container: container.into(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            sample,
        })
    };
    (0..OPEN_RUNS).flat_map(of_run).collect()
}

fn begun(number: usize) -> RunEvent {
    RunEvent::Whole(Box::new(OpenRun {
        application_id: open_run_id(number),
        application_key: KEY.into(),
        application_name: "Sales".into(),
        ..OpenRun::begun(0)
    }))
}

fn recorded_slots(run: &OpenRun) -> u64 {
    run.recorder.series().first().map_or(0, |series| series.slots.len() as u64)
}

fn numbers(runs: &[Run]) -> Vec<u64> {
    runs.iter().map(|run| run.ended_ms as u64).collect()
}

/// Not a test of its own: the process that is killed. It goes on where the one before it was killed, and
/// prints what it has done once that is done.
#[test]
fn writing_process() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let mut depository = Depository::open(&file(Path::new(&folder))).unwrap().depository;
    let (open_runs, _) = depository.open_runs().unwrap();
    let mut slot = open_runs.first().map_or(0, recorded_slots);
    let newest = depository.latest_runs(KEY, 1).unwrap();
    let mut number = newest.first().map_or(0, |run| run.ended_ms as u64 + 1);
    if open_runs.is_empty() {
        let begun: Vec<RunEvent> = (0..OPEN_RUNS).map(begun).collect();
        depository.checkpoint(&begun, 0).unwrap();
    }
    println!();
    loop {
        for _ in 0..BATCHES {
            depository.checkpoint(&batch(slot), slot as i64).unwrap();
            slot += 1;
            println!("recorded {slot}");
        }
        println!("{SHORTENING}");
        depository.shorten_open_runs().unwrap();
        println!("done");
        for _ in 0..SAVED_AT_ONCE {
            depository.save(&run(number)).unwrap();
            number += 1;
            println!("saved {number}");
        }
        println!("{REMOVING}");
        let mut pruning = Pruning::new(retention(), number as i64);
        while pruning.step(&mut depository).unwrap().is_none() {}
        println!("removed {number}");
        println!("done");
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("depository.sqlite")
}

/// What a process said before it was killed: the numbers that come next.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    recorded: u64,
    saved: u64,
    /// Of the run that was to come next when old ones had gone.
    removed: u64,
    /// It was killed between the beginning of what it was to be killed in and its end.
    was_within: bool,
}

impl Said {
    fn hear(&mut self, line: &str) {
        let Some((what, number)) = line.split_once(' ') else {
            return;
        };
        let Ok(number) = number.parse() else { return };
        match what {
            "recorded" => self.recorded = number,
            "saved" => self.saved = number,
            "removed" => self.removed = number,
            _ => {}
        }
    }
}

/// Measures how long `what` takes, and kills the process the next time when this part of that is over.
fn kill_within(folder: &Path, what: &str, part: u32, mut said: Said) -> Said {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writing_process", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut hear_until = |wanted: &str| {
        for line in lines.by_ref() {
            let line = line.unwrap();
            said.hear(&line);
            said.was_within = line == what;
            if line == wanted {
                return true;
            }
        }
        false
    };
    assert!(hear_until(what));
    let begin = Instant::now();
    assert!(hear_until("done"));
    let took = begin.elapsed();
    assert!(hear_until(what));
    thread::sleep(took * part / PARTS);
    child.kill().unwrap();
    // What was printed before the kill and not read yet was done too.
    hear_until("the end");
    child.wait().unwrap();
    println!("killed {part}/{PARTS} of {took:?} into {what}: {said:?}");
    said
}

/// What each open run is to have recorded.
struct Expected {
    recorder: RunRecorder,
    slots: u64,
}

impl Expected {
    fn until(&mut self, slots: u64) -> &RunRecorder {
        while self.slots < slots {
            for (container, sample) in samples(self.slots) {
                self.recorder.add(container, ContainerKind::DEFAULT_EXECUTOR, sample);
            }
            self.slots += 1;
        }
        &self.recorder
    }
}

fn assert_whole(folder: &Path, said: Said, expected: &mut Expected) {
    let opened = Depository::open(&file(folder)).unwrap();
    assert_eq!(opened.moved_aside, None);
    let mut depository = opened.depository;
    let (runs, unreadable) = depository.open_runs().unwrap();
    assert!(unreadable.is_empty(), "{unreadable:?}");
    assert_eq!(runs.len(), OPEN_RUNS);
    // One more may have been done and not said.
    let recorded = recorded_slots(&runs[0]);
    let slots = said.recorded..=said.recorded + 1;
    assert!(slots.contains(&recorded), "{recorded} of {slots:?}");
    for run in &runs {
        assert!(run.recorder == *expected.until(recorded), "{recorded} slots");
    }

    let runs = depository.latest_runs(KEY, usize::MAX).unwrap();
    let numbers = numbers(&runs);
    let next = numbers.first().map_or(0, |newest| newest + 1);
    let saved = said.saved..=said.saved + 1;
    assert!(saved.contains(&next), "{next} of {saved:?}");
    // Those that are to stay, and none that had gone.
    let oldest = numbers.last().copied().unwrap_or(next);
    assert!(oldest <= next.saturating_sub(KEPT), "{oldest} of {next}");
    assert!(oldest >= said.removed.saturating_sub(KEPT), "{oldest}");
    assert!(numbers.into_iter().rev().eq(oldest..next));
    for found in runs {
        let number = found.ended_ms as u64;
        assert!(found == run(number), "{number} of {next}");
    }
}

#[test]
fn a_kill_while_runs_are_shortened_or_removed_loses_nothing_that_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut said = Said::default();
    let mut expected = Expected { recorder: RunRecorder::new(), slots: 0 };
    let mut within = [0; 2];
    for part in 0..PARTS {
        for (what, within) in [SHORTENING, REMOVING].into_iter().zip(&mut within) {
            said = kill_within(folder.path(), what, part, said);
            assert_whole(folder.path(), said, &mut expected);
            *within += u32::from(said.was_within);
        }
    }
    assert!(within.iter().all(|it| *it > 1), "{within:?} of {PARTS} came within");
}
