use proptest::prelude::*;

use super::*;

const MIB: u64 = 1024 * 1024;
const MARGIN: u64 = 64 * MIB;
const PATIENCE: Duration = Duration::from_secs(20);

/// A container whose limit follows its resident memory down to the plan.
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

    fn follow(&mut self, second: u64, planned: Option<u64>, resident: u64) -> Vec<HeapStep> {
        let reading = ContainerMemory {
            resident_bytes: resident * MIB,
            margin_bytes: MARGIN,
            limit_bytes: self.limit,
        };
        let now = self.start + Duration::from_secs(second);
        let planned = planned.map(|mib| mib * MIB);
        let steps = self.follower.follow(planned, reading, now);
        self.limit = planned.map(|bytes| bytes.max(resident * MIB + MARGIN));
        steps
    }
}

fn ask(mib: u64) -> HeapStep {
    HeapStep::Shrink { limit_bytes: mib * MIB }
}

fn grow(mib: u64) -> HeapStep {
    HeapStep::Grow { limit_bytes: mib * MIB }
}

#[test]
fn the_jvm_is_asked_and_waited_for() {
    let mut container = Container::new(Some(800));
    assert_eq!(container.follow(0, Some(200), 700), [ask(200)]);
    assert_eq!(container.follow(1, Some(200), 400), []);
    assert_eq!(container.follow(2, Some(200), 137), []);
    assert_eq!(container.follow(3, Some(200), 136), [HeapStep::Hold]);
    assert_eq!(container.follow(4, Some(200), 100), []);
}

#[test]
fn the_jvm_is_told_when_the_limit_rises() {
    let mut container = Container::new(Some(800));
    container.follow(0, Some(200), 700);
    container.follow(1, Some(200), 100);
    assert_eq!(container.follow(2, Some(600), 100), [grow(600)]);
    assert_eq!(container.follow(3, Some(600), 500), []);
}

#[test]
fn a_jvm_whose_limit_never_fell_is_told_to_grow_with_the_plan() {
    let mut container = Container::new(Some(800));
    assert_eq!(container.follow(0, Some(200), 700), [ask(200)]);
    container.limit = Some(800 * MIB);
    assert_eq!(container.follow(1, Some(800), 700), [grow(800)]);
    assert_eq!(container.follow(2, Some(800), 700), []);
}

#[test]
fn a_jvm_that_was_never_asked_is_not_told_to_grow() {
    let mut container = Container::new(Some(300));
    assert_eq!(container.follow(0, Some(600), 100), []);
    assert_eq!(container.follow(1, None, 100), []);
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
    let gave_up = [HeapStep::GaveUp { above_plan_bytes }, HeapStep::Hold];
    assert_eq!(container.follow(20, Some(200), 500), gave_up);
    assert_eq!(container.follow(60, Some(200), 500), []);
    // Later it fits after all.
    assert_eq!(container.follow(61, Some(200), 100), []);
    assert_eq!(container.follow(62, Some(200), 100), []);
}

#[test]
fn a_jvm_that_grows_above_the_plan_is_asked_again() {
    let mut container = Container::new(Some(800));
    container.follow(0, Some(200), 700);
    assert_eq!(container.follow(1, Some(200), 100), [HeapStep::Hold]);
    assert_eq!(container.follow(3, Some(200), 180), []);
    assert_eq!(container.follow(8, Some(200), 180), [ask(200)]);
    assert_eq!(container.follow(9, Some(200), 120), [HeapStep::Hold]);
}

#[test]
fn a_plan_that_ends_is_forgotten() {
    let mut container = Container::new(Some(800));
    assert_eq!(container.follow(0, Some(200), 700), [ask(200)]);
    assert_eq!(container.follow(1, None, 700), []);
    assert_eq!(container.follow(2, Some(200), 700), [ask(200)]);
}

#[test]
fn a_heap_leaves_room_for_memory_outside_of_it() {
    let heap = |committed| heap_for_limit(400 * MIB, 300 * MIB, committed * MIB, MARGIN) / MIB;
    assert_eq!(heap(200), 400 - 100 - 64);
    assert_eq!(heap(290), 400 - 48 - 64);
    assert_eq!(heap_for_limit(MIB, 0, 0, MARGIN), 0);
}

proptest! {
    /// A JVM is asked only to fit a planned limit that it exceeds. It is told to hold or to grow only
    /// if it was asked before, and to grow only up to the plan.
    #[test]
    fn only_a_jvm_that_was_asked_holds_or_grows(
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
            let steps = container.follow(second, planned, resident);
            if planned.is_none() {
                prop_assert!(steps.is_empty());
                asked = None;
            }
            let planned = planned.unwrap_or_default() * MIB;
            let least = resident * MIB + MARGIN;
            for step in steps {
                match step {
                    HeapStep::Shrink { limit_bytes } => {
                        prop_assert!(limit_bytes == planned && least > planned);
                        asked = Some(limit_bytes);
                    }
                    HeapStep::Hold => prop_assert!(asked.is_some_and(|asked| asked >= planned)),
                    HeapStep::Grow { limit_bytes } => {
                        prop_assert!(limit_bytes == planned && asked.take().is_some());
                    }
                    HeapStep::GaveUp { above_plan_bytes } => {
                        prop_assert_eq!(above_plan_bytes, least - planned);
                    }
                }
            }
            if fails {
                // The kernel refused the limit.
                container.limit = before;
            }
        }
    }
}
