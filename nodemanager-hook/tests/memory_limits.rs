//! Memory limits in real cgroups of either version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, on_disk, wait_until};
use elastane_agent::memory_watch::wake_at;
use elastane_protocol::{Limits, Report, Usage};
use nix::sys::{signal::Signal, sysinfo::sysinfo};

const MIB: u64 = 1 << 20;
const MAX_DELAY: Duration = Duration::from_millis(50);

fn memory(bytes: u64) -> Limits {
    Limits { memory_bytes: Some(bytes), ..Limits::default() }
}

/// A process that allocates memory once `DIRECTORY/take` exists, then creates `DIRECTORY/taken`.
fn takes(bytes: u64, directory: &Path) -> Tree {
    Tree::new(&format!(
        "python3 -c '
import os, time
directory = \"{}\"
while not os.path.exists(directory + \"/take\"): time.sleep(0.02)
held = bytearray({bytes})
open(directory + \"/taken\", \"w\").close()
time.sleep(60)' & wait",
        directory.display()
    ))
}

fn newest(report: &Report, tree: &Tree) -> Option<Usage> {
    let mut containers = report.containers.iter();
    let container = containers.find(|container| container.container == tree.id)?;
    Some(container.samples.last()?.usage)
}

fn in_force(agent: &Agent, tree: &Tree) -> Option<u64> {
    let report = agent.report();
    let mut containers = report.containers.iter();
    let container = containers.find(|container| container.container == tree.id);
    container?.limits?.memory_bytes
}

#[test]
fn a_memory_limit_bounds_page_cache_and_ends_with_the_plan() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    // Without a disk behind the file, the kernel could not free its pages.
    let directory = on_disk();
    let file = directory.path().join("cached");
    let tree = Tree::new(&format!(
        "while [ ! -e {file}.go ]; do sleep 0.05; done
         dd if=/dev/zero of={file} bs=1M count=256 conv=fsync status=none
         touch {file}.done; sleep 600",
        file = file.display()
    ));
    agent.runs(&[&tree]);
    let limit = 128 * MIB;
    agent.apply(60_000, vec![tree.limited(memory(limit))]);
    wait_until("the limit is in force", || parent.memory_limit(&tree) == Some(limit));
    assert_eq!(in_force(&agent, &tree), Some(limit));
    fs::write(format!("{}.go", file.display()), "").unwrap();
    let mut most = 0;
    wait_until("the file is written", || {
        most = most.max(parent.memory_charged(&tree));
        Path::new(&format!("{}.done", file.display())).exists()
    });
    assert!((limit / 2..=limit).contains(&most), "{most} bytes charged");
    wait_until("its pages are measured", || {
        newest(&agent.report(), &tree).is_some_and(|usage| usage.file_bytes > 10 * MIB)
    });
    agent.apply(60_000, Vec::new());
    assert!(!tree.is_in_group_for("memory"));
    let reasons = agent.audited();
    assert_eq!(reasons.first().unwrap(), "plan_step");
    assert_eq!(reasons.last().unwrap(), "not_in_plan");
}

/// Page tables of a process that reads memory which it never wrote: a page of them for each 2 MiB.
#[test]
fn a_memory_limit_is_never_below_what_the_kernel_holds_for_the_container() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let [take, taken] = ["take", "taken"].map(|name| directory.path().join(name));
    let bytes = 512 * MIB;
    let tree = Tree::new(&format!(
        "python3 -c '
import mmap, os, time
while not os.path.exists(\"{}\"): time.sleep(0.02)
NO_RESERVE = 0x4000
size = {bytes} // 4096 * (2 << 20)
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
held = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ)
held.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, size, 2 << 20): held[at]
open(\"{}\", \"w\").close()
time.sleep(600)' & wait",
        take.display(),
        taken.display()
    ));
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(2 << 30))]);
    wait_until("the limit is in force", || parent.memory_limit(&tree) == Some(2 << 30));
    fs::write(&take, "").unwrap();
    wait_until("its memory is taken", || taken.exists());
    wait_until("its memory is measured", || {
        newest(&agent.report(), &tree).is_some_and(|usage| usage.memory_bytes > bytes)
    });
    agent.apply(60_000, vec![tree.limited(memory(16 * MIB))]);
    wait_until("the limit comes down", || {
        parent.memory_limit(&tree).is_some_and(|limit| limit < 1 << 30)
    });
    let limit = parent.memory_limit(&tree).unwrap();
    assert!(limit >= bytes + 64 * MIB, "{limit}");
    assert_eq!(tree.processes().len(), 2, "it was killed");
}

