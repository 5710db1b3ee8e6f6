//! A real agent.

use std::{
    fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{AgentRequest, AgentResponse, ContainerPlan, Reply, Report, frame};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, Uid, chown, geteuid},
};
use tempfile::TempDir;

use super::{PATIENCE, Tree, wait_until};

const OFTEN: &str = "interval_ms = 200\nsample_ms = 1000";
const SELDOM: &str = "interval_ms = 60000\nsample_ms = 60000";
const NOBODY: Uid = Uid::from_raw(65534);

/// An agent as its own process, with a directory of its own.
pub struct Agent {
    child: Option<Child>,
    directory: TempDir,
    rootless: bool,
    /// Nothing: those of the test.
    capabilities: Option<Vec<String>>,
    /// What it reads in the place of the machine's `/proc/meminfo`.
    meminfo: Option<PathBuf>,
}

impl Agent {
    /// Starts an agent whose containers get their groups below `parent`.
    pub fn start(parent: &str) -> Self {
        Self::start_with(parent, "")
    }

    /// `sections` is appended to the configuration.
    pub fn start_with(parent: &str, sections: &str) -> Self {
        let mut agent = Self::prepare(parent, "", sections, OFTEN);
        agent.start_again();
        agent
    }

    /// An agent that reads so seldom that what it does in a test is not by its readings.
    pub fn start_reading_seldom(parent: &str) -> Self {
        let mut agent = Self::prepare(parent, "", "", SELDOM);
        agent.start_again();
        agent
    }

    /// An agent that is not root, whoever runs the test.
    pub fn start_without_root() -> Self {
        let mut agent = Self::prepare("elastane", "", "", OFTEN);
        agent.rootless = true;
        if geteuid().is_root() {
            chown(agent.directory.path(), Some(NOBODY), None).unwrap();
        }
        agent.start_again();
        agent
    }

    /// An agent that is not started yet; `socket` belongs to the section of that name.
    pub fn prepare_with(parent: &str, socket: &str, sections: &str) -> Self {
        Self::prepare(parent, socket, sections, OFTEN)
    }

    /// It runs as root with these capabilities, whoever started it, and can get no others.
    pub fn give_capabilities(&mut self, names: &[String]) {
        self.capabilities = Some(names.to_vec());
    }

    /// It runs in a mount namespace of its own, where this file is `/proc/meminfo`.
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
        Self {
            child: None,
            directory,
            rootless: false,
            capabilities: None,
            meminfo: None,
        }
    }

    /// Starts it anew with the same configuration.
    pub fn start_again(&mut self) {
        assert!(self.try_start(), "the agent does not start");
    }

    /// Whether it runs now, or has ended again.
    pub fn try_start(&mut self) -> bool {
        let mut command = self.command();
        command.args(["run", "--config"]).arg(self.config());
        let mut child = command.spawn().unwrap();
        let mut has_ended = false;
        // It listens before it has put back what another one left, and may end after it has.
        wait_until("the agent answers", || {
            has_ended = child.try_wait().unwrap().is_some();
            has_ended || self.try_ask(&AgentRequest::Collect).is_ok()
        });
        if !has_ended {
            self.child = Some(child);
        }
        !has_ended
    }

    pub fn command(&self) -> Command {
        let binary = env!("CARGO_BIN_EXE_elastane-agent");
        if let Some(names) = &self.capabilities {
            let names: Vec<String> = names.iter().map(|name| format!(",+{name}")).collect();
            let mut command = Command::new("setpriv");
            command
                .arg("--no-new-privs")
                .arg(format!("--bounding-set=-all{}", names.concat()))
                .arg(binary);
            return command;
        }
        if let Some(meminfo) = &self.meminfo {
            let script = "mount --bind \"$0\" /proc/meminfo && exec \"$@\"";
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", script]);
            command.arg(meminfo).arg(binary);
            return command;
        }
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

    /// What it knew when it closed its newest sample; null before the first.
    pub fn status(&self) -> serde_json::Value {
        let status = fs::read_to_string(self.directory.path().join("agent.sock.status"));
        let status = status.unwrap_or_else(|_| "null".into());
        serde_json::from_str(&status).unwrap()
    }

    /// What it has counted of a kind of trouble, up to its newest sample.
    pub fn troubles(&self, kind: &str) -> u64 {
        let status = self.status();
        let troubles = status["troubles"].as_array().unwrap();
        let mut counts = troubles.iter().filter(|trouble| trouble[0] == kind);
        counts
            .next()
            .map_or(0, |trouble| trouble[1].as_u64().unwrap())
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

    pub fn signal(&mut self, signal: Signal) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        ended(&mut child).unwrap_or_else(|| panic!("the agent does not end by {signal}"))
    }
}

/// Waits for the end of a process. One that does not end says where its threads are, and is killed.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    let threads = fs::read_dir(format!("/proc/{}/task", child.id()));
    for thread in threads.into_iter().flatten().flatten() {
        let of = |file| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let (name, call, stack) = (of("comm"), of("syscall"), of("stack"));
        eprintln!("{}: in {}: {stack}", name.trim(), call.trim());
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
            // A test that fails has to be able to end.
            assert!(
                ended(&mut child).is_some() || thread::panicking(),
                "the agent does not end"
            );
        }
    }
}
