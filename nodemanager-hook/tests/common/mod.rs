//! A real agent, real process trees and real cgroups for the integration tests.
#![allow(dead_code)] // each test uses a part
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::{
    fs,
    io::Write,
    os::unix::{net::UnixStream, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, CpuStep, Reply, Report, RunningContainer, frame,
};
use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::{Pid, Uid, chown, geteuid},
};
use tempfile::TempDir;

const NOBODY: Uid = Uid::from_raw(65534);

pub const PATIENCE: Duration = Duration::from_secs(20);

/// An agent as its own process, with a directory of its own.
pub struct Agent {
    child: Option<Child>,
    directory: TempDir,
    rootless: bool,
}

impl Agent {
    /// Starts an agent whose containers get their groups below `parent`.
    pub fn start(parent: &str) -> Self {
        Self::start_with(parent, "")
    }

    /// `sections` is appended to the configuration.
    pub fn start_with(parent: &str, sections: &str) -> Self {
        let mut agent = Self::prepare(parent, sections);
        agent.start_again();
        agent
    }

    /// An agent that is not root, whoever runs the test.
    pub fn start_without_root() -> Self {
        let mut agent = Self::prepare("elastane", "");
        agent.rootless = true;
        if geteuid().is_root() {
            chown(agent.directory.path(), Some(NOBODY), None).unwrap();
        }
        agent.start_again();
        agent
    }

    fn prepare(parent: &str, sections: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display();
        let config = format!(
            "[cgroup]\nparent = \"{parent}\"\n\
             [sampling]\ninterval_ms = 200\nsample_ms = 1000\n\
             [audit]\nfile = \"{path}/audit.jsonl\"\n\
             [socket]\npath = \"{path}/agent.sock\"\n{sections}"
        );
        fs::write(directory.path().join("agent.toml"), config).unwrap();
        Self {
            child: None,
            directory,
            rootless: false,
        }
    }

    /// Starts it anew with the same configuration.
    pub fn start_again(&mut self) {
        let mut command = self.command();
        command.args(["run", "--config"]).arg(self.config());
        self.child = Some(command.spawn().unwrap());
        wait_until("the agent answers", || {
            UnixStream::connect(self.socket()).is_ok()
        });
    }

    pub fn command(&self) -> Command {
        let binary = env!("CARGO_BIN_EXE_elastane-agent");
        if !self.rootless || !geteuid().is_root() {
            return Command::new(binary);
        }
        // Where the binary lies, another user may not look.
        let copy = self.directory.path().join("elastane-agent");
        fs::copy(binary, &copy).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--clear-groups"]).arg(copy);
        command
    }

    pub fn config(&self) -> PathBuf {
        self.directory.path().join("agent.toml")
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("agent.sock")
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The reasons in the audit file, in order.
    pub fn audited(&self) -> Vec<String> {
        let text = fs::read_to_string(self.directory.path().join("audit.jsonl")).unwrap();
        let reason = |line: &str| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            entry["reason"].as_str().unwrap().to_owned()
        };
        text.lines().map(reason).collect()
    }

    pub fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub fn ask(&self, request: &AgentRequest) -> AgentResponse {
        let mut stream = self.connect();
        frame::write(&mut stream, request).unwrap();
        frame::read(&mut stream).unwrap()
    }

    /// Tells it what runs.
    pub fn runs(&self, trees: &[&Tree]) {
        let list = trees.iter().map(|tree| tree.running()).collect();
        let response = self.ask(&AgentRequest::Containers(list));
        assert_eq!(response, AgentResponse::Done);
    }

    pub fn report(&self) -> Report {
        match self.ask(&AgentRequest::Collect) {
            AgentResponse::Report(report) => report,
            other => panic!("{other:?}"),
        }
    }

    pub fn apply(&self, valid_for_ms: u32, plans: Vec<ContainerPlan>) {
        let reply = Reply {
            acknowledged: 0,
            valid_for_ms,
            plans,
        };
        assert_eq!(self.ask(&AgentRequest::Apply(reply)), AgentResponse::Done);
    }

    pub fn signal(&mut self, signal: Signal) -> std::process::ExitStatus {
        let mut child = self.child.take().unwrap();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        child.wait().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
            let _ = child.wait();
        }
    }
}

/// A process tree that stands for a container, in a process group of its own.
pub struct Tree {
    pub id: String,
    child: Child,
}

