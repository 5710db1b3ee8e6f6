//! Memory and disk limits in real cgroups of either version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, on_disk, skip, wait_until};
use elastane_agent::memory_watch::wake_at;
use elastane_protocol::{Limits, Report, Usage};
use nix::sys::signal::Signal;

const MIB: u64 = 1 << 20;
const MOST_DELAY: Duration = Duration::from_millis(50);

fn memory(bytes: u64) -> Limits {
    Limits {
        memory_bytes: Some(bytes),
        ..Limits::default()
    }
}

fn disk(bytes_per_s: u64) -> Limits {
    Limits {
        disk_cap_bytes_per_s: Some(bytes_per_s),
        ..Limits::default()
    }
}

/// The section of an agent that limits traffic on the disk behind a directory.
fn local_dirs(directory: &Path) -> String {
    format!("[disk]\nlocal_dirs = [\"{}\"]\n", directory.display())
}

/// A process that takes memory when a file appears, and says so by another one.
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
fn a_memory_limit_holds_page_cache_within_and_goes_with_the_plan() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    // Pages of a file that has no disk could not be given up.
    let directory = on_disk();
    let file = directory.path().join("cached");
    let tree = Tree::new(&format!(
        "while [ ! -e {file}.go ]; do sleep 0.05; done
         dd if=/dev/zero of={file} bs=1M count=256 conv=fsync status=none
         touch {file}.done; sleep 60",
        file = file.display()
    ));
    agent.runs(&[&tree]);
    let limit = 128 * MIB;
    agent.apply(60_000, vec![tree.limited(memory(limit))]);
    wait_until("the limit is in force", || {
        parent.memory_limit(&tree) == Some(limit)
    });
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

#[test]
fn a_memory_limit_is_never_below_what_is_resident_and_comes_down_when_that_does() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let tree = takes(200 * MIB, directory.path());
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(1 << 30))]);
    wait_until("the limit is in force", || {
        parent.memory_limit(&tree) == Some(1 << 30)
    });
    fs::write(directory.path().join("take"), "").unwrap();
    wait_until("the memory is taken and measured", || {
        let usage = newest(&agent.report(), &tree);
        usage.is_some_and(|usage| usage.anonymous_bytes > 200 * MIB)
    });
    // Far below what is resident: nothing is killed, and the limit stays above.
    agent.apply(60_000, vec![tree.limited(memory(16 * MIB))]);
    wait_until("the limit comes down", || {
        parent
            .memory_limit(&tree)
            .is_some_and(|limit| limit < 512 * MIB)
    });
    let limit = parent.memory_limit(&tree).unwrap();
    assert!(limit >= 264 * MIB, "{limit}");
    assert_eq!(tree.processes().len(), 2, "it was killed");
    assert_eq!(in_force(&agent, &tree), Some(limit));
    let audited = agent.audited();
    assert!(
        audited.iter().all(|reason| reason == "plan_step"),
        "{audited:?}"
    );
}

/// How long a memory limit stays once the kernel has told that it is near: from when the group is
/// charged for so much until the limit is higher, for each time until `is_over`. Where both come
/// between two looks, from the former look on.
fn delays_of_raises(parent: &Parent, tree: &Tree, is_over: &AtomicBool) -> Vec<Duration> {
    let mut delays = Vec::new();
    let (mut limit, mut not_near) = (parent.memory_limit(tree), Instant::now());
    while !is_over.load(Ordering::Relaxed) {
        let now = parent.memory_limit(tree);
        if now > limit {
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

/// Says that it is over however it ends: a scope waits for its threads, when it fails, too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_container_that_grows_fast_gets_its_limit_raised_within_50_ms_of_the_kernels_word() {
    let Some(parent) = Parent::new() else { return };
    // No reading comes in time.
    let agent = Agent::start_reading_seldom(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let tree = Tree::new(&format!(
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
        directory.path().display()
    ));
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(160 * MIB))]);
    wait_until("the limit is in force", || {
        parent.memory_limit(&tree) == Some(160 * MIB)
    });
    let is_over = AtomicBool::new(false);
    let mut delays = thread::scope(|scope| {
        let _over = Over(&is_over);
        let delays = scope.spawn(|| delays_of_raises(&parent, &tree, &is_over));
        fs::write(directory.path().join("take"), "").unwrap();
        wait_until("the memory is taken, unless it was killed", || {
            directory.path().join("taken").exists()
        });
        is_over.store(true, Ordering::Relaxed);
        delays.join().unwrap()
    });
    let limit = parent.memory_limit(&tree);
    assert!(limit.is_some_and(|limit| limit > 512 * MIB), "{limit:?}");
    delays.sort_unstable();
    println!("raised after {delays:?}");
    // One of them may meet a machine that is busy with other things.
    assert!(delays.len() >= 3, "{delays:?}");
    let most = MOST_DELAY * common::times_slower();
    assert!(delays[delays.len() / 2] < most, "{delays:?}");
    assert!(delays[delays.len() - 1] < 4 * most, "{delays:?}");
    let audited = agent.audited();
    let raised = audited.iter().filter(|reason| *reason == "follows_use");
    assert!(raised.count() >= delays.len(), "{audited:?}");
}

