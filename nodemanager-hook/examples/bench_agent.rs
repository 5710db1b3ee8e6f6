//! What the agent costs: 20 small process trees, a NodeManager's exchange every 3 s; for 12 s no
//! plan limits them, for 12 s all of them have a new limit with each exchange.
//!
//! `cargo run --release -p elastane-agent --example bench_agent` prints a line for each and ends
//! with 1 when the agent costs more than it may. The agent is this program started a second time,
//! so that it is built from the same sources.

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
/// What the agent may cost, of one core; "What it costs" of docs/agent.md promises it.
const MOST_CPU_PERCENT: f64 = 1.0;
/// What it may hold resident; promised there too.
const MOST_RESIDENT_MB: f64 = 20.0;
/// Of each kind.
const EXCHANGES: u32 = 4;
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
        Ok(costs) => {
            let too_much = costs.iter().any(Cost::is_too_much);
            if too_much {
                eprintln!(
                    "bench_agent: allowed are {MOST_CPU_PERCENT} % of a core and \
                     {MOST_RESIDENT_MB} MB resident"
                );
            }
            ExitCode::from(u8::from(too_much))
        }
        Err(error) => {
            eprintln!("bench_agent: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the agent cost over some exchanges.
struct Cost {
    cpu_percent: f64,
    resident_mb: f64,
}

impl Cost {
    fn is_too_much(&self) -> bool {
        self.cpu_percent > MOST_CPU_PERCENT || self.resident_mb > MOST_RESIDENT_MB
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

fn bench() -> Outcome<Vec<Cost>> {
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
    let mut costs = Vec::new();
    for is_limited in [false, true] {
        costs.push(measure(&agent, &socket, &running, is_limited)?);
    }
    Ok(costs)
}

fn measure(
    agent: &Agent,
    socket: &Path,
    running: &[RunningContainer],
    is_limited: bool,
) -> Outcome<Cost> {
    let begun = Instant::now();
    // Groups are made and trees are moved once; that is not what a second costs.
    exchange(socket, running, is_limited)?;
    let first_exchange = begun.elapsed();
    let (begun, before) = (Instant::now(), cpu_nanoseconds(agent)?);
    let mut report = None;
    for _ in 0..EXCHANGES {
        thread::sleep(BETWEEN_EXCHANGES);
        report = Some(exchange(socket, running, is_limited)?);
    }
    let used = cpu_nanoseconds(agent)? - before;
    let cost = Cost {
        cpu_percent: used as f64 / begun.elapsed().as_nanos() as f64 * 100.0,
        resident_mb: resident_mb(agent)?,
    };
    let report = report.ok_or("no exchange")?;
    let limited = report.containers.iter();
    println!(
        "agent containers={CONTAINERS} limited={} processes_on_node={} cpu_percent={:.3} \
         rss_mb={:.1} report_bytes={} first_exchange_ms={}",
        limited.filter(|one| one.cpu_limit.is_some()).count(),
        processes_on_node()?,
        cost.cpu_percent,
        cost.resident_mb,
        encode(&report)?.len(),
        first_exchange.as_millis()
    );
    Ok(cost)
}

/// One exchange as a NodeManager has it; every container gets a new limit each time, or none.
fn exchange(socket: &Path, running: &[RunningContainer], is_limited: bool) -> Outcome<Report> {
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
    let limited = running.iter().filter(|_| is_limited);
    let reply = Reply {
        acknowledged: report.sequence,
        valid_for_ms: 120_000,
        plans: limited.map(plan).collect(),
    };
    ask(socket, &AgentRequest::Apply(reply))?;
    Ok(report)
}

/// A container that no plan limits is measured by a scan of all of them.
fn processes_on_node() -> Outcome<usize> {
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let entries = fs::read_dir("/proc")?.flatten();
    let names = entries.map(|entry| entry.file_name());
    Ok(names
        .filter(|name| name.to_str().is_some_and(is_process))
        .count())
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