impl Tree {
    /// Runs a shell script.
    pub fn new(script: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = format!("container_{}_0001_01_{number:06}", std::process::id());
        let child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        Self { id, child }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn running(&self) -> RunningContainer {
        RunningContainer {
            container: self.id.clone(),
            pid: self.pid(),
        }
    }

    pub fn plan(&self, cpu: &[(u32, f32, Option<f32>)]) -> ContainerPlan {
        let step = |(offset_ms, weight_cores, cap_cores): &(u32, f32, Option<f32>)| CpuStep {
            offset_ms: *offset_ms,
            weight_cores: *weight_cores,
            cap_cores: *cap_cores,
        };
        ContainerPlan {
            container: self.id.clone(),
            cpu: cpu.iter().map(step).collect(),
        }
    }

    /// The line of `/proc/PID/cgroup` of a controller.
    pub fn cgroup(&self, controller: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{}/cgroup", self.pid())).unwrap();
        let is_it = |line: &&str| {
            let controllers = line.split(':').nth(1).unwrap();
            controllers.split(',').any(|one| one == controller)
        };
        let line = text.lines().find(is_it).unwrap();
        line.splitn(3, ':').nth(2).unwrap().to_owned()
    }

    pub fn end(&mut self) {
        let _ = killpg(Pid::from_raw(self.pid() as i32), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

/// A parent of the test's own in the cpu and cpuacct hierarchies, with a weight that makes the
/// rest of a busy machine give way.
pub struct Parent {
    pub name: String,
    pub cpu: PathBuf,
    pub cpuacct: PathBuf,
}

impl Parent {
    /// Nothing, with the reason printed, where cgroups cannot be made.
    pub fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        if !geteuid().is_root() {
            println!("skipped: not root");
            return None;
        }
        let (Some(cpu), Some(cpuacct)) = (mount_point("cpu"), mount_point("cpuacct")) else {
            println!("skipped: no cgroup v1 hierarchies of cpu and cpuacct");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("elastane-test-{}-{number}", std::process::id());
        let parent = Self {
            cpu: cpu.join(&name),
            cpuacct: cpuacct.join(&name),
            name,
        };
        for group in parent.groups() {
            if let Err(error) = fs::create_dir_all(group) {
                println!("skipped: {}: {error}", group.display());
                return None;
            }
        }
        fs::write(parent.cpu.join("cpu.shares"), "262144").unwrap();
        Some(parent)
    }

    pub fn groups(&self) -> [&Path; 2] {
        [&self.cpu, &self.cpuacct]
    }

    /// Groups that are in it, in both hierarchies.
    pub fn inner(&self) -> usize {
        let directories = |group: &Path| {
            let entries = fs::read_dir(group).unwrap().flatten();
            entries
                .filter(|entry| entry.file_type().unwrap().is_dir())
                .count()
        };
        self.groups().into_iter().map(directories).sum()
    }

    pub fn quota_us(&self, tree: &Tree) -> i64 {
        read_number(&self.cpu.join(&tree.id).join("cpu.cfs_quota_us"))
    }

    pub fn shares(&self, tree: &Tree) -> i64 {
        read_number(&self.cpu.join(&tree.id).join("cpu.shares"))
    }

    /// Cores that a container used, by the kernel's accounting over a time.
    pub fn cores_used(&self, tree: &Tree, over: Duration) -> f64 {
        let path = self.cpuacct.join(&tree.id).join("cpuacct.usage");
        let (begun, before) = (Instant::now(), read_number(&path));
        thread::sleep(over);
        let used = (read_number(&path) - before) as f64 / 1e9;
        used / begun.elapsed().as_secs_f64()
    }
}

impl Drop for Parent {
    /// Not everything may be there, and what was killed a moment ago may still be: a test that
    /// fails has to be able to end.
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        for group in self.groups() {
            while !remove_groups(group) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Removes a group with all that are in it; says whether it is gone.
fn remove_groups(group: &Path) -> bool {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            remove_groups(&entry.path());
        }
    }
    fs::remove_dir(group).is_ok() || !group.exists()
}

pub fn read_number(path: &Path) -> i64 {
    fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

pub fn mount_point(controller: &str) -> Option<PathBuf> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mountinfo.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - cgroup ")?;
        let options = file_system.rsplit(' ').next()?;
        options
            .split(',')
            .any(|option| option == controller)
            .then(|| mount.split(' ').nth(4).unwrap().into())
    })
}

/// Waits for a condition with a deadline.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Sends raw bytes and gives the agent's answer.
pub fn send_raw(agent: &Agent, bytes: &[u8]) -> AgentResponse {
    let mut stream = agent.connect();
    stream.write_all(bytes).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    frame::read(&mut stream).unwrap()
}