#[test]
fn memory_that_was_taken_before_the_move_is_not_limited_in_vain() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("take"), "").unwrap();
    let tree = takes(100 * MIB, directory.path());
    wait_until("the memory is taken", || {
        directory.path().join("taken").exists()
    });
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(memory(1 << 30))]);
    assert!(tree.is_in_group_for("memory"));
    let sequence = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= sequence + 2);
    // Where the kernel moves charges along, it may be limited, but is measured all the same.
    let charged = parent.memory_charged(&tree);
    assert_eq!(parent.memory_limit(&tree).is_some(), charged > 90 * MIB);
    let usage = newest(&agent.report(), &tree).unwrap();
    assert!(usage.memory_bytes > 100 * MIB, "{usage:?}");
}

#[test]
fn while_memory_is_limited_a_container_is_in_a_memory_group_from_its_arrival() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (one, other) = (Tree::new("sleep 60"), Tree::new("sleep 60"));
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
fn from_arrival_on_a_container_is_in_its_groups_whatever_a_plan_says() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::prepare_with(&parent.name, "", "");
    let sections = fs::read_to_string(agent.config()).unwrap();
    let from_arrival = sections.replace("[cgroup]", "[cgroup]\nfrom_arrival = true");
    fs::write(agent.config(), from_arrival).unwrap();
    agent.start_again();
    let tree = Tree::new("sleep 60");
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
    assert!(tree.is_in_group_for("memory"), "it stays");
    assert!(agent.signal(Signal::SIGTERM).success());
    assert!(!tree.is_in_group_for("memory"), "it is put back");
}

#[test]
fn the_executors_groups_get_back_their_limits_of_memory_and_disk() {
    let Some(parent) = Parent::new() else { return };
    let directory = on_disk();
    let mut agent = Agent::start_with(
        &format!("{}/own", parent.name),
        &local_dirs(directory.path()),
    );
    if !agent.report().can_limit.disk {
        return skip("no disk stands behind the directory of the test");
    }
    let tree = Tree::new("sleep 60");
    parent.hold_as_executor(&tree, &["cpu", "cpuacct", "memory", "blkio"]);
    let of_memory = parent.executors_group("memory", &tree);
    let of_disk = parent.executors_group("blkio", &tree);
    let [memory_file, disk_file] = match parent.is_version_2() {
        true => ["memory.max", "io.max"],
        false => ["memory.limit_in_bytes", "blkio.throttle.write_bps_device"],
    };
    let held = || {
        let read = |group: &Path, file| fs::read_to_string(group.join(file)).unwrap();
        [
            read(&of_memory, memory_file),
            read(&of_disk, disk_file).replace(" rbps=max wbps=max riops=max wiops=max\n", ""),
        ]
    };
    fs::write(of_memory.join(memory_file), (2_u64 << 30).to_string()).unwrap();
    let before = held();
    assert!(before[0].starts_with("2147483648"));

    agent.runs(&[&tree]);
    let limits = |bytes| Limits {
        disk_cap_bytes_per_s: Some(16 << 20),
        ..memory(bytes)
    };
    agent.apply(60_000, vec![tree.limited(limits(1 << 30))]);
    assert!(held()[0].starts_with("1073741824"));
    assert!(held()[1].contains("16777216"), "{:?}", held());
    agent.apply(60_000, vec![tree.limited(limits(3 << 30))]);
    assert_eq!(held()[0], before[0], "the executor's own is never loosened");
    agent.apply(60_000, vec![tree.limited(limits(1 << 30))]);
    agent.signal(Signal::SIGKILL);
    assert_ne!(held(), before);
    agent.start_again();
    assert_eq!(held(), before);
}

