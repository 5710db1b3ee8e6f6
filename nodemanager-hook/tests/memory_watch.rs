//! Real groups that approach their memory limits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

#[path = "common/memory_group.rs"]
mod memory_group;

use std::{
    fs,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use elastane_agent::memory_watch::{
    Cause, Follower, MemoryWatch, UrgentRaises, Version, Wake, WatchId, wake_at,
};
use memory_group::{MIB, MemoryGroup, grow_and_wait, wait_until};

const FIRST_LIMIT: u64 = 200;
const RAISED_BY: u64 = 200 * MIB;
/// Half a gigabyte per second.
const PAUSE_FOR_EACH_MIB: Duration = Duration::from_micros(1900);
const MOST_DELAY: Duration = Duration::from_millis(50);
const PROMPTLY: Duration = Duration::from_secs(5);

/// Runs one test at a time: the tests count the descriptors of the process and fill memory.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of a process that grows; not a test.
#[test]
#[ignore = "started by the tests as a process of its own"]
fn grows() {
    grow_and_wait();
}

/// The time at which the group passes a usage, found by polling.
fn watch_usage(group: &MemoryGroup, bytes: u64, is_over: &AtomicBool) -> Option<Instant> {
    while !is_over.load(Ordering::Relaxed) {
        if group.usage() >= bytes {
            return Some(Instant::now());
        }
        thread::sleep(Duration::from_micros(200));
    }
    None
}

/// Raises the limit at each wake; returns the time of the first wake.
fn raise_when_woken(group: &MemoryGroup, is_over: &AtomicBool) -> Option<Instant> {
    let watch = MemoryWatch::new().unwrap();
    let mut limit = FIRST_LIMIT * MIB;
    let id = watch.watch(&group.path, group.version, limit).unwrap();
    let mut first = None;
    while !is_over.load(Ordering::Relaxed) {
        for wake in watch.wait(Duration::from_millis(100)).unwrap() {
            first.get_or_insert_with(Instant::now);
            let is_near = matches!(wake.cause, Cause::NearLimit { .. });
            assert!(is_near, "{wake:?}");
            limit += RAISED_BY;
            group.set_limit(limit);
            assert!(watch.rearm(id, limit).unwrap());
        }
    }
    first
}

#[test]
fn a_wake_comes_in_time_to_raise_the_limit() {
    let _alone = alone();
    let group = MemoryGroup::new(FIRST_LIMIT);
    let is_over = AtomicBool::new(false);
    let (passed, woken, has_grown) = thread::scope(|scope| {
        let passed = scope.spawn(|| watch_usage(&group, wake_at(FIRST_LIMIT * MIB), &is_over));
        let woken = scope.spawn(|| raise_when_woken(&group, &is_over));
        let has_grown = group.grow(500, PAUSE_FOR_EACH_MIB).has_grown();
        is_over.store(true, Ordering::Relaxed);
        (passed.join().unwrap(), woken.join().unwrap(), has_grown)
    });
    assert!(has_grown, "the process was killed");
    let delay = woken.unwrap().saturating_duration_since(passed.unwrap());
    println!("woken after {} us", delay.as_micros());
    assert!(delay < MOST_DELAY, "{delay:?}");
}

/// The control of the test above.
#[test]
fn without_a_watch_a_growing_process_hits_its_limit() {
    let _alone = alone();
    let group = MemoryGroup::new(FIRST_LIMIT);
    if group.version == Version::Two {
        fs::write(group.path.join("memory.high"), "max").unwrap();
    }
    assert!(!group.grow(500, Duration::ZERO).has_grown());
}

/// The agent that a [`Follower`] brings wakes to.
type Agent = parking_lot::Mutex<Vec<Wake>>;

/// Lets a process grow beyond the limit of a group while somebody holds the agent. Returns whether it has grown, and the limit
/// that the agent is told of afterwards.
fn grow_while_the_agent_is_busy(mib: u64, is_allowed: bool) -> (bool, Option<u64>) {
    let group = MemoryGroup::new(FIRST_LIMIT);
    let (watch, raises) = (MemoryWatch::new().unwrap(), UrgentRaises::new(64 * MIB));
    let id = watch.watch(&group.path, group.version, FIRST_LIMIT * MIB).unwrap();
    if is_allowed {
        raises.allow(id, &group.path, group.version).unwrap();
    }
    let (agent, is_over) = (Agent::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let busy = agent.lock();
        scope.spawn(|| {
            let mut follower = Follower::new(&watch, &raises, &agent);
            while !is_over.load(Ordering::Relaxed) {
                follower.step(Duration::from_millis(50), |told, wakes| told.extend(wakes)).unwrap();
            }
        });
        let has_grown = group.grow(mib, PAUSE_FOR_EACH_MIB).has_grown();
        drop(busy);
        wait_until("the agent is told", || !agent.lock().is_empty());
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(agent.lock()[0].id, id);
        (has_grown, raises.take(id, Result::unwrap))
    })
}

#[test]
fn a_limit_rises_while_the_agent_is_busy() {
    let _alone = alone();
    let (has_grown, limit) = grow_while_the_agent_is_busy(500, true);
    assert!(has_grown, "the process was killed");
    let limit = limit.expect("the agent is told how far it rose");
    assert!((500 * MIB..1000 * MIB).contains(&limit), "{limit}");
}

/// The control of the test above.
#[test]
fn a_limit_that_is_not_the_agents_alone_waits_for_it() {
    let _alone = alone();
    assert_eq!(grow_while_the_agent_is_busy(500, false), (false, None));
}

