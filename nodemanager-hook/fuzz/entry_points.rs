//! Entry points of the fuzz targets; built for them only.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path, time::Instant};

use elastane_protocol::{AgentRequest, Limits, Reply};

use crate::{
    actuators::{self, LimitFile, cpu_settings, limits_of},
    cgroups::{Controller, Hierarchies, Version},
    container_id::ContainerId,
    containers, jvm,
    memory_watch::MemoryEvents,
    netlink, network,
    plan::Plan,
    sensors::{
        Device, Disks, GroupFile, HeldFile, NodeSensor, ProcFs, is_virtual_machine,
        link_bytes_per_s, pressure,
    },
    spark,
};

const PID: u32 = 10;
const OF_A_PROCESS: [&str; 5] = ["stat", "statm", "io", "status", "cgroup"];
const OF_THE_NODE: [&str; 6] =
    ["stat", "meminfo", "diskstats", "pressure/cpu", "pressure/memory", "pressure/io"];
const OF_A_GROUP: [&str; 4] = ["cpuacct.usage", "cpu.stat", "memory.stat", "io.stat"];
const OF_A_LIMITED_GROUP: [&str; 17] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "cgroup.events",
    "cgroup.procs",
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "cpu.max",
    "cpu.shares",
    "cpu.weight",
    "freezer.state",
    "io.max",
    "memory.current",
    "memory.events",
    "memory.high",
    "memory.limit_in_bytes",
    "memory.max",
    "memory.usage_in_bytes",
];
/// The agent's own pid in these files.
const AGENT: u32 = 77;

/// A folder in which every kernel file that the agent reads has the same content.
#[derive(Debug)]
pub struct FakeKernelFiles<'a> {
    folder: &'a Path,
}

impl<'a> FakeKernelFiles<'a> {
    /// Makes the files in an empty folder.
    pub fn make(folder: &'a Path) -> std::io::Result<Self> {
        let bytes = folder.join("bytes");
        fs::write(&bytes, "")?;
        let process = PID.to_string();
        for (name, files) in [
            (process.as_str(), &OF_A_PROCESS[..]),
            ("", &OF_THE_NODE[..]),
            ("group", &OF_A_GROUP[..]),
            ("group", &OF_A_LIMITED_GROUP[..]),
        ] {
            for file in files {
                let path = folder.join(name).join(file);
                fs::create_dir_all(path.parent().unwrap_or(folder))?;
                symlink(&bytes, path)?;
            }
        }
        Ok(Self { folder })
    }

    /// Reads all files as the agent does. Nothing may panic.
    pub fn read(&self, bytes: &[u8]) {
        if fs::write(self.folder.join("bytes"), bytes).is_err() {
            return;
        }
        let proc = ProcFs::new(self.folder);
        let _ = proc.process(PID);
        let _ = proc.memory(PID, &mut HeldFile::default());
        let _ = proc.disk_traffic(PID, &mut HeldFile::default());
        let _ = proc.users(PID);
        let _ = proc.cgroup(PID);
        let disks = [Device { major: 8, minor: 0 }];
        let _ = NodeSensor::new(disks.to_vec()).read(&proc, Instant::now());
        let _ = pressure(&proc);
        let group = self.folder.join("group");
        for version in [Version::One, Version::Two] {
            for name in OF_A_GROUP {
                if let Ok(file) = GroupFile::open(&group, name, version) {
                    let _ = file.cpu_nanoseconds();
                    let _ = file.pids();
                    let _ = file.throttling();
                    let _ = file.memory();
                    let _ = file.disk(&disks);
                }
            }
        }
        self.read_limits(&group);
        let text = String::from_utf8_lossy(bytes);
        let _ = Disks::new(self.folder).behind(Path::new("/proc"), &text);
        read_text(&text);
        let _ = network::Discipline::parse(bytes);
        let _ = netlink::take_answers(bytes, 1, &mut Vec::new());
    }

