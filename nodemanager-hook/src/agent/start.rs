//! The start of an agent: it inspects the host and restores the changes of a killed agent.

use std::{
    collections::BTreeSet,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use elastane_protocol::{CanLimit, Capacity, Limits};
use nix::unistd::geteuid;

use super::{
    Actuator, Agent,
    capacity::capacity,
    heaps::NodeHeaps,
    node::Node,
    node_network::{self, NodeNetwork},
};
use crate::{
    actuators::{
        Change, KernelFiles, LimitError, LimitFile, Margin, OwnGroups, Value, container_of,
        limits_of,
    },
    audit::{Audit, Reason},
    cgroups::{Controller, Hierarchies},
    config::Config,
    journal::Journal,
    memory_watch::MemoryWatch,
    network::Chosen,
    once::Once,
    own_file::beside,
    report::Identity,
    samples::Samples,
    sensors::{Device, Disks, KernelThreads, NodeSensor, ProcFs, ProcessTable},
    status,
};

const PROC: &str = "/proc";
const SYS: &str = "/sys";

impl Agent {
    /// Inspects the host, reads the journal, and restores all changes of a killed agent, since a new
    /// agent has no plan.
    pub fn start(config: &Config) -> Result<Self, String> {
        let proc = ProcFs::new(Path::new(PROC));
        let unreadable = |path: &Path, error| format!("cannot read {}: {error}", path.display());
        let read = |name: &str| {
            let path = proc.path(name);
            fs::read_to_string(&path).map_err(|error| unreadable(&path, error))
        };
        let mountinfo = read("self/mountinfo")?;
        let mut hierarchies = Hierarchies::of_this_host(&mountinfo);
        let network = node_network::choose(&config.network, &hierarchies);
        hierarchies.serve_network(network.as_ref().map(Chosen::groups));
        let disks = Disks::new(Path::new(SYS));
        let local_disks = local_disks(&disks, &config.disk.local_dirs, &mountinfo);
        let mut capacity = capacity(&config.capacity, &read("meminfo")?);
        let mut kernel_threads = KernelThreads::default();
        let table = ProcessTable::scan(&proc, &mut kernel_threads);
        let table = table.map_err(|error| unreadable(Path::new(PROC), error))?;
        let troubles = Once::default();
        let audit_file = config.audit.file.as_deref();
        let audit = Audit::open(audit_file, troubles.clone()).map_err(|error| {
            let file = audit_file.unwrap_or(Path::new("")).display();
            format!("cannot open audit.file {file}: {error}")
        })?;
        let mut actuator = Actuator {
            files: KernelFiles::default(),
            journal: journal(&config.socket.path, &hierarchies),
            audit,
            margin: Margin { min_bytes: config.memory.margin_bytes },
            disks: local_disks.clone(),
            troubles: troubles.clone(),
        };
        let measured_disks = match local_disks.is_empty() {
            true => disks.physical(),
            false => local_disks.clone(),
        };
        let node = Node::new(
            NodeSensor::new(measured_disks),
            config.memory.node_floor_bytes,
            config.memory.kill_after(),
            &proc,
        );
        let own_groups = own_groups(config, &hierarchies, capacity.cpu_cores, &mut actuator)?;
        let own = own_groups.as_ref();
        let network = NodeNetwork::open(
            &config.network,
            network,
            own.and_then(|own| own.parent_of(Controller::Network)).as_deref(),
            config.capacity.network_bytes_per_s,
            &mut actuator.journal,
        );
        let configured = &config.capacity;
        if configured.disk_bytes_per_s.is_none() {
            let cpuinfo = read("cpuinfo").ok();
            let detected = cpuinfo.and_then(|cpuinfo| disks.bytes_per_s(&local_disks, &cpuinfo));
            capacity.disk_bytes_per_s = detected.unwrap_or(0);
        }
        if configured.network_bytes_per_s.is_none() {
            capacity.network_bytes_per_s = network.link_bytes_per_s();
        }
        let memory_watch =
            MemoryWatch::new().map_err(|error| format!("cannot watch memory limits: {error}"))?;
        let mut agent = Self {
            identity: Identity {
                agent_run: RandomState::new().build_hasher().finish(),
                can_limit: can_limit(own, &local_disks, &network),
                capacity,
            },
            forbidden: table.ancestors(std::process::id()),
            proc,
            kernel_threads,
            hierarchies,
            own_groups,
            from_arrival: config.cgroup.from_arrival,
            containers: Default::default(),
            node,
            network,
            heaps: NodeHeaps::open(config.jvm, Path::new(PROC), troubles.clone()),
            memory_watch: Arc::new(memory_watch),
            samples: Samples::default(),
            reported: 0,
            plan: None,
            actuator,
            leaving: Default::default(),
            removed_at_start: 0,
            troubles,
            status_file: status::path(&config.socket.path),
            stopped: false,
        };
        agent.put_back_left_behind();
        Ok(agent)
    }

    /// The node's size and the resources that the agent can limit, for the log.
    pub fn describe(&self) -> String {
        let Capacity { cpu_cores, memory_bytes, .. } = self.identity.capacity;
        let can_limit = self.identity.can_limit;
        let can = [
            (can_limit.cpu, "CPU"),
            (can_limit.memory, "memory"),
            (can_limit.disk, "disk traffic"),
            (can_limit.network_received, "incoming traffic"),
            (can_limit.network_sent, "outgoing traffic"),
        ];
        let can = can.into_iter().filter_map(|(can, name)| can.then_some(name));
        let can: Vec<&str> = can.collect();
        let can = match can.is_empty() {
            true => "nothing".to_owned(),
            false => can.join(", "),
        };
        format!("{cpu_cores} cores, {memory_bytes} bytes of memory; can limit: {can}")
    }

    fn put_back_left_behind(&mut self) {
        let journal = &self.actuator.journal;
        let mut left_behind: BTreeSet<PathBuf> = journal.own_groups().cloned().collect();
        if let Some(own_groups) = &self.own_groups {
            left_behind.extend(own_groups.present());
        }
        let lifted = |group: &PathBuf| {
            let limits = limits_of(group).into_iter();
            limits.map(|(file, _)| (file, file.lifted())).collect()
        };
        let own = left_behind.iter().map(|group| (group.clone(), lifted(group)));
        let foreign = journal.former().clone();
        let groups: Vec<(PathBuf, Vec<(LimitFile, Value)>)> = own.chain(foreign).collect();
        for (group, values) in groups {
            self.lift(&group, values);
        }
        if !left_behind.is_empty() {
            let restored = self.empty_and_remove(&mut left_behind);
            self.removed_at_start = restored.removed;
            log::info!("removed {} groups of a killed agent", restored.removed);
        }
        self.leaving = left_behind;
        self.restore_heaps_left_behind(Instant::now());
    }

    /// Writes the former values to the files of a group.
    fn lift(&mut self, group: &Path, values: Vec<(LimitFile, Value)>) {
        let Some(container) = container_of(group) else {
            return;
        };
        let actuator = &mut self.actuator;
        let changes =
            values.into_iter().map(|(file, value)| Change { group: group.into(), file, value });
        let changes: Vec<Change> = changes.collect();
        let changes: Vec<&Change> = changes.iter().collect();
        let mut written = Vec::new();
        for (change, outcome) in changes.iter().zip(actuator.files.write_all(&changes)) {
            match outcome {
                Err(error) if !error.is_gone() => {
                    self.troubles.warn("limits not restored", error);
                    continue;
                }
                Ok(true) => written.push(*change),
                _ => {}
            }
            let saved = actuator.journal.forget_former(group, change.file);
            self.troubles.check("journal", saved);
        }
        actuator.files.forget(group);
        if !written.is_empty() {
            let none = Limits::default();
            let audit = &mut actuator.audit;
            audit.changed(&container, Reason::LeftBehind, &none, &written);
        }
    }
}

/// The disks behind the local directories, without repetition. Logs directories without a disk.
fn local_disks(disks: &Disks, directories: &[PathBuf], mountinfo: &str) -> Vec<Device> {
    let behind = |directory: &PathBuf| {
        let found = disks.behind(directory, mountinfo).inspect_err(|error| {
            let directory = directory.display();
            log::warn!("disk.local_dirs: {directory} is not limited: {error}");
        });
        found.ok()
    };
    let found: BTreeSet<Device> = directories.iter().filter_map(behind).collect();
    found.into_iter().collect()
}

fn can_limit(
    own_groups: Option<&OwnGroups>,
    local_disks: &[Device],
    network: &NodeNetwork,
) -> CanLimit {
    let can = |controller| own_groups.is_some_and(|own| own.hierarchy(controller).is_some());
    CanLimit {
        cpu: can(Controller::Cpu),
        memory: can(Controller::Memory),
        disk: can(Controller::Disk) && !local_disks.is_empty(),
        network_sent: network.is_shaped(),
        network_received: network.is_counted(),
    }
}

/// If the journal cannot be read, the agent starts with an empty one.
fn journal(socket: &Path, hierarchies: &Hierarchies) -> Journal {
    let path = beside(socket, ".journal");
    let mut journal = Journal::load(&path).unwrap_or_else(|error| {
        log::warn!("{error}: a killed agent's limits in the container executor's groups stay");
        Journal::empty(&path)
    });
    journal.retain(|group| hierarchies.contains(group));
    journal
}

fn own_groups(
    config: &Config,
    hierarchies: &Hierarchies,
    cores: f32,
    actuator: &mut Actuator,
) -> Result<Option<OwnGroups>, String> {
    if !geteuid().is_root() {
        log::warn!("not root: containers are measured, but cannot be limited");
        return Ok(None);
    }
    let Actuator { files, journal, .. } = actuator;
    match OwnGroups::prepare(hierarchies, &config.cgroup.parent, cores, files, journal) {
        Ok(groups) => Ok(Some(groups)),
        Err(error @ LimitError::Taken { .. }) => Err(error.to_string()),
        Err(error) => {
            log::warn!("containers are measured, but cannot be limited: {error}");
            Ok(None)
        }
    }
}