#[test]
fn cpu_that_two_containers_want_is_shared_by_their_weights() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    // Both want the same core, whatever else the machine has.
    let busy = "taskset -c 0 sh -c \"while :; do :; done\" & wait";
    let (large, small) = (Tree::new(busy), Tree::new(busy));
    agent.runs(&[&large, &small]);
    let weight = |cores| Limits {
        cpu_weight_cores: Some(cores),
        ..Limits::default()
    };
    agent.apply(
        60_000,
        vec![large.limited(weight(3.0)), small.limited(weight(1.0))],
    );
    let both = || [large.cpu_seconds(), small.cpu_seconds()];
    let before = both();
    let used = || {
        let now = both();
        [now[0] - before[0], now[1] - before[1]]
    };
    wait_until("four seconds of the core are shared", || {
        used().iter().sum::<f64>() >= 4.0
    });
    let [of_large, of_small] = used();
    let ratio = of_large / of_small;
    assert!((2.7..=3.3).contains(&ratio), "{ratio:.2} instead of 3");
}

#[test]
fn direct_reads_and_writes_keep_to_their_cap_within_a_tenth() {
    let Some(parent) = Parent::new() else { return };
    let directory = on_disk();
    let agent = Agent::start_with(&parent.name, &local_dirs(directory.path()));
    if !agent.report().can_limit.disk {
        return skip("no disk stands behind the directory of the test");
    }
    let file = directory.path().join("data");
    let made = Command::new("dd")
        .args([
            "if=/dev/zero",
            "bs=1M",
            "count=64",
            "oflag=direct",
            "status=none",
        ])
        .arg(format!("of={}", file.display()))
        .status();
    assert!(made.unwrap().success());
    // Little enough for an emulated disk.
    let cap = 2 * MIB;
    for (source, target) in [
        (
            format!("if={} iflag=direct", file.display()),
            "of=/dev/null".to_owned(),
        ),
        (
            "if=/dev/zero".to_owned(),
            format!("of={} oflag=direct conv=notrunc", file.display()),
        ),
    ] {
        let go = directory.path().join("go");
        let tree = Tree::new(&format!(
            "while [ ! -e {go} ]; do sleep 0.05; done
             while :; do dd {source} {target} bs=64k count=1024 status=none; done",
            go = go.display()
        ));
        agent.runs(&[&tree]);
        agent.apply(60_000, vec![tree.limited(disk(cap))]);
        assert!(tree.is_in_group_for("blkio"));
        fs::write(&go, "").unwrap();
        // What was let through at once when the cap began is over.
        let begun = Instant::now();
        wait_until("the traffic is even", || {
            begun.elapsed() > Duration::from_secs(3)
        });
        let sequence = agent.report().sequence;
        wait_until("three samples", || agent.report().sequence >= sequence + 3);
        let report = agent.report();
        let samples = &report
            .containers
            .iter()
            .find(|one| one.container == tree.id);
        let samples = samples.unwrap().samples.iter();
        let rates: Vec<u64> = samples
            .filter(|sample| sample.sequence > sequence)
            .map(|sample| sample.usage.disk_bytes_per_s())
            .collect();
        let mean = rates.iter().sum::<u64>() as f64 / rates.len() as f64;
        let ratio = mean / cap as f64;
        assert!((0.9..=1.1).contains(&ratio), "{rates:?} of {cap}");
        fs::remove_file(&go).unwrap();
        drop(tree);
        agent.runs(&[]);
    }
}

/// What `elastane-agent status` says; nothing while there is none.
fn status(agent: &Agent) -> Option<serde_json::Value> {
    let mut command = agent.command();
    let command = command.args(["status", "--json", "--config"]);
    let output = command.arg(agent.config()).output().unwrap();
    serde_json::from_slice(&output.stdout).ok()
}