    fn read_limits(&self, group: &Path) {
        let _ = limits_of(group);
        let _ = actuators::read_pids_below(group);
        let mut files = actuators::KernelFiles::default();
        let limits =
            Limits { cpu_weight_cores: Some(1.5), cpu_cap_cores: Some(0.5), ..Limits::default() };
        if let Ok(around) = files.around(group, self.folder, false) {
            let _ = cpu_settings(&limits, Version::One, around);
        }
        let _ = actuators::period_us(group);
        for name in ["memory.current", "memory.usage_in_bytes"] {
            let _ = GroupFile::open(group, name, Version::One).and_then(|file| file.number());
        }
        let _ = MemoryEvents::new(group).and_then(|mut events| events.passed());
        for (file_system, cgroup) in [("cgroup", "6:freezer:/group"), ("cgroup2", "0::/group")] {
            let folder = self.folder.display();
            let mount = format!("1 2 0:3 / {folder} rw - {file_system} none rw,freezer");
            let _ = jvm::JvmHost::new(self.folder, &mount).has_frozen(cgroup);
        }
    }
}

/// Reads the kernel's files about a JVM.
pub fn read_files_of_a_jvm(bytes: &[u8]) {
    let _ = jvm::scan_mappings(bytes, 23);
    let text = String::from_utf8_lossy(bytes);
    if let Ok(stages) = spark::parse_progress(bytes) {
        assert!((0.0..=1.0).contains(&stages.part_begun));
    }
    if let Some(status) = jvm::ProcessStatus::parse(&text) {
        let _ = status.can_answer();
    }
}

/// Checks a request as a running agent does before it acts.
pub fn check_request(request: &AgentRequest) {
    match request {
        AgentRequest::Containers(list) => {
            if let Ok(running) = containers::check(list, &[AGENT]) {
                assert_eq!(running.len(), list.len());
                assert!(running.values().all(|one| one.pid > 2 && one.pid != AGENT));
            }
        }
        AgentRequest::Apply(reply) => check_plan(reply),
        _ => {}
    }
}

/// Checks a plan, and follows a valid one to its end.
pub fn check_plan(reply: &Reply) {
    let received = Instant::now();
    let Ok(plan) = Plan::new(reply, received) else {
        return;
    };
    let ids: BTreeMap<ContainerId, &Limits> = (reply.plans.iter())
        .filter_map(|one| Some((one.container.parse().ok()?, &one.steps.first()?.limits)))
        .collect();
    assert_eq!(ids.len(), reply.plans.len());
    let mut now = received;
    while let Some(next) = plan.next_change(now) {
        for (container, first) in &ids {
            let limits = plan.limits_at(container, now);
            assert!(now > received || limits == Some(**first));
            let _ = plan.limited(container, now);
        }
        let _ = (plan.limits_memory(now), plan.limits_anything(now));
        assert!(next > now);
        now = next;
    }
    assert!(plan.has_ended(now));
}

fn read_text(text: &str) {
    let _ = is_virtual_machine(text);
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let _ = link_bytes_per_s(first, rest.trim());
    let _ = network::in_ipv4_routes(text);
    let _ = network::in_ipv6_routes(text);
    let _ = network::speed_bytes_per_s(text);
    let hierarchies = Hierarchies::discover(text, |_| text.to_owned());
    for controller in Controller::ALL {
        if let Some(hierarchy) = hierarchies.serving(controller) {
            let _ = hierarchy.directory_of(text);
        }
    }
    let _ = text.parse::<ContainerId>();
    for device in LimitFile::devices_in(text) {
        for file in LimitFile::of_device(device) {
            let _ = file.parse(text);
        }
    }
    for file in LimitFile::of_any_device() {
        // A written value is read back.
        if let Some(value) = file.parse(text) {
            assert_eq!(file.parse(&file.text(value)), Some(value));
        }
    }
}
