//! Jobs whose files hang: nobody who waits for them keeps limits from changing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;
#[path = "common/java.rs"]
mod java;

use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, wait_until};
use elastane_agent::jvm::{Former, Jvm};
use elastane_protocol::{ContainerPlan, Limits};
use java::MIB;
use nix::{
    sys::{signal::Signal, stat::Mode},
    unistd::mkfifo,
};

/// As many as there are threads that send commands.
const JVMS: usize = 3;
/// Much longer than usual, since the machine may be busy; a thread that hangs would hold up the agent for ever.
const MOST_LATE_MS: u64 = 2500;
const STEP_MS: u32 = 3000;
const VALID_MS: u32 = 2 * STEP_MS;

/// The JVMs' sockets, which stay when they are killed.
struct Sockets(Vec<u32>);

impl Drop for Sockets {
    fn drop(&mut self) {
        self.0.iter().for_each(|pid| java::remove_socket_of(*pid));
    }
}

/// A JVM with its own mounts that starts once `DIRECTORY/go` exists, so that its memory is charged to the container's group.
fn jvm(directory: &Path) -> Tree {
    Tree::new(&format!(
        "until [ -e {go} ]; do sleep 0.05; done
         exec <{input}
         exec unshare --mount java -Xms128m -Xmx128m -XX:+UseG1GC -XX:+AlwaysPreTouch -cp {classes} \
         Workload",
        go = directory.join("go").display(),
        input = directory.join("input").display(),
        classes = java::classes().display(),
    ))
}

/// A file system over the `/tmp` of a process, of which every question waits for an answer that never comes, until it is
/// dropped.
struct HangingTmp {
    pid: String,
    device: Child,
}

impl HangingTmp {
    fn of(tree: &Tree) -> Self {
        let mount = "
import ctypes, os, time
device = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={device},rootmode=41777,user_id=0,group_id=0,allow_other'
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b'hangs', b'/tmp', b'fuse', 0, options.encode()):
    raise OSError(ctypes.get_errno(), 'mount')
print('hangs', flush=True)
time.sleep(600)";
        let pid = tree.pid().to_string();
        let mut enter = in_mounts_of(&pid);
        let mut device =
            enter.args(["python3", "-c", mount]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(device.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "hangs\n");
        Self { pid, device }
    }
}

impl Drop for HangingTmp {
    fn drop(&mut self) {
        let _ = self.device.kill();
        let _ = self.device.wait();
        let _ = in_mounts_of(&self.pid).args(["umount", "--lazy", "/tmp"]).status();
    }
}

fn in_mounts_of(pid: &str) -> Command {
    let mut enter = Command::new("nsenter");
    enter.args(["--mount", "--target", pid]);
    enter
}

/// The agent's threads of a name that wait for a file system.
fn hanging(agent: &Agent, name: &str) -> usize {
    let threads = fs::read_dir(format!("/proc/{}/task", agent.pid())).unwrap().flatten();
    let read = |thread: &fs::DirEntry, file| {
        fs::read_to_string(thread.path().join(file)).unwrap_or_default()
    };
    let hangs = |thread: &fs::DirEntry| {
        read(thread, "comm").trim() == name && read(thread, "wchan").contains("fuse")
    };
    threads.filter(hangs).count()
}

fn flags(jvm: &Tree) -> Former {
    let found = Jvm::find(&java::host(), jvm.pid()).unwrap().expect("a JVM");
    found.control(&java::host()).expect("a JVM with counters").former().unwrap()
}

fn maps_counters(tree: &Tree) -> bool {
    let maps = fs::read_to_string(format!("/proc/{}/maps", tree.pid())).unwrap();
    maps.contains("/hsperfdata_")
}

fn memory(tree: &Tree, mebibytes: u64) -> ContainerPlan {
    tree.limited(Limits { memory_bytes: Some(mebibytes * MIB), ..Limits::default() })
}