#[test]
fn page_cache_raises_no_limit_and_a_forbidden_raise_writes_nothing() {
    let _alone = alone();
    let group = MemoryGroup::new(FIRST_LIMIT);
    let (watch, raises) = (MemoryWatch::new().unwrap(), UrgentRaises::new(64 * MIB));
    let id = watch.watch(&group.path, group.version, FIRST_LIMIT * MIB).unwrap();
    raises.allow(id, &group.path, group.version).unwrap();
    let mut growing = group.grow(60, Duration::ZERO);
    assert!(growing.has_grown());
    raises.raise(id);
    assert!(raises.take(id, drop).is_none(), "a margin and a half are free");
    let limit = 100;
    group.set_limit(limit * MIB);
    raises.raise(id);
    let risen = raises.take(id, Result::unwrap).expect("60 of 100 MiB are held");
    assert!((180 * MIB..=240 * MIB).contains(&risen), "{risen}");
    group.set_limit(limit * MIB);
    raises.forbid(id);
    raises.raise(id);
    assert_eq!(group.limit(), limit * MIB);
}

#[test]
fn a_group_that_is_near_its_limit_already_wakes_at_once() {
    let _alone = alone();
    let group = MemoryGroup::new(400);
    let mut growing = group.grow(150, Duration::ZERO);
    assert!(growing.has_grown());
    let watch = MemoryWatch::new().unwrap();
    let id = watch.watch(&group.path, group.version, 400 * MIB).unwrap();
    assert_eq!(watch.wait(Duration::ZERO).unwrap(), []);
    // On v2 the kernel tells only when a group above `memory.high` takes more memory.
    if group.version == Version::One {
        assert!(watch.rearm(id, FIRST_LIMIT * MIB).unwrap());
        let wakes = watch.wait(PROMPTLY).unwrap();
        let Cause::NearLimit { usage_bytes } = wakes[0].cause else {
            panic!("{wakes:?}");
        };
        assert_eq!(wakes[0].id, id);
        assert!((150 * MIB..200 * MIB).contains(&usage_bytes));
    }
}

#[test]
fn a_fall_below_the_threshold_does_not_wake() {
    let _alone = alone();
    let group = MemoryGroup::new(400);
    let watch = MemoryWatch::new().unwrap();
    let mut growing = group.grow(150, Duration::ZERO);
    assert!(growing.has_grown());
    let limit = (100..).map(|mib| mib * MIB);
    let limit = { limit }.find(|limit| wake_at(*limit) > group.usage() - 20 * MIB);
    watch.watch(&group.path, group.version, limit.unwrap()).unwrap();
    if group.version == Version::One {
        assert_eq!(watch.wait(PROMPTLY).unwrap().len(), 1);
    }
    drop(growing);
    wait_until("the memory is free", || group.usage() < 20 * MIB);
    assert_eq!(watch.wait(Duration::from_millis(100)).unwrap(), []);
}

#[test]
fn a_group_that_is_removed_ends_its_watch() {
    let _alone = alone();
    let group = MemoryGroup::new(FIRST_LIMIT);
    let watch = MemoryWatch::new().unwrap();
    let id = watch.watch(&group.path, group.version, FIRST_LIMIT * MIB).unwrap();
    let version = group.version;
    drop(group);
    // v2 does not tell of a removal: who removes a group must also forget its watch.
    if version == Version::One {
        let cause = Cause::Gone;
        assert_eq!(watch.wait(PROMPTLY).unwrap(), [Wake { id, cause }]);
        assert!(watch.is_empty());
        assert!(!watch.rearm(id, MIB).unwrap());
    }
}

#[test]
fn a_waiting_thread_is_woken_for_a_later_watch() {
    let _alone = alone();
    let group = MemoryGroup::new(FIRST_LIMIT);
    let watch = MemoryWatch::new().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let begun = Instant::now();
            loop {
                let wakes = watch.wait(PROMPTLY).unwrap();
                if !wakes.is_empty() || begun.elapsed() > PROMPTLY {
                    return wakes.first().map(|wake| wake.id);
                }
            }
        });
        let id = watch.watch(&group.path, group.version, FIRST_LIMIT * MIB).unwrap();
        let growing = group.grow(170, PAUSE_FOR_EACH_MIB);
        assert_eq!(waiting.join().unwrap(), Some(id));
        drop(growing);
    });
}

#[test]
fn forgotten_watches_leave_no_descriptors() {
    let _alone = alone();
    let group = MemoryGroup::new(FIRST_LIMIT);
    let watch = MemoryWatch::new().unwrap();
    // Only descriptors of the watches: the test harness opens files of its own.
    let is_a_watchs = |entry: &fs::DirEntry| {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        target.starts_with(&group.path) || target.to_string_lossy().contains("eventfd")
    };
    let descriptors = || {
        let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
        open.filter(is_a_watchs).count()
    };
    let before = descriptors();
    let ids: Vec<WatchId> = (0..100)
        .map(|_| {
            let limit = FIRST_LIMIT * MIB;
            let id = watch.watch(&group.path, group.version, limit).unwrap();
            assert!(watch.rearm(id, 2 * limit).unwrap());
            id
        })
        .collect();
    assert!(descriptors() >= before + 200);
    assert_eq!(watch.len(), 100);
    for id in ids {
        watch.forget(id);
    }
    assert_eq!(descriptors(), before);
    // Nothing keeps the group from being removed.
    let path = group.path.clone();
    fs::remove_dir(&path).unwrap();
    assert_eq!(watch.wait(Duration::from_millis(50)).unwrap(), []);
}
