//! One running container.

mod network;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use elastane_protocol::{Limits, RunningContainer};

pub use self::network::ContainerNetwork;
use crate::{
    actuators::{
        KernelFileError, LimitPlace, Limiter, Owner, UrgentRaises, read_pids, read_pids_below,
    },
    cgroups::{Controller, Version},
    container_id::ContainerId,
    jvm::HeapFollower,
    memory_watch::{MemoryWatch, WatchId},
    sensors::{ContainerSensor, Device, MeasuredGroups, ProcFs, ProcessKey, ProcessTable, Reading},
};

/// How long a JVM has to shrink before its container's limit is left above the planned one.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The running containers.
pub(super) type Containers = BTreeMap<ContainerId, NodeContainer>;

/// The container with an id from a message.
pub(super) fn named<'a>(
    containers: &'a Containers,
    id: &str,
) -> Option<(&'a ContainerId, &'a NodeContainer)> {
    containers.get_key_value(&id.parse::<ContainerId>().ok()?)
}

/// The memory that a container's JVMs have to fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeapTarget {
    pub bytes: u64,
    /// Whether the node's shortage of memory asks for this, not the plan.
    pub is_for_node: bool,
}

#[derive(Debug)]
pub struct NodeContainer {
    pub running: RunningContainer,
    /// None if the process ended before the agent saw it.
    pub root: Option<ProcessKey>,
    pub sensor: ContainerSensor,
    /// The processes that its group listed last, or of its tree.
    pub pids: Vec<u32>,
    pub limiter: Limiter,
    /// The container's groups, by controller. Controllers of one hierarchy share a group. A group
    /// that the agent made holds the whole process tree.
    pub places: BTreeMap<Controller, LimitPlace>,
    /// Whether the own group for the network counts CPU time, as version 2 groups do.
    has_cpu_time: bool,
    /// The tree could not be moved to an own group. The next plan tries again.
    pub held_back: bool,
    /// Why the container is not moved to own groups of some controllers.
    pub refusals: BTreeMap<Controller, String>,
    /// Whether a refusal was counted.
    pub was_refused: bool,
    /// None if the network is not counted.
    pub network: Option<ContainerNetwork>,
    /// The watch of the memory limit, and that limit in bytes.
    pub watched: Option<(WatchId, u64)>,
    /// The outcome of raises by a former watch that the agent has not taken over yet.
    pub former_raise: Option<Result<u64, KernelFileError>>,
    pub heap_follower: HeapFollower,
    /// The memory target of the JVMs while the node is short of memory.
    pub smaller_bytes: Option<u64>,
    /// The JVMs were asked to shrink for the node and are not restored yet.
    pub was_asked_for_node: bool,
}

impl NodeContainer {
    /// A container measured by its process tree.
    pub fn new(running: RunningContainer, root: Option<ProcessKey>) -> Self {
        Self {
            running,
            root,
            sensor: ContainerSensor::default(),
            pids: Vec::new(),
            limiter: Limiter::default(),
            places: BTreeMap::new(),
            has_cpu_time: false,
            held_back: false,
            refusals: BTreeMap::new(),
            was_refused: false,
            network: None,
            watched: None,
            former_raise: None,
            heap_follower: HeapFollower::new(GIVE_UP_AFTER),
            smaller_bytes: None,
            was_asked_for_node: false,
        }
    }

    pub fn begins_at(&self, pid: u32) -> bool {
        self.running.pid == pid && self.root.is_some()
    }

    pub fn can_be_moved(&self) -> bool {
        self.root.is_some() && !self.held_back
    }

    /// Replaces the groups that the container executor made.
    pub fn settle_in(&mut self, executors: BTreeMap<Controller, LimitPlace>) -> io::Result<()> {
        self.places.retain(|_, place| place.owner == Owner::Agent);
        for (controller, place) in executors {
            self.places.entry(controller).or_insert(place);
        }
        self.settle()
    }

    /// Measures and limits the container in its present groups. Limits in an unchanged group stay
    /// in force.
    pub fn settle(&mut self) -> io::Result<()> {
        for controller in [Controller::Cpu, Controller::Memory, Controller::Disk] {
            let place = self.places.get(&controller);
            if self.limiter.place(controller) != place {
                self.limiter.limit_in(controller, place.cloned());
            }
        }
        let network = self.place_of(Controller::Network, Owner::Agent);
        self.has_cpu_time = network.is_some_and(|place| place.group.join("cpu.stat").exists());
        let measured = |controller| {
            let place = self.places.get(&controller)?;
            Some((place.group.clone(), place.version))
        };
        let disk = measured(Controller::Disk);
        let network = measured(Controller::Network).filter(|_| self.has_cpu_time);
        let listing = self.listing_place().filter(|place| place.version == Version::Two);
        self.sensor.measure(MeasuredGroups {
            members: listing.map(|place| place.group.clone()),
            // Version 2 counts CPU time in every group.
            cpu: measured(Controller::CpuAccounting).or(network),
            throttling: measured(Controller::Cpu),
            memory: measured(Controller::Memory),
            came_later: self.place_of(Controller::Memory, Owner::ContainerExecutor).is_none(),
            disk: disk.filter(|(_, version)| *version == Version::Two),
        })
    }

    fn place_of(&self, controller: Controller, owner: Owner) -> Option<&LimitPlace> {
        self.places.get(&controller).filter(|place| place.owner == owner)
    }

    /// The places in groups that the agent made.
    pub fn own_places(&self) -> impl Iterator<Item = (Controller, &LimitPlace)> {
        let all = self.places.iter().map(|(controller, place)| (*controller, place));
        all.filter(|(_, place)| place.owner == Owner::Agent)
    }

