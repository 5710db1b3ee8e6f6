//! The start of an agent: it inspects the host and restores the changes of a killed agent.

use std::{
    collections::BTreeSet,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
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
    limits::Rules,
    node::Node,
    node_network::{self, NodeNetwork},
    warnings,
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
    memory_watch::{MemoryWatch, MemoryWatchError},
    network::Chosen,
    once::Once,
    report::Identity,
    samples::Samples,
    sensors::{Device, Disks, KernelThreads, NodeSensor, ProcFs, ProcessTable},
    status,
};

/// Why an agent cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot open audit.file {}: {source}", path.display())]
    Audit { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Proc { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Groups(LimitError),
    #[error(transparent)]
    MemoryWatch(#[from] MemoryWatchError),
}

const SYS: &str = "/sys";

impl Agent {
    /// Inspects the host, reads the journal, and restores all changes of a killed agent, since a new
    /// agent has no plan.
    pub fn start(config: &Config, proc_root: &Path) -> Result<Self, StartError> {
        let proc = ProcFs::new(proc_root);
        let read = |name: &str| {
            let path = proc.path(name);
            fs::read_to_string(&path).map_err(|source| StartError::Proc { path, source })
        };
        let mountinfo = read("self/mountinfo")?;
        let mut hierarchies = Hierarchies::of_this_host(&mountinfo);
        let network = node_network::choose(&config.network, &hierarchies);
        hierarchies.serve_network(network.as_ref().map(Chosen::groups));
        let disks = Disks::new(Path::new(SYS));
        let local_disks = local_disks(&disks, &config.disk.local_dirs, &mountinfo);
        let capacity = capacity(&config.capacity, &read("meminfo")?);
        let mut kernel_threads = KernelThreads::default();
        let table =
            ProcessTable::scan(&proc, &mut kernel_threads).map_err(|source| StartError::Proc {
                path: proc_root.into(),
                source,
            })?;
        let file = config.audit.file.as_deref();
        let audit = Audit::open(file).map_err(|source| StartError::Audit {
            path: file.unwrap_or(Path::new("")).into(),
            source,
        })?;
        let mut actuator = Actuator {
            files: KernelFiles::default(),
            journal: journal(&config.socket.path, &hierarchies),
            audit,
            rules: Rules {
                margin: Margin {
                    min_bytes: config.memory.margin_bytes,
                },
                disks: local_disks.clone(),
            },
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
            own.and_then(|own| own.parent_of(Controller::Network))
                .as_deref(),
            config.capacity.network_bytes_per_s,
            &mut actuator.journal,
        );
        let disk_bytes_per_s = || disks.bytes_per_s(&local_disks, &read("cpuinfo").ok()?);
        let capacity = Capacity {
            disk_bytes_per_s: config
                .capacity
                .disk_bytes_per_s
                .or_else(disk_bytes_per_s)
                .unwrap_or(0),
            network_bytes_per_s: config
                .capacity
                .network_bytes_per_s
                .unwrap_or_else(|| network.link_bytes_per_s()),
            ..capacity
        };
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
            heaps: NodeHeaps::open(config.jvm, proc_root),
            memory_watch: Arc::new(MemoryWatch::new()?),
            samples: Samples::default(),
            reported: 0,
            plan: None,
            actuator,
            leaving: Default::default(),
            removed_at_start: 0,
            troubles: Once::default(),
            status_file: status::path(&config.socket.path),
            stopped: false,
        };
        agent.put_back_left_behind();
        Ok(agent)
    }

    /// The node's size and the resources that the agent can limit, for the log.
    pub fn describe(&self) -> String {
        let Capacity {
            cpu_cores,
            memory_bytes,
            ..
        } = self.identity.capacity;
        let can_limit = self.identity.can_limit;
        let can = [
            (can_limit.cpu, "CPU"),
            (can_limit.memory, "memory"),
            (can_limit.disk, "disk traffic"),
            (can_limit.network_received, "incoming traffic"),
            (can_limit.network_sent, "outgoing traffic"),
        ];
        let can: Vec<&str> = can
            .iter()
            .filter_map(|(can, name)| can.then_some(*name))
            .collect();
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
        let own = left_behind.iter().map(|group| {
            let limits = limits_of(group).into_iter();
            (
                group.clone(),
                limits.map(|(file, _)| (file, file.lifted())).collect(),
            )
        });
        let foreign = journal.former();
        let foreign = foreign.map(|(group, values)| (group.clone(), values.to_vec()));
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
        let changes = values.into_iter().map(|(file, value)| Change {
            group: group.into(),
            file,
            value,
        });
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
            warnings::journal(&mut self.troubles, saved);
        }
        actuator.files.forget(group);
        if !written.is_empty() {
            let (audit, none) = (&mut actuator.audit, Limits::default());
            let recorded = audit.changed(&container, Reason::LeftBehind, &none, &written);
            warnings::audit(&mut self.troubles, recorded);
        }
    }
}

/// The disks behind the local directories, without repetition. Logs directories without a disk.
fn local_disks(disks: &Disks, directories: &[PathBuf], mountinfo: &str) -> Vec<Device> {
    let mut found = BTreeSet::new();
    for directory in directories {
        match disks.behind(directory, mountinfo) {
            Ok(device) => {
                found.insert(device);
            }
            Err(error) => {
                let directory = directory.display();
                log::warn!("disk.local_dirs: {directory} is not limited: {error}");
            }
        }
    }
    found.into_iter().collect()
}

fn can_limit(
    own_groups: Option<&OwnGroups>,
    local_disks: &[Device],
    network: &NodeNetwork,
) -> CanLimit {
    let can = |controller| own_groups.is_some_and(|own| own.serves(controller));
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
    let mut path = socket.to_owned().into_os_string();
    path.push(".journal");
    let path = PathBuf::from(path);
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
) -> Result<Option<OwnGroups>, StartError> {
    if !geteuid().is_root() {
        log::warn!("not root: containers are measured, but cannot be limited");
        return Ok(None);
    }
    let Actuator { files, journal, .. } = actuator;
    match OwnGroups::prepare(hierarchies, &config.cgroup.parent, cores, files, journal) {
        Ok((groups, left_out)) => {
            for reason in left_out {
                log::warn!("not limited: {reason}");
            }
            Ok(Some(groups))
        }
        Err(error @ LimitError::Taken { .. }) => Err(StartError::Groups(error)),
        Err(error) => {
            log::warn!("containers are measured, but cannot be limited: {error}");
            Ok(None)
        }
    }
}
