//! Processes that are sent nothing.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use elastane_agent::jvm::{AttachError, Collector, Jvm, Wish};
use nix::sys::signal::Signal;

use crate::{
    error_of,
    java::{Workload, host, wait_until},
    shrink, socket_of, was_left_alone,
};

#[test]
fn parallel_is_left_alone() {
    let mut workload = Workload::start("-Xmx64m -XX:+UseParallelGC");
    let control = workload.control();
    assert_eq!(control.kind.collector, Collector::Parallel);
    let former = control.former().unwrap();
    for wish in [shrink(10), Wish::Hold, Wish::Restore] {
        assert_eq!(control.carry_out(wish, &former).unwrap(), []);
    }
    assert!(!socket_of(&workload).exists());
    was_left_alone(&mut workload);
}

#[test]
fn a_jvm_without_counters_is_found_and_left_alone() {
    let workload = Workload::start("-Xmx64m -XX:-UsePerfData");
    let mut jvm = workload.find();
    assert!(!jvm.has_counters());
    assert_eq!(jvm.heap().unwrap(), None);
    assert!(jvm.control(&host()).is_none());
}

#[test]
fn a_stopped_jvm_is_sent_nothing() {
    let mut workload = Workload::start("-Xmx64m");
    let control = workload.control();
    workload.signal(Signal::SIGSTOP);
    wait_until("the JVM is stopped", || workload.status("State:").starts_with('T'));
    let begun = Instant::now();
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::Stopped { state: 'T', .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_millis(200));
    assert_eq!(workload.status("ShdPnd:"), "0000000000000000");
    workload.signal(Signal::SIGCONT);
    was_left_alone(&mut workload);
    control.former().unwrap();
}

#[test]
fn a_frozen_jvm_is_sent_nothing() {
    let version_1 = Path::new("/sys/fs/cgroup/freezer");
    let (root, file, frozen, thawed) = if version_1.exists() {
        (version_1, "freezer.state", "FROZEN", "THAWED")
    } else {
        (Path::new("/sys/fs/cgroup"), "cgroup.freeze", "1", "0")
    };
    let group = root.join(format!("elastane-jvm-test-{}", std::process::id()));
    let mut workload = Workload::start("-Xmx64m");
    let control = workload.control();
    let home = Home::enter(&group, workload.pid());
    fs::write(group.join(file), frozen).unwrap();
    wait_until("the JVM is frozen", || {
        let events = fs::read_to_string(group.join("cgroup.events"));
        let state = fs::read_to_string(group.join(file)).unwrap();
        state.trim() == frozen && events.is_ok_and(|events| events.contains("frozen 1"))
            || state == "FROZEN\n"
    });
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::Frozen { .. }), "{error}");
    fs::write(group.join(file), thawed).unwrap();
    drop(home);
    was_left_alone(&mut workload);
}

/// A group with one process, which is moved back at the end.
struct Home<'a> {
    group: &'a Path,
    pid: u32,
}

impl<'a> Home<'a> {
    fn enter(group: &'a Path, pid: u32) -> Self {
        fs::create_dir(group).unwrap();
        fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
        Self { group, pid }
    }
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let _ = fs::write(self.group.join("freezer.state"), "THAWED");
        let _ = fs::write(self.group.join("cgroup.freeze"), "0");
        let parent = self.group.parent().unwrap();
        let _ = fs::write(parent.join("cgroup.procs"), self.pid.to_string());
        let _ = fs::remove_dir(self.group);
    }
}

#[test]
fn a_jvm_without_a_handler_or_without_attach_is_sent_nothing() {
    // With -Xrs a JVM listens from the start and catches no signal.
    let mut workload = Workload::start("-Xmx64m -Xrs");
    let control = workload.control();
    control.former().unwrap();
    fs::remove_file(socket_of(&workload)).unwrap();
    assert!(!catches_quit(workload.pid()));
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::NoHandler { .. }), "{error}");
    was_left_alone(&mut workload);
    drop(workload);
    let mut workload = Workload::start("-Xmx64m -XX:+DisableAttachMechanism");
    let error = error_of(workload.control().former());
    assert!(matches!(error, AttachError::Disabled { .. }), "{error}");
    was_left_alone(&mut workload);
}

#[test]
fn catching_sigquit_does_not_make_a_process_a_jvm() {
    // A shell in the background ignores SIGQUIT, and its children could not catch the signal.
    let mut child = std::process::Command::new("env")
        .args(["--default-signal=QUIT", "sh"])
        .args(["-c", "trap : QUIT; echo ready; read line"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the handler is set", || catches_quit(child.id()));
    assert!(Jvm::find(&host(), child.id()).unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Jvm::find(&host(), child.id()).unwrap().is_none());
}

fn catches_quit(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
    u64::from_str_radix(mask.unwrap(), 16).unwrap() & 0x4 != 0
}