#[test]
fn the_youngest_beyond_the_nodes_size_is_killed_when_naming_it_did_not_help() {
    let Some(parent) = Parent::new() else { return };
    // A node that is always short, and holds one of the two requests.
    let sections = "[memory]\nnode_floor_bytes = 1000000000000000\nkill_after_ms = 1000\n\
                    [capacity]\nmemory_bytes = 1073741824\n";
    let agent = Agent::start_with(&parent.name, sections);
    let (mut elder, mut younger) = (
        Tree::new("sleep 60; true"),
        Tree::new("sleep 60 & sleep 60"),
    );
    elder.request_memory_bytes = 800 * MIB;
    younger.request_memory_bytes = 800 * MIB;
    wait_until("a clear order of start", || {
        let is_younger = younger.start_ticks() > elder.start_ticks();
        if !is_younger {
            younger = Tree::new("sleep 60 & sleep 60");
            younger.request_memory_bytes = 800 * MIB;
        }
        is_younger
    });
    wait_until("the trees have grown", || {
        elder.running_processes() == 2 && younger.running_processes() == 3
    });
    agent.runs(&[&elder, &younger]);
    wait_until("the victim is named", || {
        let victims = agent.report().memory_victims;
        victims.len() == 1 && victims[0].container == younger.id && victims[0].short_bytes > 0
    });
    let named = || {
        let reasons = agent.audited().into_iter();
        reasons.filter(|reason| reason == "named").count()
    };
    wait_until("that is written", || named() > 0);
    let begun = Instant::now();
    wait_until("longer than the agent waits", || {
        begun.elapsed() > Duration::from_millis(1500)
    });
    assert_eq!(younger.running_processes(), 3, "it acts without a plan");
    agent.apply(60_000, vec![elder.plan(&[(0, 1.0, None)])]);
    wait_until("the younger is killed", || younger.running_processes() == 0);
    assert_eq!(elder.running_processes(), 2);
    wait_until("the reason is written", || {
        agent.audited().iter().any(|reason| reason == "killed")
    });
    assert_eq!(named(), 1, "it is written with each reading");
    wait_until("the status has both", || {
        let status = status(&agent);
        let containers = status
            .iter()
            .flat_map(|status| status["containers"].as_array());
        let mut containers = containers.flatten();
        let killed = containers.find(|one| one["container"] == younger.id.as_str());
        killed.is_some_and(|killed| {
            let reasons = killed["reasons"].as_array().unwrap().iter();
            let reasons = reasons.map(|reason| reason[1].as_str().unwrap());
            reasons
                .filter(|reason| ["named", "killed"].contains(reason))
                .eq(["named", "killed"])
        })
    });
}

#[test]
fn a_clean_stop_leaves_no_memory_or_disk_group() {
    let Some(parent) = Parent::new() else { return };
    let directory = on_disk();
    let agent = Agent::start_with(&parent.name, &local_dirs(directory.path()));
    let tree = Tree::new("sleep 60");
    let before = tree.place();
    agent.runs(&[&tree]);
    let limits = Limits {
        cpu_weight_cores: Some(1.0),
        cpu_cap_cores: Some(0.5),
        memory_bytes: Some(1 << 30),
        disk_cap_bytes_per_s: Some(100 * MIB),
        ..Limits::default()
    };
    agent.apply(60_000, vec![tree.limited(limits)]);
    wait_until("all is in force", || {
        let report = agent.report();
        let can_limit_disk = report.can_limit.disk;
        report.containers[0].limits.is_some_and(|now| {
            now.memory_bytes == limits.memory_bytes
                && now.cpu_cap_cores == limits.cpu_cap_cores
                && (!can_limit_disk || now.disk_cap_bytes_per_s == limits.disk_cap_bytes_per_s)
        })
    });
    wait_until("the status has it", || {
        status(&agent).is_some_and(|status| {
            let container = &status["containers"][0];
            container["container"] == tree.id.as_str()
                && container["in_force"]["memory_bytes"] == 1 << 30
                && container["reasons"][0][1] == "plan_step"
        })
    });
    drop(agent);
    assert_eq!((tree.place(), parent.inner()), (before, 0));
}
