//! What the agent costs: 20 small process trees, a NodeManager's exchange every 3 s, for 30 s.
//!
//! `cargo run --release -p elastane-agent --example bench_agent` prints one line. The agent is
//! this program started a second time, so that it is built from the same sources.

use std::{
    env,
    error::Error,
    fs,
    os::unix::{net::UnixStream, process::CommandExt},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, CpuStep, Reply, Report, RunningContainer, encode,
    frame,
};
use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};

const CONTAINERS: u32 = 20;
const EXCHANGES: u32 = 10;
const BETWEEN_EXCHANGES: Duration = Duration::from_secs(3);
/// A shell, a sleeper, and one that does a little all the time.
const SCRIPT: &str = "sleep 600 & while :; do i=0; while [ $i -lt 100 ]; do i=$((i+1)); done; \
                      sleep 1; done";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("run") {
        return elastane_agent::main();
    }
    match bench() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench_agent: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A process group that ends with this program.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.0.id()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

/// An agent that is asked to stop.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.0.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.0.wait();
    }
}

fn bench() -> Outcome<String> {
    let directory = tempfile::tempdir()?;
    let socket = directory.path().join("agent.sock");
    let config = directory.path().join("agent.toml");
    let text = format!(
        "[socket]\npath = \"{}\"\n[cgroup]\nparent = \"elastane-bench-{}\"\n",
        socket.display(),
        std::process::id()
    );
    fs::write(&config, text)?;
    let mut trees = Vec::new();
    for _ in 0..CONTAINERS {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", SCRIPT]).stdin(Stdio::null());
        trees.push(Group(shell.process_group(0).spawn()?));
    }
    let mut agent = Command::new(env::current_exe()?);
    let agent = Agent(agent.args(["run", "--config"]).arg(&config).spawn()?);
    wait_for(&socket)?;
    let running: Vec<RunningContainer> = (1..)
        .zip(&trees)
        .map(|(number, tree)| RunningContainer {
            container: format!("container_e17_1410901177871_0001_01_{number:06}"),
            pid: tree.0.id(),
        })
        .collect();
    // Groups are made and trees are moved once; that is not what a second costs.
    exchange(&socket, &running)?;

    let (begun, before) = (Instant::now(), cpu_nanoseconds(&agent)?);
    let mut report_bytes = 0;
    let mut limited = false;
    for _ in 0..EXCHANGES {
        thread::sleep(BETWEEN_EXCHANGES);
        let report = exchange(&socket, &running)?;
        report_bytes = encode(&report)?.len();
        limited = report.can_limit_cpu;
    }
    let used = cpu_nanoseconds(&agent)? - before;
    let percent = used as f64 / begun.elapsed().as_nanos() as f64 * 100.0;
    Ok(format!(
        "agent containers={CONTAINERS} cpu_percent={percent:.3} rss_mb={:.1} \
         report_bytes={report_bytes} limited={limited}",
        resident_mb(&agent)?
    ))
}

/// One exchange as a NodeManager has it; every container gets a new limit each time.
fn exchange(socket: &Path, running: &[RunningContainer]) -> Outcome<Report> {
    ask(socket, &AgentRequest::Containers(running.to_vec()))?;
    let AgentResponse::Report(report) = ask(socket, &AgentRequest::Collect)? else {
        return Err("no report".into());
    };
    let weight_cores = 1.0 + (report.sequence % 2) as f32;
    let step = |offset_ms, cap_cores| CpuStep {
        offset_ms,
        weight_cores,
        cap_cores: Some(cap_cores),
    };
    let plan = |container: &RunningContainer| ContainerPlan {
        container: container.container.clone(),
        cpu: vec![step(0, 0.5), step(3000, 0.6), step(6000, 0.7)],
    };
    let reply = Reply {
        acknowledged: report.sequence,
        valid_for_ms: 120_000,
        plans: running.iter().map(plan).collect(),
    };
    ask(socket, &AgentRequest::Apply(reply))?;
    Ok(report)
}

fn ask(socket: &Path, request: &AgentRequest) -> Outcome<AgentResponse> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    frame::write(&mut stream, request)?;
    match frame::read(&mut stream)? {
        AgentResponse::Refused(reason) => Err(reason.into()),
        response => Ok(response),
    }
}

fn wait_for(socket: &Path) -> Outcome<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while UnixStream::connect(socket).is_err() {
        if Instant::now() > deadline {
            return Err("the agent does not answer".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The time that all threads of the agent ran; `stat` counts in hundredths of a second, which is
/// too coarse here.
fn cpu_nanoseconds(agent: &Agent) -> Outcome<u64> {
    let mut total = 0;
    for task in fs::read_dir(format!("/proc/{}/task", agent.0.id()))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        let running = text.split(' ').next().unwrap_or_default();
        total += running.parse::<u64>()?;
    }
    Ok(total)
}

fn resident_mb(agent: &Agent) -> Outcome<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", agent.0.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.ok_or("no VmRSS")?.trim().trim_end_matches(" kB");
    Ok(kib.trim().parse::<f64>()? / 1024.0)
}
