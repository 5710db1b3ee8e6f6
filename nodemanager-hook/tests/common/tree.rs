//! Real process trees.

use std::{
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use elastane_protocol::{ContainerPlan, Limits, RunningContainer, Step};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::{Pid, SysconfVar, sysconf},
};

/// The group of a process for a controller, in version 1 or else in version 2.
pub fn cgroup_of(pid: u32, controller: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let has = |line: &&str, name: &str| {
        let controllers = line.split(':').nth(1).unwrap();
        controllers.split(',').any(|one| one == name)
    };
    let version_1 = text.lines().find(|line| has(line, controller));
    let line = version_1.or_else(|| text.lines().find(|line| has(line, "")));
    line.unwrap().splitn(3, ':').nth(2).unwrap().to_owned()
}

/// A process tree in the place of a container, in a process group of its own.
pub struct Tree {
    pub id: String,
    pub request_memory_bytes: u64,
    child: Child,
}

impl Tree {
    /// Runs a shell script.
    pub fn new(script: &str) -> Self {
        Self::of(Command::new("sh").args(["-c", script]).process_group(0))
    }

    /// Runs a shell script in a session of its own, as YARN does.
    pub fn in_session(script: &str) -> Self {
        Self::of(Command::new("setsid").args(["sh", "-c", script]))
    }

    fn of(command: &mut Command) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = format!("container_{}_0001_01_{number:06}", std::process::id());
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        Self { id, request_memory_bytes: 0, child }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn running(&self) -> RunningContainer {
        RunningContainer {
            container: self.id.clone(),
            pid: self.pid(),
            request_memory_bytes: self.request_memory_bytes,
        }
    }

    /// A plan of one step.
    pub fn limited(&self, limits: Limits) -> ContainerPlan {
        ContainerPlan { container: self.id.clone(), steps: vec![Step { offset_ms: 0, limits }] }
    }

    pub fn plan(&self, cpu: &[(u32, f32, Option<f32>)]) -> ContainerPlan {
        let step = |(offset_ms, weight_cores, cap_cores): &(u32, f32, Option<f32>)| Step {
            offset_ms: *offset_ms,
            limits: Limits {
                cpu_weight_cores: Some(*weight_cores),
                cpu_cap_cores: *cap_cores,
                ..Limits::default()
            },
        };
        ContainerPlan { container: self.id.clone(), steps: cpu.iter().map(step).collect() }
    }

    /// The tree's group for a controller, in version 1 or else in version 2.
    pub fn cgroup(&self, controller: &str) -> String {
        cgroup_of(self.pid(), controller)
    }

    /// The processes of the process group: pid, and the fields of `/proc/PID/stat` from the state on.
    pub fn processes(&self) -> Vec<(u32, Vec<String>)> {
        let process_group = self.pid().to_string();
        let mut processes = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if let (Some(pid), Some((_, fields))) = (pid, stat.rsplit_once(") ")) {
                let fields: Vec<String> = fields.split_whitespace().map(str::to_owned).collect();
                if fields[2] == process_group {
                    processes.push((pid, fields));
                }
            }
        }
        processes
    }

    /// The number of processes that are not zombies.
    pub fn running_processes(&self) -> usize {
        let processes = self.processes();
        processes.iter().filter(|(_, fields)| fields[0] != "Z").count()
    }

    /// The start of the root process, since boot.
    pub fn start_ticks(&self) -> u64 {
        let processes = self.processes();
        let root = processes.iter().find(|(pid, _)| *pid == self.pid());
        root.map_or(0, |(_, fields)| fields[19].parse().unwrap())
    }

    /// The CPU time of all processes.
    pub fn cpu_seconds(&self) -> f64 {
        let ticks_of = |fields: &[String]| -> u64 {
            let user_and_system = fields[11..13].iter();
            user_and_system.map(|ticks| ticks.parse::<u64>().unwrap()).sum()
        };
        let processes = self.processes();
        let ticks: u64 = processes.iter().map(|(_, fields)| ticks_of(fields)).sum();
        let ticks_per_second = sysconf(SysconfVar::CLK_TCK).unwrap().unwrap();
        ticks as f64 / ticks_per_second as f64
    }

    pub fn uid(&self) -> u32 {
        fs::metadata(format!("/proc/{}", self.pid())).unwrap().uid()
    }

    /// The tree's groups in all hierarchies that the agent uses.
    pub fn place(&self) -> [String; 4] {
        ["cpu", "cpuacct", "memory", "blkio"].map(|controller| self.cgroup(controller))
    }

    /// Whether the tree is in a group of its own for a controller.
    pub fn is_in_group_for(&self, controller: &str) -> bool {
        self.cgroup(controller).ends_with(&self.id)
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