#[test]
fn a_memory_limit_is_never_below_resident_memory() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let tree = takes(200 * MIB, directory.path());
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(1 << 30))]);
    wait_until("the limit is in force", || parent.memory_limit(&tree) == Some(1 << 30));
    fs::write(directory.path().join("take"), "").unwrap();
    wait_until("the memory is taken and measured", || {
        let usage = newest(&agent.report(), &tree);
        usage.is_some_and(|usage| usage.anonymous_bytes > 200 * MIB)
    });
    // Far below resident memory: the container is not killed, and the limit stays above.
    agent.apply(60_000, vec![tree.limited(memory(16 * MIB))]);
    wait_until("the limit comes down", || {
        parent.memory_limit(&tree).is_some_and(|limit| limit < 512 * MIB)
    });
    let limit = parent.memory_limit(&tree).unwrap();
    assert!(limit >= 264 * MIB, "{limit}");
    assert_eq!(tree.processes().len(), 2, "it was killed");
    assert_eq!(in_force(&agent, &tree), Some(limit));
    let audited = agent.audited();
    assert!(audited.iter().all(|reason| reason == "plan_step"), "{audited:?}");
}

/// The delays of the raises until `is_over` while `counts`: from the moment when the group's charged memory is near
/// the limit to the moment when the limit is higher. If both fall between two polls, the delay counts
/// from the earlier poll.
fn delays_of_raises(
    parent: &Parent,
    tree: &Tree,
    is_over: &AtomicBool,
    counts: impl Fn() -> bool,
) -> Vec<Duration> {
    let mut delays = Vec::new();
    let (mut limit, mut not_near) = (parent.memory_limit(tree), Instant::now());
    while !is_over.load(Ordering::Relaxed) {
        let now = parent.memory_limit(tree);
        if now > limit && counts() {
            delays.push(not_near.elapsed());
        }
        let looked = Instant::now();
        let is_near = now.is_some_and(|now| parent.memory_charged(tree) >= wake_at(now));
        if now > limit || !is_near {
            not_near = looked;
        }
        limit = now;
        thread::sleep(Duration::from_micros(200));
    }
    delays
}

/// Ends `delays_of_raises` even when the test fails, since a scope waits for its threads.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A process that grows to 512 MiB once `DIRECTORY/take` exists, then creates `DIRECTORY/taken`.
fn grows(directory: &Path) -> Tree {
    Tree::new(&format!(
        "python3 -c '
import os, time
directory = \"{}\"
while not os.path.exists(directory + \"/take\"): time.sleep(0.02)
held = []
for _ in range(64):
    held.append(bytearray(8 << 20))
    time.sleep(0.02)
open(directory + \"/taken\", \"w\").close()
time.sleep(60)' & wait",
        directory.display()
    ))
}

/// Lets the process of [`grows`] grow; returns the delays of the raises while `counts`, the shortest first.
fn delays_of_growth(
    parent: &Parent,
    tree: &Tree,
    directory: &Path,
    counts: impl Fn() -> bool + Send,
) -> Vec<Duration> {
    let is_over = AtomicBool::new(false);
    let mut delays = thread::scope(|scope| {
        let _over = Over(&is_over);
        let delays = scope.spawn(|| delays_of_raises(parent, tree, &is_over, counts));
        fs::write(directory.join("take"), "").unwrap();
        wait_until("the memory is taken, unless it was killed", || {
            directory.join("taken").exists()
        });
        is_over.store(true, Ordering::Relaxed);
        delays.join().unwrap()
    });
    let limit = parent.memory_limit(tree);
    assert!(limit.is_some_and(|limit| limit > 512 * MIB), "{limit:?}");
    delays.sort_unstable();
    println!("raised after {delays:?}");
    delays
}

fn assert_within_50_ms(delays: &[Duration]) {
    // The longest may be due to a busy machine.
    assert!(delays.len() >= 3, "{delays:?}");
    let most = MAX_DELAY * common::times_slower();
    assert!(delays[delays.len() / 2] < most, "{delays:?}");
    assert!(delays[delays.len() - 1] < 4 * most, "{delays:?}");
}

#[test]
fn the_limit_of_a_fast_growing_container_rises_within_50_ms_of_the_wake() {
    let Some(parent) = Parent::new() else { return };
    // Readings are too rare to help.
    let agent = Agent::start_reading_seldom(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let tree = grows(directory.path());
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(160 * MIB))]);
    wait_until("the limit is in force", || parent.memory_limit(&tree) == Some(160 * MIB));
    let delays = delays_of_growth(&parent, &tree, directory.path(), || true);
    assert_within_50_ms(&delays);
    wait_until("all raises are in the audit file", || {
        let audited = agent.audited();
        audited.iter().filter(|reason| *reason == "follows_use").count() >= delays.len()
    });
}

