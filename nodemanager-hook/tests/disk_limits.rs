//! Disk limits, alone and beside others, in real cgroups of either version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, on_disk, skip, wait_until};
use elastane_protocol::Limits;
use nix::sys::signal::Signal;

const MIB: u64 = 1 << 20;

fn disk(bytes_per_s: u64) -> Limits {
    Limits { disk_cap_bytes_per_s: Some(bytes_per_s), ..Limits::default() }
}

/// The configuration that limits the disk behind a directory.
fn local_dirs(directory: &Path) -> String {
    format!("[disk]\nlocal_dirs = [\"{}\"]\n", directory.display())
}

#[test]
fn the_executors_memory_and_disk_limits_are_restored() {
    let Some(parent) = Parent::new() else { return };
    let directory = on_disk();
    let mut agent =
        Agent::start_with(&format!("{}/own", parent.name), &local_dirs(directory.path()));
    if !agent.report().can_limit.disk {
        return skip("no disk stands behind the directory of the test");
    }
    let tree = Tree::new("sleep 600");
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
        memory_bytes: Some(bytes),
        ..Limits::default()
    };
    agent.apply(60_000, vec![tree.limited(limits(1 << 30))]);
    assert!(held()[0].starts_with("1073741824"));
    assert!(held()[1].contains("16777216"), "{:?}", held());
    agent.apply(60_000, vec![tree.limited(limits(3 << 30))]);
    assert_eq!(held()[0], before[0], "the executor's limit was loosened");
    agent.apply(60_000, vec![tree.limited(limits(1 << 30))]);
    agent.signal(Signal::SIGKILL);
    assert_ne!(held(), before);
    agent.start_again();
    assert_eq!(held(), before);
}

#[test]
fn direct_reads_and_writes_are_within_a_tenth_of_their_cap() {
    let Some(parent) = Parent::new() else { return };
    let directory = on_disk();
    let agent = Agent::start_with(&parent.name, &local_dirs(directory.path()));
    if !agent.report().can_limit.disk {
        return skip("no disk stands behind the directory of the test");
    }
    let file = directory.path().join("data");
    let made = Command::new("dd")
        .args(["if=/dev/zero", "bs=1M", "count=64", "oflag=direct", "status=none"])
        .arg(format!("of={}", file.display()))
        .status();
    assert!(made.unwrap().success());
    // Slow enough for an emulated disk.
    let cap = 2 * MIB;
    for (source, target) in [
        (format!("if={} iflag=direct", file.display()), "of=/dev/null".to_owned()),
        ("if=/dev/zero".to_owned(), format!("of={} oflag=direct conv=notrunc", file.display())),
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
        // Skips the burst that the kernel admits when the cap begins.
        let begun = Instant::now();
        wait_until("the traffic is even", || begun.elapsed() > Duration::from_secs(3));
        // While others keep the disk busy, it is slower than the cap.
        wait_until("three samples near the cap", || {
            let sequence = agent.report().sequence;
            wait_until("three samples", || agent.report().sequence >= sequence + 3);
            let report = agent.report();
            let samples = report.containers.iter().find(|one| one.container == tree.id);
            let samples = samples.unwrap().samples.iter();
            let rates: Vec<u64> = samples
                .filter(|sample| sample.sequence > sequence)
                .map(|sample| sample.usage.disk_bytes_per_s())
                .collect();
            let mean = rates.iter().sum::<u64>() as f64 / rates.len() as f64;
            let ratio = mean / cap as f64;
            assert!(ratio <= 1.1, "{rates:?} of {cap}");
            ratio >= 0.9
        });
        fs::remove_file(&go).unwrap();
        drop(tree);
        agent.runs(&[]);
    }
}

#[test]
fn a_clean_stop_leaves_no_memory_or_disk_group() {
    let Some(parent) = Parent::new() else { return };
    let directory = on_disk();
    let agent = Agent::start_with(&parent.name, &local_dirs(directory.path()));
    let tree = Tree::new("sleep 600");
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
        agent.printed_status().is_some_and(|status| {
            let container = &status["containers"][0];
            container["container"] == tree.id.as_str()
                && container["in_force"]["memory_bytes"] == 1 << 30
                && container["reasons"][0][1] == "plan_step"
        })
    });
    drop(agent);
    assert_eq!((tree.place(), parent.inner()), (before, 0));
}
