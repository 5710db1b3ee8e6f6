//! Real process trees.

use std::{
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use elastane_protocol::{ContainerPlan, CpuStep, RunningContainer};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::{Pid, SysconfVar, sysconf},
};

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

    /// Its processes, which never leave their process group: pid, and the fields of
    /// `/proc/PID/stat` from the state on.
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

    /// CPU time of its processes up to now.
    pub fn cpu_seconds(&self) -> f64 {
        let ticks_of = |fields: &[String]| -> u64 {
            let user_and_system = fields[11..13].iter();
            user_and_system
                .map(|ticks| ticks.parse::<u64>().unwrap())
                .sum()
        };
        let processes = self.processes();
        let ticks: u64 = processes.iter().map(|(_, fields)| ticks_of(fields)).sum();
        let ticks_per_second = sysconf(SysconfVar::CLK_TCK).unwrap().unwrap();
        ticks as f64 / ticks_per_second as f64
    }

    /// Whose process it is.
    pub fn uid(&self) -> u32 {
        fs::metadata(format!("/proc/{}", self.pid())).unwrap().uid()
    }

    /// Where it is in the hierarchies of cpu and cpuacct.
    pub fn place(&self) -> [String; 2] {
        [self.cgroup("cpu"), self.cgroup("cpuacct")]
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
