mod executor;

use std::fs::{self, File, OpenOptions};

use nix::{sys::stat::Mode, unistd::mkfifo};

use super::*;
use crate::{
    actuators::{LimitFile, Owner, Value},
    agent::actuator::bench::{Bench, MIB, WATCH},
    memory_watch::{limit_that_wakes_at, wake_at},
};

/// As many as there are threads.
const THREADS: usize = 3;
const FILE: &str = "memory.limit_in_bytes";

/// Groups whose limits a thread each writes, until somebody reads them.
struct Stuck(Vec<tempfile::TempDir>);

impl Stuck {
    fn all_threads_of(bench: &mut Bench) -> Self {
        let groups: Vec<_> = (0..THREADS).map(|_| tempfile::tempdir().unwrap()).collect();
        for group in &groups {
            mkfifo(&group.path().join(FILE), Mode::S_IRWXU).unwrap();
            lower(bench, group.path());
        }
        Self(groups)
    }

    /// Lets the threads go on, and waits until they have written all limits.
    fn release(self, bench: &mut Bench) {
        let _readers = self.readers();
        bench.wait_for_threads();
    }

    /// Lets the threads go on.
    fn readers(&self) -> Vec<File> {
        let read_and_write = OpenOptions::new().read(true).write(true).clone();
        let open =
            |group: &tempfile::TempDir| read_and_write.open(group.path().join(FILE)).unwrap();
        self.0.iter().map(open).collect()
    }
}

fn lower(bench: &mut Bench, group: &Path) {
    let (file, value) = (LimitFile::MemoryLimit, Value::AtMost(5));
    let change = Change { group: group.into(), file, value };
    bench.actuator.lowerings.reclaims.lower(change).unwrap();
}

/// A container below 800 MiB, most of which page cache fills.
fn bench_with_page_cache() -> Bench {
    bench_of(Owner::Agent)
}

fn bench_of(owner: Owner) -> Bench {
    let mut bench = Bench::of(owner);
    bench.limit(800);
    bench.set("memory.current", &(600 * MIB).to_string());
    bench
}

#[test]
fn a_plan_ends_on_time_while_every_thread_is_stuck() {
    let mut bench = bench_with_page_cache();
    let [max, high] = bench.max_and_high();
    let stuck = Stuck::all_threads_of(&mut bench);
    bench.limit(160);
    assert_eq!(bench.max_and_high(), [max, high], "a thread is to write it");
    let lowered = bench.in_force().unwrap();
    assert!(lowered < max, "{lowered}");
    bench.limit(160);
    assert_eq!(bench.in_force(), Some(lowered), "one step at a time");
    bench.lift();
    let is_lifted = |bench: &Bench| {
        let files = ["memory.max", "memory.high"];
        files.iter().all(|file| bench.text(file) == "max") && bench.in_force().is_none()
    };
    assert!(is_lifted(&bench));
    stuck.release(&mut bench);
    assert!(is_lifted(&bench), "{} after the writes", bench.text("memory.high"));
}

#[test]
fn while_a_limit_is_lowered_it_rises_at_once_so_far_that_the_kernel_reclaims_nothing() {
    for (charged_mib, raised_bytes) in [(600, 700 * MIB), (690, limit_that_wakes_at(690 * MIB))] {
        let mut bench = bench_with_page_cache();
        let stuck = Stuck::all_threads_of(&mut bench);
        bench.limit(160);
        bench.set("memory.current", &(charged_mib * MIB).to_string());
        bench.limit(700);
        let raised = [raised_bytes, wake_at(raised_bytes)];
        assert_eq!((bench.max_and_high(), bench.in_force()), (raised, Some(raised_bytes)));
        assert!(raised[1] >= charged_mib * MIB);
        stuck.release(&mut bench);
        assert_eq!(bench.max_and_high(), raised, "the thread has left it");
        bench.set("memory.current", &(600 * MIB).to_string());
        bench.limit(700);
        assert_eq!(bench.max_and_high(), [700 * MIB, wake_at(700 * MIB)], "down to the plan");
    }
}

#[test]
fn a_raise_without_the_agent_outlasts_a_write_that_ends_after_it() {
    let mut bench = bench_with_page_cache();
    let stuck = Stuck::all_threads_of(&mut bench);
    bench.limit(160);
    bench.allow_raises();
    bench.hold(790);
    bench.actuator.urgent_raises.raise(WATCH);
    let risen = bench.max_and_high();
    assert!(risen[0] > 800 * MIB, "{risen:?}");
    // The sensor has not read the new memory yet, but nothing is lowered before the write has ended.
    bench.limit(160);
    assert_eq!(bench.in_force(), Some(risen[0]));
    stuck.release(&mut bench);
    assert_eq!(bench.max_and_high(), risen);
}

#[test]
fn a_limit_that_was_not_lowered_counts_as_the_one_before_and_is_lowered_later() {
    let mut bench = bench_with_page_cache();
    let before = bench.max_and_high();
    let sealed = bench.seal("memory.high");
    bench.limit(160);
    let lowered = bench.in_force().unwrap();
    bench.wait_for_threads();
    assert_eq!((bench.troubles("limits"), bench.max_and_high()), (1, before));
    bench.unseal("memory.high");
    drop(sealed);
    // The next round finds the limit before, and makes the same step again.
    bench.limit(160);
    bench.wait_for_threads();
    assert_eq!(bench.max_and_high(), [before[0], wake_at(lowered)]);
}

#[test]
fn a_limit_that_somebody_lifted_after_its_write_is_written_again() {
    let mut bench = bench_with_page_cache();
    // A step of 64 MiB.
    bench.set("memory.current", &(wake_at(640 * MIB) + 64 * MIB).to_string());
    bench.limit(160);
    bench.wait_for_threads();
    assert_eq!(bench.max_and_high(), [800 * MIB, wake_at(640 * MIB)]);
    for file in ["memory.max", "memory.high"] {
        bench.set(file, "max");
    }
    bench.set("memory.current", &(100 * MIB).to_string());
    // The value that the thread has written, now by the agent.
    bench.limit(640);
    assert_eq!(bench.max_and_high(), [640 * MIB, wake_at(640 * MIB)]);
}

#[test]
fn a_group_is_not_removed_while_its_limit_is_written() {
    let mut bench = Bench::new();
    let stuck = Stuck::all_threads_of(&mut bench);
    let directory = tempfile::tempdir().unwrap();
    let group = directory.path().join("group");
    fs::create_dir(&group).unwrap();
    lower(&mut bench, &group);
    bench.actuator.leaving.insert(group.clone());
    bench.actuator.remove_leaving();
    assert!(group.exists());
    assert_eq!(bench.actuator.open_elsewhere(), THREADS, "it counts as a group that stays");
    stuck.release(&mut bench);
    bench.actuator.remove_leaving();
    assert!(!group.exists() && bench.actuator.leaving.is_empty());
}