#[test]
fn a_limit_rises_as_fast_while_the_page_cache_of_another_container_shrinks() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start_reading_each_second(&parent.name);
    let (directory, disk) = (tempfile::tempdir().unwrap(), on_disk());
    let cached_bytes = (sysinfo().unwrap().ram_total() / 3).min(1 << 30);
    // A limit within some margins of the planned one is left as it is.
    let (planned_bytes, shrunk_bytes) = (64 * MIB, 256 * MIB);
    let file = disk.path().join("cached");
    // A hole is read without the disk.
    fs::File::create(&file).unwrap().set_len(cached_bytes).unwrap();
    let go = disk.path().join("go");
    let script = "until [ -e $1 ]; do sleep 0.05; done; cat $0 >/dev/null; sleep 600";
    let other = Tree::new(&format!("sh -c '{script}' {} {} & wait", file.display(), go.display()));
    let tree = grows(directory.path());
    agent.runs(&[&tree, &other]);
    let plans = |of_other| vec![tree.limited(memory(160 * MIB)), other.limited(memory(of_other))];
    agent.apply(600_000, plans(8 << 30));
    wait_until("the limits are in force", || {
        [&tree, &other].map(|one| parent.memory_limit(one)) == [Some(160 * MIB), Some(8 << 30)]
    });
    fs::write(&go, "").unwrap();
    let most = cached_bytes / 10 * 9;
    wait_until("the file is cached", || parent.memory_charged(&other) > most);
    agent.apply(600_000, plans(planned_bytes));
    wait_until("it shrinks", || parent.memory_charged(&other) < most);
    let is_shrinking = || parent.memory_limit(&other) > Some(shrunk_bytes);
    let delays = delays_of_growth(&parent, &tree, directory.path(), is_shrinking);
    match common::times_slower() {
        1 => assert_within_50_ms(&delays),
        // On emulated processors the kernel reclaims one step for a second.
        _ => assert!(delays.iter().any(|delay| *delay < Duration::from_secs(2)), "{delays:?}"),
    }
    wait_until("it has shrunk", || !is_shrinking());
}

#[test]
fn memory_charged_before_the_move_is_limited_only_if_the_kernel_moves_charges() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("take"), "").unwrap();
    let tree = takes(100 * MIB, directory.path());
    wait_until("the memory is taken", || directory.path().join("taken").exists());
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(1 << 30))]);
    assert!(tree.is_in_group_for("memory"));
    let sequence = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= sequence + 2);
    // In either case the memory is measured.
    let charged = parent.memory_charged(&tree);
    assert_eq!(parent.memory_limit(&tree).is_some(), charged > 90 * MIB);
    let usage = newest(&agent.report(), &tree).unwrap();
    assert!(usage.memory_bytes > 100 * MIB, "{usage:?}");
}

#[test]
fn while_a_plan_limits_memory_a_container_enters_a_memory_group_on_arrival() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (one, other) = (Tree::new("sleep 600"), Tree::new("sleep 600"));
    agent.runs(&[&one]);
    agent.apply(60_000, vec![one.limited(memory(1 << 30))]);
    agent.runs(&[&one, &other]);
    assert!(other.is_in_group_for("memory"));
    assert_eq!(parent.memory_limit(&other), None);
    assert_eq!(other.is_in_group_for("cpu"), parent.is_version_2());
    agent.apply(60_000, Vec::new());
    assert!(!other.is_in_group_for("memory"));
    assert_eq!(parent.inner(), 0);
}

#[test]
fn with_from_arrival_a_container_is_in_its_groups_without_a_plan() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::prepare_with(&parent.name, "", "");
    let sections = fs::read_to_string(agent.config()).unwrap();
    let from_arrival = sections.replace("[cgroup]", "[cgroup]\nfrom_arrival = true");
    fs::write(agent.config(), from_arrival).unwrap();
    agent.start_again();
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    wait_until("it is in a memory group", || tree.is_in_group_for("memory"));
    assert_eq!(parent.memory_limit(&tree), None);
    wait_until("its network is counted", || {
        agent.status()["containers"][0]["is_network_counted"] == true
    });
    agent.apply(60_000, vec![tree.limited(memory(1 << 30))]);
    assert_eq!(parent.memory_limit(&tree), Some(1 << 30));
    agent.apply(60_000, Vec::new());
    assert_eq!(parent.memory_limit(&tree), None);
    assert!(tree.is_in_group_for("memory"), "it left");
    assert!(agent.signal(Signal::SIGTERM).success());
    assert!(!tree.is_in_group_for("memory"), "it was not moved back");
}
