//! A real agent.

use std::{
    fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{AgentRequest, AgentResponse, ContainerPlan, Reply, Report, frame};
use nix::{
    sys::signal::Signal,
    unistd::{Uid, chown, geteuid},
};
use tempfile::TempDir;

use super::{
    PATIENCE, Tree,
    agent_process::{AgentProcess, Unit, runs_as_unit},
    times_slower, wait_until,
};

const OFTEN: &str = "interval_ms = 200\nsample_ms = 1000";
const EACH_SECOND: &str = "interval_ms = 1000\nsample_ms = 1000";
const SELDOM: &str = "interval_ms = 60000\nsample_ms = 60000";
const BINARY: &str = env!("CARGO_BIN_EXE_elastane-agent");
const NOBODY: Uid = Uid::from_raw(65534);

/// An agent as its own process, with a directory of its own.
pub struct Agent {
    process: Option<AgentProcess>,
    directory: TempDir,
    rootless: bool,
    /// None: the test's own capabilities.
    capabilities: Option<Vec<String>>,
    /// Replaces the machine's `/proc/meminfo`.
    meminfo: Option<PathBuf>,
}

impl Agent {
    /// Starts an agent that makes containers' groups below `parent`.
    pub fn start(parent: &str) -> Self {
        Self::start_with(parent, "")
    }

    /// `sections` is appended to the configuration.
    pub fn start_with(parent: &str, sections: &str) -> Self {
        let mut agent = Self::prepare(parent, "", sections, OFTEN);
        agent.start_again();
        agent
    }

    /// An agent that takes no reading during a test.
    pub fn start_reading_seldom(parent: &str) -> Self {
        let mut agent = Self::prepare(parent, "", "", SELDOM);
        agent.start_again();
        agent
    }

    /// An agent that reads as often as one with the usual configuration.
    pub fn start_reading_each_second(parent: &str) -> Self {
        let mut agent = Self::prepare(parent, "", "", EACH_SECOND);
        agent.start_again();
        agent
    }

    /// An agent without root, even if root runs the test.
    pub fn start_without_root() -> Self {
        let mut agent = Self::prepare("elastane", "", "", OFTEN);
        agent.rootless = true;
        if geteuid().is_root() {
            chown(agent.directory.path(), Some(NOBODY), None).unwrap();
        }
        agent.start_again();
        agent
    }

    /// An agent that is not started yet. `socket` is appended to the section `[socket]`.
    pub fn prepare_with(parent: &str, socket: &str, sections: &str) -> Self {
        Self::prepare(parent, socket, sections, OFTEN)
    }

    /// The agent runs as root with these capabilities and cannot get others.
    pub fn give_capabilities(&mut self, names: &[String]) {
        self.capabilities = Some(names.to_vec());
    }

    /// The agent runs in a mount namespace of its own, in which this file is `/proc/meminfo`.
    pub fn read_meminfo_of(&mut self, file: PathBuf) {
        self.meminfo = Some(file);
    }

    fn prepare(parent: &str, socket: &str, sections: &str, sampling: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display();
        let config = format!(
            "[cgroup]\nparent = \"{parent}\"\n\
             [sampling]\n{sampling}\n\
             [audit]\nfile = \"{path}/audit.jsonl\"\n\
             [socket]\npath = \"{path}/agent.sock\"\n{socket}{sections}"
        );
        fs::write(directory.path().join("agent.toml"), config).unwrap();
        Self { process: None, directory, rootless: false, capabilities: None, meminfo: None }
    }

    /// Starts the agent anew with the same configuration.
    pub fn start_again(&mut self) {
        assert!(self.try_start(), "the agent does not start");
    }

    /// Starts the agent. Returns whether it keeps running.
    pub fn try_start(&mut self) -> bool {
        let mut process = self.spawn();
        let mut has_ended = false;
        // The agent listens before it has undone a killed agent's changes, and may still end.
        wait_until("the agent answers", || {
            has_ended = process.try_wait().is_some();
            has_ended || self.try_ask(&AgentRequest::Collect).is_ok()
        });
        if !has_ended {
            self.process = Some(process);
        }
        !has_ended
    }

    fn spawn(&self) -> AgentProcess {
        let is_plain = !self.rootless && self.capabilities.is_none() && self.meminfo.is_none();
        if is_plain && runs_as_unit() {
            return AgentProcess::Unit(Unit::start(BINARY, &self.config(), self.directory()));
        }
        let mut command = self.command();
        command.args(["run", "--config"]).arg(self.config());
        AgentProcess::Child(command.spawn().unwrap())
    }

    pub fn command(&self) -> Command {
        if let Some(names) = &self.capabilities {
            let names: Vec<String> = names.iter().map(|name| format!(",+{name}")).collect();
            let mut command = Command::new("setpriv");
            command
                .arg("--no-new-privs")
                .arg(format!("--bounding-set=-all{}", names.concat()))
                .arg(BINARY);
            return command;
        }
        if let Some(meminfo) = &self.meminfo {
            let script = "mount --bind \"$0\" /proc/meminfo && exec \"$@\"";
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", script]);
            command.arg(meminfo).arg(BINARY);
            return command;
        }
        if !self.rootless || !geteuid().is_root() {
            return Command::new(BINARY);
        }
        // Another user may not read the binary's folder.
        let copy = self.directory.path().join("elastane-agent");
        fs::copy(BINARY, &copy).unwrap();
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

    /// The resident memory of the agent's process.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    pub fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() << 10
    }

    /// The entries of the audit file for a container, in order.
    pub fn audited_changes(&self, tree: &Tree) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.directory.path().join("audit.jsonl")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.filter(|line: &serde_json::Value| line["container"] == tree.id).collect()
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

    /// The status file, written with each sample; null before the first.
    pub fn status(&self) -> serde_json::Value {
        let status = fs::read_to_string(self.directory.path().join("agent.sock.status"));
        let status = status.unwrap_or_else(|_| "null".into());
        serde_json::from_str(&status).unwrap()
    }

    /// The output of `elastane-agent status --json`, or None before the first sample.
    pub fn printed_status(&self) -> Option<serde_json::Value> {
        let mut command = self.command();
        let command = command.args(["status", "--json", "--config"]);
        let output = command.arg(self.config()).output().unwrap();
        serde_json::from_slice(&output.stdout).ok()
    }

    /// The count of a kind of trouble, up to the newest sample; 0 before the first.
    pub fn troubles(&self, kind: &str) -> u64 {
        let status = self.status();
        let troubles = status["troubles"].as_array().into_iter().flatten();
        let mut counts = troubles.filter(|trouble| trouble[0] == kind);
        counts.next().map_or(0, |trouble| trouble[1].as_u64().unwrap())
    }

    pub fn connect(&self) -> UnixStream {
        self.try_connect().unwrap()
    }

    fn try_connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(self.socket())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    pub fn ask(&self, request: &AgentRequest) -> AgentResponse {
        self.try_ask(request).unwrap()
    }

    fn try_ask(&self, request: &AgentRequest) -> Result<AgentResponse, frame::FrameError> {
        let mut stream = self.try_connect()?;
        frame::write(&mut stream, request)?;
        frame::read(&mut stream)
    }

    /// Lists these containers as running.
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
        let reply = Reply { acknowledged: 0, valid_for_ms, plans, ..Reply::default() };
        assert_eq!(self.ask(&AgentRequest::Apply(reply)), AgentResponse::Done);
    }

    /// Orders to decommission the executors of these; no plan limits anything.
    pub fn decommission(&self, trees: &[&Tree]) {
        let decommission = trees.iter().map(|tree| tree.id.clone()).collect();
        let reply = Reply { valid_for_ms: 60_000, decommission, ..Reply::default() };
        assert_eq!(self.ask(&AgentRequest::Apply(reply)), AgentResponse::Done);
    }

    pub fn signal(&mut self, signal: Signal) -> ExitStatus {
        let mut process = self.process.take().unwrap();
        process.signal(signal);
        ended(&mut process).unwrap_or_else(|| panic!("the agent does not end by {signal}"))
    }
}

/// Waits for the end of a process. If it does not end, prints its threads' stacks and kills it.
fn ended(process: &mut AgentProcess) -> Option<ExitStatus> {
    let deadline = Instant::now() + PATIENCE * times_slower();
    while Instant::now() < deadline {
        if let Some(status) = process.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    let threads = fs::read_dir(format!("/proc/{}/task", process.id()));
    for thread in threads.into_iter().flatten().flatten() {
        let of = |file| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let (name, call, stack) = (of("comm"), of("syscall"), of("stack"));
        eprintln!("{}: in {}: {stack}", name.trim(), call.trim());
    }
    process.kill();
    None
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::SIGTERM);
            // No second panic in a failed test.
            assert!(ended(&mut process).is_some() || thread::panicking(), "the agent does not end");
        }
    }
}