    pub fn own_groups(&self) -> BTreeSet<PathBuf> {
        self.own_places().map(|(_, place)| place.group.clone()).collect()
    }

    /// The own group that lists all processes of the container and counts their CPU time, in
    /// version 2 if possible. None if the container executor made the group for CPU accounting: a
    /// runtime may have made groups in it.
    pub fn listing_place(&self) -> Option<&LimitPlace> {
        let accounting = self.places.get(&Controller::CpuAccounting);
        if accounting.is_some_and(|place| place.owner == Owner::ContainerExecutor) {
            return None;
        }
        let network = self.place_of(Controller::Network, Owner::Agent);
        network.filter(|_| self.has_cpu_time).or(accounting)
    }

    /// The group of version 2 that has all processes of the container and no others.
    pub fn whole_group(&self) -> Option<&Path> {
        let listing = self.listing_place().filter(|place| place.version == Version::Two);
        listing.map(|place| place.group.as_path())
    }

    /// The processes listed by the container's groups, in ascending order. None without a group.
    pub fn listed_pids(&self) -> Option<Result<Vec<u32>, KernelFileError>> {
        if let Some(LimitPlace { group, .. }) = self.listing_place() {
            return Some(match self.sensor.pids() {
                Some(pids) => pids.map_err(|error| KernelFileError::new("read", group, error)),
                None => read_pids(group),
            });
        }
        let executors = self.place_of(Controller::CpuAccounting, Owner::ContainerExecutor)?;
        Some(read_pids_below(&executors.group))
    }

    /// The limits that the kernel enforces now.
    pub fn in_force(&self) -> Limits {
        let network = self.network.as_ref();
        let network = network.map_or_else(Limits::default, |network| network.in_force);
        Limits {
            network_weight_bytes_per_s: network.network_weight_bytes_per_s,
            network_cap_bytes_per_s: network.network_cap_bytes_per_s,
            ..self.limiter.in_force()
        }
    }

    /// Whether reading the container takes a scan of all processes.
    pub fn needs_table(&self) -> bool {
        self.root.is_some() && self.sensor.needs_tree()
    }

    /// The tighter target of plan and node. None if the JVMs are to be restored.
    pub(super) fn heap_target(&self, planned: &Limits, follow_plan: bool) -> Option<HeapTarget> {
        // Elastane leaves containers alone that it does not limit.
        let is_limited = *planned != Limits::default();
        let for_node = self.smaller_bytes.filter(|_| is_limited);
        let is_for_node = for_node.is_some() || self.was_asked_for_node;
        // While no limit can follow, the node's target alone counts.
        let can_follow = follow_plan && (self.sensor.is_charged_in_group() || !is_for_node);
        let planned = planned.memory_bytes.filter(|_| can_follow);
        let target = |is_for_node| move |bytes| HeapTarget { bytes, is_for_node };
        let all = planned.map(target(false)).into_iter();
        all.chain(for_node.map(target(true))).min_by_key(|target| target.bytes)
    }

    /// Forbids raises of the memory limit without the agent. Keeps a raise for the next change of limits.
    pub fn forbid_raises(&mut self, raises: &UrgentRaises) {
        let outcome = self.watched.and_then(|(id, _)| raises.forbid(id));
        // A raise that failed later does not undo one that is not taken over yet.
        if outcome.is_some()
            && !matches!((&self.former_raise, &outcome), (Some(Ok(_)), Some(Err(_))))
        {
            self.former_raise = outcome;
        }
    }

    /// Adjusts the watch to the memory limit in force.
    pub fn watch_memory_limit(
        &mut self,
        all: &MemoryWatch,
        raises: &UrgentRaises,
    ) -> io::Result<()> {
        let limit_bytes = self.limiter.in_force().memory_bytes;
        let place = self.limiter.place(Controller::Memory);
        let Some((place, limit_bytes)) = place.zip(limit_bytes) else {
            self.forbid_raises(raises);
            if let Some((id, _)) = self.watched.take() {
                all.forget(id);
            }
            return Ok(());
        };
        let id = match self.watched {
            Some((id, watched_bytes)) if watched_bytes == limit_bytes => id,
            Some((id, _)) if !all.rearm(id, limit_bytes)? => {
                self.forbid_raises(raises);
                self.watched = None;
                return Ok(());
            }
            Some((id, _)) => id,
            None => all.watch(&place.group, place.version, limit_bytes)?,
        };
        self.watched = Some((id, limit_bytes));
        if place.owner == Owner::Agent {
            raises.allow(id, &place.group, place.version)?;
        }
        Ok(())
    }

    /// Reads the container's usage without its network. None if its group is gone.
    pub fn read(
        &mut self,
        proc: &ProcFs,
        table: &ProcessTable,
        disks: &[Device],
        now: Instant,
    ) -> io::Result<Option<Reading>> {
        match self.listed_pids() {
            Some(Ok(pids)) => {
                self.pids = pids;
                self.sensor.read_group(proc, &self.pids, disks, now)
            }
            Some(Err(error)) if error.is_gone() => Ok(None),
            Some(Err(error)) => Err(io::Error::other(error)),
            None => {
                let Some(root) = self.root else {
                    return Ok(None);
                };
                let tree = table.tree(root, &self.sensor.processes.keys());
                self.pids = tree.iter().map(|process| process.pid).collect();
                self.sensor.read_tree(proc, &tree, disks, now).map(Some)
            }
        }
    }
}
