//! The start of an agent: it inspects the host and restores the changes of a killed agent.

use std::{
    collections::BTreeSet,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use elastane_protocol::{CanLimit, Capacity};
use nix::unistd::geteuid;

use super::{
    Agent,
    actuator::Actuator,
    capacity::{capacity, online_cores},
    container::Containers,
    decommissions::Decommissions,
    groups::ContainerGroups,
    heaps::{NodeHeaps, restore_heaps},
    host::Host,
    left_behind::put_back_left_behind,
    lowerings::Lowerings,
    network::{self, NodeNetwork},
    node::WatchedNode,
    reader::Reader,
    stages::ToldStages,
};
use crate::{
    actuators::{KernelFiles, LimitError, Margin, OwnGroups, Reclaims, UrgentRaises},
    audit::{Audit, Reason},
    cgroups::{Controller, Hierarchies, systemd_runs},
    config::Config,
    journal::Journal,
    memory_watch::MemoryWatch,
    network::ChosenBackend,
    own_file::beside,
    plan::Plan,
    samples::Samples,
    sensors::{CpuWaits, Device, Disks, KernelThreads, NodeSensor, ProcFs, ProcessTable},
    status,
    troubles::Troubles,
};

const PROC: &str = "/proc";
const SYS: &str = "/sys";

/// Inspects the host, reads the journal, and restores all changes of a killed agent, since a new
/// agent has no plan.
pub(super) fn start(config: &Config) -> Result<Agent, String> {
    let proc = ProcFs::new(Path::new(PROC));
    let unreadable = |error| format!("cannot read {PROC}: {error}");
    let mountinfo = fs::read_to_string(proc.path("self/mountinfo")).map_err(unreadable)?;
    let mut hierarchies = Hierarchies::of_this_host(&mountinfo);
    let network = network::choose(&config.network, &hierarchies);
    hierarchies.serve_network(network.as_ref().map(ChosenBackend::groups));
    let disks = Disks::new(Path::new(SYS));
    let local_disks = local_disks(&disks, &config.disk.local_dirs, &mountinfo);
    let measured_disks = match local_disks.is_empty() {
        true => disks.physical(),
        false => local_disks.clone(),
    };
    let mut sensor = NodeSensor::new(measured_disks.clone());
    // A node that is not readable is counted as a trouble with each reading.
    let memory = sensor.read(&proc, Instant::now()).map(|(_, memory)| memory);
    let cpuinfo = fs::read_to_string(proc.path("cpuinfo")).ok();
    let disk_speed = cpuinfo.and_then(|cpuinfo| disks.bytes_per_s(&local_disks, &cpuinfo));
    let detected = Capacity {
        cpu_cores: online_cores(),
        memory_bytes: memory.map_or(0, |memory| memory.total_bytes),
        network_bytes_per_s: network::link_bytes_per_s(&config.network).unwrap_or(0),
        disk_bytes_per_s: disk_speed.unwrap_or(0),
    };
    let capacity = capacity(&config.capacity, detected);
    let mut kernel_threads = KernelThreads::default();
    let table = ProcessTable::scan(&proc, &mut kernel_threads).map_err(unreadable)?;
    let troubles = Troubles::default();
    let audit = open_audit(config, &troubles)?;
    let urgent_raises = Arc::new(UrgentRaises::new(config.memory.margin_bytes));
    let reclaims = Reclaims::start(Arc::clone(&urgent_raises))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let mut actuator = Actuator {
        files: KernelFiles::beside(Arc::clone(&urgent_raises)),
        journal: journal(&config.socket.path, &hierarchies),
        audit,
        margin: Margin { min_bytes: config.memory.margin_bytes },
        lowerings: Lowerings::new(reclaims),
        urgent_raises,
        disks: local_disks.clone(),
        hierarchies,
        proc: proc.clone(),
        leaving: BTreeSet::new(),
        has_removed: false,
        turn: 0,
        troubles: troubles.clone(),
    };
    let own_groups = own_groups(config, &actuator.hierarchies)?;
    let own = own_groups.as_ref();
    let mut network = NodeNetwork::open(
        &config.network,
        network,
        own.is_some_and(|own| own.hierarchy(Controller::Network).is_some()),
        config.capacity.network_bytes_per_s,
        &mut actuator.journal,
        troubles.clone(),
    );
    // The first sample counts from here, as that of the sensor does.
    troubles.check("node not read", network.read());
    let memory_watch =
        MemoryWatch::new().map_err(|error| format!("cannot watch memory limits: {error}"))?;
    let reader = Reader {
        proc,
        kernel_threads,
        forbidden: table.ancestors(std::process::id()),
        disks: measured_disks,
        samples: Samples::default(),
        waits: troubles.check_of(
            "waits for a core",
            "how long threads wait for a core is not measured",
            CpuWaits::open(),
        ),
        troubles: troubles.clone(),
    };
    let can_limit = can_limit(own, &local_disks, &network);
    let mut groups = ContainerGroups::new(own_groups, config.cgroup.from_arrival);
    let mut host = Host {
        containers: Containers::default(),
        plan: Plan::ended(Instant::now()),
        reader,
        actuator,
        memory_watch: Arc::new(memory_watch),
    };
    let mut heaps =
        NodeHeaps::open(config.jvm, groups.can_limit(), Path::new(PROC), troubles.clone());
    undo_changes_of_a_killed_agent(&mut groups, &mut heaps, &mut host);
    Ok(Agent {
        agent_run: RandomState::new().build_hasher().finish(),
        can_limit,
        capacity,
        host,
        groups,
        heaps,
        network,
        node: WatchedNode::new(sensor, capacity.memory_bytes, config.memory),
        decommissions: Decommissions::new(Path::new(PROC), troubles.clone()),
        stages: ToldStages::open(Path::new(PROC), troubles.clone()),
        reported: 0,
        troubles,
        status_file: status::path(&config.socket.path),
        stopped: false,
    })
}

fn undo_changes_of_a_killed_agent(
    groups: &mut ContainerGroups,
    heaps: &mut NodeHeaps,
    host: &mut Host,
) {
    put_back_left_behind(groups, &mut host.actuator);
    groups.release(host);
    restore_heaps(heaps, host, Some(Reason::LeftBehind), Instant::now());
    host.actuator.audit.flush();
}

/// The node's size and the resources that the agent can limit, for the log.
pub(super) fn describe(capacity: Capacity, can_limit: CanLimit) -> String {
    let Capacity { cpu_cores, memory_bytes, .. } = capacity;
    let can = [
        (can_limit.cpu, "CPU"),
        (can_limit.memory, "memory"),
        (can_limit.disk, "disk traffic"),
        (can_limit.network_received, "incoming traffic"),
        (can_limit.network_sent, "outgoing traffic"),
    ];
    let can = can.into_iter().filter_map(|(can, name)| can.then_some(name));
    let can: Vec<&str> = can.collect();
    let can = if can.is_empty() { "nothing".to_owned() } else { can.join(", ") };
    format!("{cpu_cores} cores, {memory_bytes} bytes of memory; can limit: {can}")
}

/// A configured file must be writable. Without the usual one an agent that nobody has installed works all the same.
fn open_audit(config: &Config, troubles: &Troubles) -> Result<Audit, String> {
    let file = config.audit.file();
    let name = file.unwrap_or(Path::new("")).display();
    match Audit::open(file, troubles.clone()) {
        Err(error) if config.audit.is_usual() => {
            log::warn!("changes of limits are not recorded in {name}: {error}");
            Ok(Audit::none(troubles.clone()))
        }
        opened => opened.map_err(|error| format!("cannot open audit.file {name}: {error}")),
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

fn own_groups(config: &Config, hierarchies: &Hierarchies) -> Result<Option<OwnGroups>, String> {
    if !geteuid().is_root() {
        log::warn!("not root: containers are measured, but cannot be limited");
        return Ok(None);
    }
    match OwnGroups::find(hierarchies, &config.cgroup, systemd_runs()) {
        Ok(groups) => Ok(Some(groups)),
        Err(error @ LimitError::Taken { .. }) => Err(error.to_string()),
        Err(error) => {
            log::warn!("containers are measured, but cannot be limited: {error}");
            Ok(None)
        }
    }
}
