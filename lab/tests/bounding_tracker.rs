//! Progress from the usage so far: by the runs that a prediction was made from, and by a demand alone.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../rust/predict/tests/common/phases.rs"]
mod phases;

use elastane_core::{Demand, Resources, SLOT_MS, StageEnds};
use elastane_lab::evaluation::{BoundingTracker, Envelope};
use elastane_predict::{Outcome, PastRun, RecurringSettings, predict_next};
use phases::{IDLE, run};

const EARLIER: [f64; 3] = [1.0, 1.05, 0.95];

fn tracker() -> BoundingTracker {
    let history: Vec<PastRun> = EARLIER
        .into_iter()
        .map(|slowdown| PastRun {
            id: format!("{slowdown}"),
            ended_ms: 0,
            outcome: Outcome::Succeeded,
            used: Demand::series(SLOT_MS, &run(slowdown)).unwrap(),
            stage_ends: StageEnds::default(),
        })
        .collect();
    let outlook = predict_next(&history, &RecurringSettings::default());
    let prediction = outlook.prediction.unwrap();
    let envelope = Envelope::of(&prediction, Envelope::COVERAGE).unwrap();
    BoundingTracker::of_prediction(&prediction, &envelope)
}

/// A tracker of the mean use of the same runs at the same progress, as in the scheduler.
fn tracker_of_demand() -> BoundingTracker {
    let runs = EARLIER.map(run);
    let mean: Vec<Resources> = (0..60)
        .map(|slot| {
            let then = runs.iter().map(|run| run[slot * run.len() / 60]);
            then.fold(Resources::ZERO, |sum, used| sum + used) * (1.0 / runs.len() as f64)
        })
        .collect();
    BoundingTracker::of_demand(&Demand::series(SLOT_MS, &mean).unwrap())
}

/// The tracker of the demand, which gives no bounds.
const DEMAND: &str = "demand";

fn both() -> [(&'static str, BoundingTracker); 2] {
    [("runs", tracker()), (DEMAND, tracker_of_demand())]
}

fn observe(tracker: &mut BoundingTracker, slots: &[Resources]) {
    for usage in slots {
        tracker.observe(*usage, SLOT_MS);
    }
}

#[test]
fn at_the_expected_speed_progress_follows_the_time() {
    for (known, mut tracker) in both() {
        assert_eq!(tracker.progress(), 0.0);
        for (slot, usage) in run(1.0).into_iter().enumerate() {
            tracker.observe(usage, SLOT_MS);
            let (at, seen) = ((slot + 1) as f64 / 60.0, tracker.progress());
            assert!((seen - at).abs() < 0.1, "{known}: {at}: {seen}");
        }
    }
}

#[test]
fn a_slow_run_has_less_progress_and_is_still_bounded() {
    for (known, mut tracker) in both() {
        let slow = run(1.5);
        observe(&mut tracker, &slow[..45]);
        let progress = tracker.progress();
        assert!((progress - 0.5).abs() < 0.1, "{known}: {progress}");
        // By the clock it would be writing; by its usage it still computes.
        let ahead = tracker.next(SLOT_MS);
        assert!(
            ahead.expected.cpu_cores > 3.0 && ahead.expected.disk_bytes_per_s < 20e6,
            "{known}: {ahead:?}"
        );
        assert!(known == DEMAND || ahead.bound.cpu_cores > 3.0, "{ahead:?}");
    }
}

#[test]
fn a_late_start_and_a_pause_are_no_progress() {
    for (known, mut tracker) in both() {
        observe(&mut tracker, &[IDLE; 20]);
        let late = tracker.progress();
        assert!(late < 0.15, "{known}: {late}");
        observe(&mut tracker, &run(1.0)[..30]);
        let before = tracker.progress();
        assert!((before - 0.5).abs() < 0.12, "{known}: {before}");
        let pause = Resources { memory_bytes: 3e9, ..IDLE };
        observe(&mut tracker, &[pause; 10]);
        let after = tracker.progress();
        assert!((after - before).abs() < 0.1, "{known}: {before} {after}");
    }
}

#[test]
fn repeated_work_is_no_progress() {
    let run = run(1.0);
    for (known, mut tracker) in both() {
        observe(&mut tracker, &run[..20]);
        // The process restarts and repeats the first third.
        observe(&mut tracker, &run[..20]);
        let progress = tracker.progress();
        assert!(progress < 0.44, "{known}: {progress}");
        for (slot, usage) in run.iter().enumerate().skip(20) {
            tracker.observe(*usage, SLOT_MS);
            // Repeated work counts in part, so the estimate is ahead by at most this.
            let (at, seen) = ((slot + 1) as f64 / 60.0, tracker.progress());
            assert!((seen - at).abs() < 0.17, "{known}: {at}: {seen}");
        }
        let ahead = tracker.next(SLOT_MS);
        assert!(ahead.expected.disk_bytes_per_s > 35e6, "{known}: {ahead:?}");
        assert!(known == DEMAND || ahead.bound.disk_bytes_per_s > 40e6);
    }
}

#[test]
fn past_the_end_the_last_usage_holds() {
    let mut tracker = tracker();
    observe(&mut tracker, &run(1.0));
    observe(&mut tracker, &[run(1.0)[59]; 60]);
    assert!(tracker.progress() <= 1.0);
    assert!(tracker.next(SLOT_MS).bound.cpu_cores >= 1.5);
}

#[test]
fn what_is_no_amount_is_not_taken_in() {
    let mut tracker = tracker();
    observe(&mut tracker, &run(1.0)[..10]);
    let before = tracker.progress();
    let wrong = Resources { cpu_cores: f64::NAN, ..Resources::ZERO };
    tracker.observe(wrong, SLOT_MS);
    assert_eq!(tracker.progress(), before);
}