#[test]
fn limits_change_and_plans_end_on_time_while_every_thread_that_waits_for_a_job_hangs() {
    let Some(parent) = Parent::new() else { return };
    if !Path::new("/dev/fuse").exists() {
        common::skip("no /dev/fuse");
        return;
    }
    let mut agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    // With a writer until this test ends.
    let input = directory.path().join("input");
    mkfifo(&input, Mode::S_IRWXU).unwrap();
    let _writer = OpenOptions::new().read(true).write(true).open(&input).unwrap();
    let jvms: Vec<Tree> = (0..JVMS).map(|_| jvm(directory.path())).collect();
    let _sockets = Sockets(jvms.iter().map(Tree::pid).collect());
    let other = Tree::new("sleep 600");
    let all: Vec<&Tree> = jvms.iter().chain([&other]).collect();
    agent.runs(&all);
    let plans = |mebibytes| jvms.iter().map(|jvm| memory(jvm, mebibytes)).collect::<Vec<_>>();
    agent.apply(60_000, plans(1024));
    fs::write(directory.path().join("go"), "").unwrap();
    wait_until("the heaps are measured", || {
        let containers = agent.report().containers;
        let newest = containers.iter().filter_map(|container| container.samples.last());
        newest.filter(|sample| sample.usage.heap_committed_bytes > 100 * MIB).count() == JVMS
    });
    let former: Vec<Former> = jvms.iter().map(flags).collect();
    agent.apply(60_000, plans(16));
    let are_changed = || jvms.iter().zip(&former).all(|(jvm, former)| flags(jvm) != *former);
    wait_until("the JVMs are changed", are_changed);
    // One that is not known yet, so that the agent has to look for its counters.
    let unknown = jvm(directory.path());
    wait_until("it has counters", || maps_counters(&unknown));
    let hung: Vec<HangingTmp> = jvms.iter().chain([&unknown]).map(HangingTmp::of).collect();
    agent.runs(&all.iter().copied().chain([&unknown]).collect::<Vec<_>>());
    // Their flags are to be put back.
    agent.apply(60_000, Vec::new());
    wait_until("every thread that sends commands hangs", || hanging(&agent, "jvm") == JVMS);
    wait_until("so does one that looks at JVMs", || hanging(&agent, "jvm observer") > 0);

    let steps = [(0, 1.0, Some(0.5)), (STEP_MS, 1.0, Some(0.7))];
    let applied = Instant::now();
    agent.apply(VALID_MS, vec![other.plan(&steps)]);
    let answered = applied.elapsed();
    assert!(answered < Duration::from_millis(MOST_LATE_MS), "{answered:?}");
    wait_until("the plan has ended", || {
        agent.audited_changes(&other).iter().any(|entry| entry["reason"] == "plan_ended")
    });
    let changes = agent.audited_changes(&other);
    let at = |index: usize| changes[index]["unix_ms"].as_u64().unwrap();
    assert_eq!(changes.len(), 3, "{changes:?}");
    for (index, due_ms) in [(1, STEP_MS), (2, VALID_MS)] {
        let late = (at(index) - at(0)).saturating_sub(due_ms.into());
        assert!(late < MOST_LATE_MS, "{late} ms: {changes:?}");
    }
    assert_eq!(hanging(&agent, "jvm"), JVMS, "no thread was let go meanwhile");

    // It ends all the same.
    let stopping = Instant::now();
    assert!(agent.signal(Signal::SIGTERM).success());
    assert!(stopping.elapsed() < Duration::from_secs(10));
    for jvm in jvms.iter().chain([&unknown]) {
        assert_eq!(jvm.running_processes(), 1, "it was harmed");
    }
    // The journal still has what could not be put back.
    drop(hung);
    assert!(are_changed());
    agent.start_again();
    let are_restored = || jvms.iter().zip(&former).all(|(jvm, former)| flags(jvm) == *former);
    wait_until("the JVMs are restored", are_restored);
}
