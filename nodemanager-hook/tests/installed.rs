//! The agent as README.md installs it, and a NodeManager's service as agent-limits.md sets it up, where systemd boots.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    fs,
    os::unix::net::UnixStream,
    path::Path,
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use common::{
    PATIENCE, cgroup_of, is_version_2_alone, mount_point, runs_as_unit, times_slower, wait_until,
};
use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, Limits, Reply, RunningContainer, Step, frame,
};

const BINARY: &str = "/usr/local/bin/elastane-agent";
const CONFIG: &str = "/etc/elastane/agent.toml";
const UNITS: &str = "/etc/systemd/system";
const AGENT: &str = "elastane-agent.service";
const NODE_MANAGER: &str = "elastane-test-nodemanager.service";
const OTHER: &str = "elastane-test-other.service";
const BUSY: &str = "while :; do :; done";

fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

fn systemctl(arguments: &[&str]) -> String {
    let done = run("systemctl", arguments);
    assert!(done.status.success(), "systemctl {arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// The files of README.md, and two services. Dropping it stops and removes all. None outside of the guest.
struct Host;

impl Host {
    fn new() -> Option<Self> {
        if !runs_as_unit() {
            return None;
        }
        fs::copy(env!("CARGO_BIN_EXE_elastane-agent"), BINARY).unwrap();
        fs::create_dir_all("/etc/elastane").unwrap();
        let config = include_str!("../agent.toml");
        let parent = format!("parent = \"system.slice/{NODE_MANAGER}/elastane\"");
        let delegated = config.replace("parent = \"elastane\"", &parent);
        assert_ne!(delegated, config);
        fs::write(CONFIG, if is_version_2_alone() { &delegated } else { config }).unwrap();
        let unit = |name: &str, text: &str| fs::write(Path::new(UNITS).join(name), text).unwrap();
        unit(AGENT, include_str!("../elastane-agent.service"));
        let slower = 30 * times_slower();
        settings("slower", &format!("TimeoutStopSec={slower}"));
        // Two containers, each of which wants all cores.
        let containers = format!("(({BUSY}) & {BUSY}) & (({BUSY}) & {BUSY}) & wait");
        let enter = "group=/sys/fs/cgroup/system.slice/%n/nodemanager && mkdir -p $$group && \
                     echo $$$$ > $$group/cgroup.procs || exit 1; ";
        let enter = if is_version_2_alone() { enter } else { "" };
        unit(
            NODE_MANAGER,
            &format!("[Service]\nDelegate=yes\nExecStart=/bin/sh -c '{enter}{containers}'\n"),
        );
        unit(OTHER, &format!("[Service]\nExecStart=/bin/sh -c '({BUSY}) & {BUSY}'\n"));
        systemctl(&["daemon-reload"]);
        systemctl(&["start", NODE_MANAGER, AGENT]);
        let host = Self;
        wait_until("the containers run", || host.containers().len() == 2);
        Some(host)
    }

    /// The containers: children of the service's main process, with their cgroups.
    fn containers(&self) -> Vec<(RunningContainer, String)> {
        let container = |(number, pid): (usize, u32)| {
            let container = format!("container_1_0001_01_{:06}", number + 1);
            let cgroup = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
            (RunningContainer { container, pid, request_memory_bytes: 0 }, cgroup)
        };
        children(main_process(NODE_MANAGER)).into_iter().enumerate().map(container).collect()
    }

    fn cgroups(&self) -> Vec<String> {
        self.containers().into_iter().map(|(_, cgroup)| cgroup).collect()
    }

    /// Lists the containers, and plans for each a large weight and a cap.
    fn limit(&self) {
        let list: Vec<_> = self.containers().into_iter().map(|(running, _)| running).collect();
        let plan = |running: &RunningContainer| {
            let limits = Limits {
                cpu_weight_cores: Some(64.0),
                cpu_cap_cores: Some(1.5),
                ..Limits::default()
            };
            let steps = vec![Step { offset_ms: 0, limits }];
            ContainerPlan { container: running.container.clone(), steps }
        };
        let plans = list.iter().map(plan).collect();
        assert_eq!(ask(&AgentRequest::Containers(list)), Some(AgentResponse::Done));
        let reply = Reply { acknowledged: 0, valid_for_ms: 600_000, plans, ..Reply::default() };
        assert_eq!(ask(&AgentRequest::Apply(reply)), Some(AgentResponse::Done));
        for (running, _) in self.containers() {
            let group = cgroup_of(running.pid, "cpu");
            assert!(group.ends_with(&format!("/{}", running.container)), "{group}");
            let group = mount_point("cpu").unwrap().join(group.trim_start_matches('/'));
            let cap = match is_version_2_alone() {
                true => ("cpu.max", "150000 100000"),
                false => ("cpu.cfs_quota_us", "150000"),
            };
            assert_eq!(fs::read_to_string(group.join(cap.0)).unwrap().trim(), cap.1);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let log = run("journalctl", &["--unit", AGENT, "--no-pager", "--quiet"]);
        eprint!("{}", String::from_utf8_lossy(&log.stdout));
        for unit in [OTHER, AGENT, NODE_MANAGER] {
            run("systemctl", &["stop", unit]);
            let _ = fs::remove_file(Path::new(UNITS).join(unit));
        }
        run("systemctl", &["daemon-reload"]);
        let _ = (fs::remove_file(BINARY), fs::remove_file(CONFIG));
        let _ = fs::remove_dir_all(Path::new(UNITS).join(format!("{AGENT}.d")));
    }
}

/// Adds to the agent's unit, as `systemctl edit` does.
fn settings(name: &str, line: &str) {
    let directory = Path::new(UNITS).join(format!("{AGENT}.d"));
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("{name}.conf")), format!("[Service]\n{line}\n")).unwrap();
}

/// None while no agent answers.
fn ask(request: &AgentRequest) -> Option<AgentResponse> {
    let mut stream = UnixStream::connect("/run/elastane/agent.sock").ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    frame::write(&mut stream, request).ok()?;
    frame::read(&mut stream).ok()
}

/// Tells an agent from the one before it. None while none answers.
fn agent_run() -> Option<u64> {
    match ask(&AgentRequest::Collect)? {
        AgentResponse::Report(report) => Some(report.agent_run),
        other => panic!("{other:?}"),
    }
}

fn main_process(service: &str) -> u32 {
    systemctl(&["show", "--value", "--property=MainPID", service]).parse().unwrap()
}

fn children(pid: u32) -> Vec<u32> {
    let pids = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// The CPU time of a process and of all below it.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1.split_whitespace();
    let own: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    children(pid).into_iter().map(cpu_ticks).sum::<u64>() + own
}

/// The time in which the cores were not idle.
fn busy_ticks() -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap();
    let fields = stat.lines().next().unwrap().split_whitespace().skip(1);
    let fields: Vec<u64> = fields.map(|ticks| ticks.parse().unwrap()).collect();
    fields[..3].iter().sum()
}

