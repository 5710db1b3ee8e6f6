use proptest::prelude::*;

use super::*;

const MIB: u64 = 1024 * 1024;
const MARGIN: u64 = 64 * MIB;
const PATIENCE: Duration = Duration::from_secs(20);

/// A container whose steps are carried out at once.
struct Container {
    follower: HeapFollower,
    start: Instant,
    limit: Option<u64>,
}

impl Container {
    fn new(limit_mib: Option<u64>) -> Self {
        Self {
            follower: HeapFollower::new(PATIENCE),
            start: Instant::now(),
            limit: limit_mib.map(|mib| mib * MIB),
        }
    }

    fn follow(&mut self, second: u64, planned: Option<u64>, resident: u64) -> Vec<Step> {
        let reading = ContainerMemory {
            resident_bytes: resident * MIB,
            margin_bytes: MARGIN,
            limit_bytes: self.limit,
        };
        let now = self.start + Duration::from_secs(second);
        let planned = planned.map(|mib| mib * MIB);
        let steps = self.follower.follow(planned, reading, now);
        for step in &steps {
            if let Step::SetLimit { bytes } = step {
                self.limit = *bytes;
            }
        }
        steps
    }
}

fn limit(mib: u64) -> Step {
    set(mib * MIB)
}

fn ask(mib: u64) -> Step {
    Step::Shrink { limit_bytes: mib * MIB }
}

#[test]
fn the_jvm_is_asked_and_waited_for_before_the_limit_falls() {
    let mut container = Container::new(Some(800));
    assert_eq!(container.follow(0, Some(200), 700), [ask(200)]);
    assert_eq!(container.follow(1, Some(200), 400), []);
    assert_eq!(container.follow(2, Some(200), 137), []);
    assert_eq!(container.follow(3, Some(200), 136), [limit(200)]);
    assert_eq!(container.follow(4, Some(200), 100), [Step::Hold]);
    assert_eq!(container.follow(5, Some(200), 100), []);
}

#[test]
fn the_limit_rises_before_the_jvm_is_told() {
    let mut container = Container::new(Some(800));
    container.follow(0, Some(200), 100);
    container.follow(1, Some(200), 100);
    let limit_bytes = Some(600 * MIB);
    let grown = [limit(600), Step::Grow { limit_bytes }];
    assert_eq!(container.follow(2, Some(600), 100), grown);
    assert_eq!(container.follow(3, Some(600), 500), []);
}

#[test]
fn a_jvm_whose_limit_never_fell_is_told_to_grow_with_the_plan() {
    let mut container = Container::new(Some(800));
    assert_eq!(container.follow(0, Some(200), 700), [ask(200)]);
    let limit_bytes = Some(800 * MIB);
    let grown = [Step::Grow { limit_bytes }];
    assert_eq!(container.follow(1, Some(800), 700), grown);
    assert_eq!(container.follow(2, Some(800), 700), []);
}

#[test]
fn a_jvm_that_was_never_asked_is_not_told_to_grow() {
    let mut container = Container::new(Some(300));
    assert_eq!(container.follow(0, Some(600), 100), [limit(600)]);
    assert_eq!(container.follow(1, None, 100), [Step::SetLimit { bytes: None }]);
    assert_eq!(container.follow(2, None, 100), []);
}

#[test]
fn a_jvm_that_does_not_shrink_is_asked_again_and_then_given_up() {
    let mut container = Container::new(None);
    assert_eq!(container.follow(0, Some(200), 700), [ask(200)]);
    assert_eq!(container.follow(4, Some(200), 600), []);
    assert_eq!(container.follow(5, Some(200), 500), [ask(200)]);
    assert_eq!(container.follow(9, Some(200), 500), []);
    let above_plan_bytes = 364 * MIB;
    let gave_up = [limit(564), Step::GaveUp { above_plan_bytes }, Step::Hold];
    assert_eq!(container.follow(20, Some(200), 500), gave_up);
    assert_eq!(container.follow(60, Some(200), 500), []);
    // Later it fits after all.
    assert_eq!(container.follow(61, Some(200), 100), [limit(200)]);
    assert_eq!(container.follow(62, Some(200), 100), []);
}

#[test]
fn a_jvm_that_grows_above_the_plan_gets_room_and_is_asked_again() {
    let mut container = Container::new(Some(800));
    container.follow(0, Some(200), 100);
    container.follow(1, Some(200), 100);
    container.follow(2, Some(200), 100);
    assert_eq!(container.follow(3, Some(200), 180), [limit(244)]);
    assert_eq!(container.follow(8, Some(200), 180), [ask(200)]);
    assert_eq!(container.follow(9, Some(200), 120), [limit(200)]);
}

#[test]
fn a_plan_that_ends_lifts_the_limit_first() {
    let mut container = Container::new(Some(800));
    container.follow(0, Some(200), 100);
    let limit_bytes = None;
    let lifted = [Step::SetLimit { bytes: None }, Step::Grow { limit_bytes }];
    assert_eq!(container.follow(1, None, 100), lifted);
}

#[test]
fn a_heap_leaves_room_for_memory_outside_of_it() {
    let heap = |committed| heap_for_limit(400 * MIB, 300 * MIB, committed * MIB, MARGIN) / MIB;
    assert_eq!(heap(200), 400 - 100 - 64);
    assert_eq!(heap(290), 400 - 48 - 64);
    assert_eq!(heap_for_limit(MIB, 0, 0, MARGIN), 0);
}

proptest! {
    /// After every reading the limit has its margin. It falls only if an earlier reading asked the
    /// JVM. A JVM is told to grow only after the limit has risen.
    #[test]
    fn the_limit_keeps_its_margin_above_resident_memory(
        first in prop::option::of(0_u64..2000),
        readings in prop::collection::vec(
            (0_u64..8, prop::option::of(0_u64..2000), 0_u64..1500, any::<bool>()), 1..60),
    ) {
        let mut container = Container::new(first);
        let mut second = 0;
        let mut asked = None;
        for (pause, planned, resident, fails) in readings {
            second += pause;
            let before = container.limit;
            let asked_before = asked;
            let steps = container.follow(second, planned, resident);
            for (index, step) in steps.iter().enumerate() {
                match step {
                    Step::Shrink { limit_bytes } => asked = Some(*limit_bytes),
                    Step::SetLimit { bytes: Some(bytes) } => {
                        prop_assert!(*bytes >= resident * MIB + MARGIN);
                        if before.is_none_or(|before| *bytes < before) {
                            prop_assert_eq!(asked_before, planned.map(|mib| mib * MIB));
                        }
                    }
                    Step::Grow { limit_bytes } => {
                        asked = None;
                        // After the limit, unless there was none or it was high enough.
                        let is_enough = before.is_none_or(|before| Some(before) >= *limit_bytes);
                        prop_assert!(index > 0 || is_enough);
                        prop_assert!(container.limit.is_none_or(|now| Some(now) >= *limit_bytes));
                    }
                    _ => {}
                }
            }
            let has_margin = |limit: u64| limit >= resident * MIB + MARGIN;
            prop_assert!(container.limit.is_none_or(has_margin));
            if fails {
                // The kernel refused the limit.
                container.limit = before;
            }
        }
    }
}
