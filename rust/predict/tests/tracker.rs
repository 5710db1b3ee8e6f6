//! The progress of a container, estimated from its usage so far and its demand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/phases.rs"]
mod phases;

use elastane_core::{Demand, Resources, SLOT_MS};
use elastane_predict::{LateTracker, Tracker};
use phases::{IDLE, run};

fn tracker() -> Tracker {
    Tracker::of_demand(&Demand::series(SLOT_MS, &run(1.0)).unwrap())
}

fn observe(tracker: &mut Tracker, slots: &[Resources]) {
    for usage in slots {
        tracker.observe(*usage, SLOT_MS);
    }
}

#[test]
fn the_progress_of_a_run_at_the_expected_speed_follows_its_time() {
    let mut tracker = tracker();
    assert_eq!(tracker.progress(), 0.0);
    for (slot, usage) in run(1.0).into_iter().enumerate() {
        tracker.observe(usage, SLOT_MS);
        let (expected, progress) = ((slot + 1) as f64 / 60.0, tracker.progress());
        assert!((progress - expected).abs() < 0.1, "{expected}: {progress}");
    }
}

#[test]
fn a_slow_run_is_half_done_after_half_of_its_own_time() {
    let mut tracker = tracker();
    observe(&mut tracker, &run(1.5)[..45]);
    let progress = tracker.progress();
    assert!((progress - 0.5).abs() < 0.1, "{progress}");
}

#[test]
fn a_late_start_is_no_progress() {
    let mut tracker = tracker();
    observe(&mut tracker, &[IDLE; 20]);
    let progress = tracker.progress();
    assert!(progress < 0.15, "{progress}");
    observe(&mut tracker, &run(1.0)[..30]);
    let progress = tracker.progress();
    assert!((progress - 0.5).abs() < 0.12, "{progress}");
}

#[test]
fn one_that_takes_over_in_the_middle_is_followed_from_there() {
    let demand = Demand::series(SLOT_MS, &run(1.0)).unwrap();
    let mut tracker = LateTracker::new(&demand, 0.5);
    assert_eq!(tracker.progress(), 0.5);
    for (slot, usage) in run(1.0).into_iter().enumerate().skip(30) {
        tracker.observe(usage, SLOT_MS);
        let (at, seen) = ((slot + 1) as f64 / 60.0, tracker.progress());
        assert!((seen - at).abs() < 0.1, "{at}: {seen}");
    }
}

#[test]
fn one_that_was_taken_to_take_over_and_begins_anew_is_seen_to() {
    let demand = Demand::series(SLOT_MS, &run(1.0)).unwrap();
    let mut tracker = LateTracker::new(&demand, 0.5);
    for (slot, usage) in run(1.0).into_iter().enumerate() {
        tracker.observe(usage, SLOT_MS);
        let (at, seen) = ((slot + 1) as f64 / 60.0, tracker.progress());
        if slot >= 3 {
            assert!((seen - at).abs() < 0.1, "{at}: {seen}");
        }
    }
}