#[test]
fn the_installed_unit_limits_containers_and_undoes_it_whichever_way_it_ends() {
    let Some(host) = Host::new() else { return };
    let before = host.cgroups();

    let doctor = run(BINARY, &["doctor"]);
    let text = String::from_utf8(doctor.stdout).unwrap();
    // No local directories are configured, so that it has advice.
    assert_eq!(doctor.status.code(), Some(1), "{text}");
    assert!(text.contains("CPU ") && text.contains("disk.local_dirs"), "{text}");
    assert!(!text.contains("containers are limited in"), "{text}");

    let first = agent_run().unwrap();
    host.limit();
    systemctl(&["kill", "--kill-who=main", "--signal=SIGKILL", AGENT]);
    wait_until("systemd has started it again", || agent_run().is_some_and(|run| run != first));
    assert_eq!(host.cgroups(), before);
    host.limit();
    systemctl(&["stop", AGENT]);
    assert_eq!(host.cgroups(), before);

    // Without another agent, `ExecStopPost=` alone undoes it.
    settings("once", "Restart=no");
    systemctl(&["daemon-reload"]);
    systemctl(&["start", AGENT]);
    host.limit();
    systemctl(&["kill", "--kill-who=main", "--signal=SIGKILL", AGENT]);
    let state = || systemctl(&["show", "--value", "--property=ActiveState", AGENT]);
    wait_until("it has ended", || state() == "failed");
    assert_eq!(host.cgroups(), before);
}

#[test]
fn a_service_beside_containers_that_want_all_cores_has_its_part_and_the_host_answers() {
    let Some(host) = Host::new() else { return };
    host.limit();
    systemctl(&["start", OTHER]);
    let ticks = || (cpu_ticks(main_process(NODE_MANAGER)), busy_ticks());
    let before = ticks();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        let asked = Instant::now();
        let answered = run("systemd-run", &["--wait", "--quiet", "--collect", "true"]);
        assert!(answered.status.success(), "{answered:?}");
        let most = Duration::from_secs(if is_version_2_alone() { 2 } else { 8 }) * times_slower();
        assert!(asked.elapsed() < most, "{:?}", asked.elapsed());
        thread::sleep(Duration::from_millis(100));
    }
    let now = ticks();
    let of_containers = (now.0 - before.0) as f64 / (now.1 - before.1) as f64;
    let part = 1.0 - of_containers;
    println!("{part:.3} of the CPU time is not the containers'");
    // Version 2: the containers are within one of two services, which share evenly. Version 1: the reserve of system.slice.
    let least = if is_version_2_alone() { 0.4 } else { 0.08 };
    assert!(part > least, "{part:.3}");
}
