//! A running agent: its socket, and its resources as the kernel counts them.

use std::{
    env, fs,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, Reply, Report, RunningContainer, frame,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::Outcome;

const PATIENCE: Duration = Duration::from_secs(10);

/// An agent with a folder and a parent group of its own. Dropping it stops the agent.
pub struct Agent {
    child: Child,
    folder: tempfile::TempDir,
}

impl Agent {
    /// The name of its parent group.
    pub fn parent() -> String {
        format!("elastane-bench-{}", std::process::id())
    }

    pub fn start() -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().display();
        let parent = Self::parent();
        let text = format!(
            "[socket]\npath = \"{path}/agent.sock\"\n[cgroup]\nparent = \"{parent}\"\n\
             [audit]\nfile = \"{path}/audit.jsonl\"\n"
        );
        let config = folder.path().join("agent.toml");
        fs::write(&config, text)?;
        let mut command = Command::new(env::current_exe()?);
        let child = command.args(["run", "--config"]).arg(&config).spawn()?;
        let agent = Self { child, folder };
        let deadline = Instant::now() + PATIENCE;
        while UnixStream::connect(agent.socket()).is_err() {
            if Instant::now() > deadline {
                return Err("the agent does not answer".into());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(agent)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("agent.sock")
    }

    /// One exchange like a NodeManager's. `plan` makes the plan from the report.
    pub fn exchange(
        &self,
        running: Vec<RunningContainer>,
        plan: impl FnOnce(&Report) -> Vec<ContainerPlan>,
    ) -> Outcome<Report> {
        self.ask(&AgentRequest::Containers(running))?;
        let report = self.collect()?;
        let reply = Reply {
            acknowledged: report.sequence,
            valid_for_ms: 120_000,
            plans: plan(&report),
            ..Reply::default()
        };
        self.ask(&AgentRequest::Apply(reply))?;
        Ok(report)
    }

    pub fn collect(&self) -> Outcome<Report> {
        match self.ask(&AgentRequest::Collect)? {
            AgentResponse::Report(report) => Ok(report),
            other => Err(format!("no report: {other:?}").into()),
        }
    }

    fn ask(&self, request: &AgentRequest) -> Outcome<AgentResponse> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        frame::write(&mut stream, request)?;
        match frame::read(&mut stream)? {
            AgentResponse::Refused(reason) => Err(reason.into()),
            response => Ok(response),
        }
    }

    /// The CPU time of all threads, from `schedstat`: the ticks of `stat` are too coarse here.
    pub fn cpu_nanoseconds(&self) -> Outcome<u64> {
        let mut total = 0;
        for task in fs::read_dir(self.proc("task"))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            let running = text.split(' ').next().unwrap_or_default();
            total += running.parse::<u64>()?;
        }
        Ok(total)
    }

    pub fn resident_mb(&self) -> Outcome<f64> {
        let status = fs::read_to_string(self.proc("status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.ok_or("no VmRSS")?.trim().trim_end_matches(" kB");
        Ok(kib.trim().parse::<f64>()? / 1024.0)
    }

    /// The number of open descriptors, and of those for BPF objects.
    pub fn descriptors(&self) -> Outcome<(usize, usize)> {
        let mut all = 0;
        let mut bpf = 0;
        for entry in fs::read_dir(self.proc("fd"))?.flatten() {
            all += 1;
            let target = fs::read_link(entry.path()).unwrap_or_default();
            bpf += usize::from(target.to_string_lossy().contains("bpf"));
        }
        Ok((all, bpf))
    }

    fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string()).join(name)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.child.wait();
    }
}
