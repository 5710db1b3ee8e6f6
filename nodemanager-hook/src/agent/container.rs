//! One running container.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    time::Instant,
};

use elastane_protocol::Limits;

use super::{
    heap_plan::GIVE_UP_AFTER,
    history::History,
    memory::Watched,
    network::{ContainerNetwork, CountersNow},
};
use crate::{
    actuators::{KernelFileError, Limiter, Owner, Place, read_pids, read_pids_below},
    cgroups::{Controller, Hierarchies, Version},
    containers::Running,
    jvm::HeapFollower,
    sensors::{ContainerSensor, Device, MeasuredGroups, ProcFs, ProcessKey, ProcessTable, Reading},
};

#[derive(Debug)]
pub struct Container {
    pub running: Running,
    /// None if the process ended before the agent saw it.
    pub root: Option<ProcessKey>,
    pub sensor: ContainerSensor,
    /// The processes at the last reading.
    pub pids: Vec<u32>,
    pub limiter: Limiter,
    /// Groups that the agent made and that hold the whole process tree, by controller. Controllers
    /// of one hierarchy share a group.
    pub own_groups: BTreeMap<Controller, PathBuf>,
    /// Whether the own group for the network counts CPU time, as version 2 groups do.
    has_cpu_time: bool,
    /// Groups that the container executor made.
    pub executors_groups: BTreeMap<Controller, PathBuf>,
    /// The tree could not be moved to an own group. The next plan tries again.
    pub held_back: bool,
    /// None if the network is not counted.
    pub network: Option<ContainerNetwork>,
    /// The watch of the memory limit.
    pub watched: Option<Watched>,
    pub heap_follower: HeapFollower,
    /// The memory target of the JVMs while the node is short of memory.
    pub smaller_bytes: Option<u64>,
    /// The JVMs were asked to shrink for the node and are not restored yet.
    pub gave_back_for_node: bool,
    pub history: History,
}

impl Container {
    /// A container measured by its process tree.
    pub fn new(running: Running, root: Option<ProcessKey>) -> Self {
        Self {
            running,
            root,
            sensor: ContainerSensor::default(),
            pids: Vec::new(),
            limiter: Limiter::default(),
            own_groups: BTreeMap::new(),
            has_cpu_time: false,
            executors_groups: BTreeMap::new(),
            held_back: false,
            network: None,
            watched: None,
            heap_follower: HeapFollower::new(GIVE_UP_AFTER),
            smaller_bytes: None,
            gave_back_for_node: false,
            history: History::default(),
        }
    }

    /// Whether the container is followed from this root process.
    pub fn begins_at(&self, pid: u32) -> bool {
        self.running.pid == pid && self.root.is_some()
    }

    /// Whether the container may be moved to own groups.
    pub fn can_be_moved(&self) -> bool {
        self.root.is_some() && !self.held_back
    }

    /// Measures and limits the container in its present groups. Limits in an unchanged group stay
    /// in force.
    pub fn settle(&mut self, hierarchies: &Hierarchies) -> io::Result<()> {
        for controller in [Controller::Cpu, Controller::Memory, Controller::Disk] {
            let place = self.place(controller, hierarchies);
            if self.limiter.place(controller) != place.as_ref() {
                self.limiter.limit_in(controller, place);
            }
        }
        let network = self.own_groups.get(&Controller::Network);
        self.has_cpu_time = network.is_some_and(|group| group.join("cpu.stat").exists());
        let measured = |controller| {
            let place = self.place(controller, hierarchies)?;
            Some((place.group, place.version))
        };
        let disk = measured(Controller::Disk);
        let network = measured(Controller::Network).filter(|_| self.has_cpu_time);
        let is_version_2 = |group: &&PathBuf| {
            let hierarchy = hierarchies.of(group);
            hierarchy.is_some_and(|one| one.version() == Version::Two)
        };
        self.sensor.measure(MeasuredGroups {
            members: self.listing_group().filter(is_version_2).cloned(),
            // Version 2 counts CPU time in every group.
            cpu: measured(Controller::CpuAccounting).or(network),
            throttling: measured(Controller::Cpu),
            memory: measured(Controller::Memory),
            came_later: !self.executors_groups.contains_key(&Controller::Memory),
            disk: disk.filter(|(_, version)| *version == Version::Two),
        })
    }

    fn place(&self, controller: Controller, hierarchies: &Hierarchies) -> Option<Place> {
        let group = self.group(controller)?;
        let hierarchy = hierarchies.of(group)?;
        Some(Place {
            group: group.clone(),
            version: hierarchy.version(),
            mount_point: hierarchy.mount_point().into(),
            owner: match self.own_groups.contains_key(&controller) {
                true => Owner::Agent,
                false => Owner::ContainerExecutor,
            },
        })
    }

    /// The container's group for a controller.
    pub fn group(&self, controller: Controller) -> Option<&PathBuf> {
        let own = self.own_groups.get(&controller);
        own.or_else(|| self.executors_groups.get(&controller))
    }

    /// The own group that lists all processes of the container and counts their CPU time, in
    /// version 2 if possible. None if the container executor made the group for CPU accounting: a
    /// runtime may have made groups in it.
    pub fn listing_group(&self) -> Option<&PathBuf> {
        let accounting = Controller::CpuAccounting;
        if self.executors_groups.contains_key(&accounting) {
            return None;
        }
        let network = self.own_groups.get(&Controller::Network);
        network
            .filter(|_| self.has_cpu_time)
            .or_else(|| self.own_groups.get(&accounting))
    }

    /// The processes listed by the container's groups, in ascending order. None without a group.
    pub fn listed_pids(&self) -> Option<Result<Vec<u32>, KernelFileError>> {
        if let Some(group) = self.listing_group() {
            return Some(match self.sensor.pids() {
                Some(pids) => pids.map_err(|error| KernelFileError::new("read", group, error)),
                None => read_pids(group),
            });
        }
        let executors = self.executors_groups.get(&Controller::CpuAccounting)?;
        Some(read_pids_below(executors))
    }

    /// The limits that the kernel enforces now.
    pub fn in_force(&self) -> Limits {
        let mut limits = self.limiter.in_force();
        if let Some(network) = &self.network {
            network.add_in_force(&mut limits);
        }
        limits
    }

    /// The own groups without repetition.
    pub fn distinct_own_groups(&self) -> BTreeSet<PathBuf> {
        self.own_groups.values().cloned().collect()
    }

    /// Whether reading the container takes a scan of all processes.
    pub fn needs_table(&self) -> bool {
        self.root.is_some() && self.sensor.needs_tree()
    }

    /// Reads the container's usage. None if its group is gone.
    pub fn read(
        &mut self,
        proc: &ProcFs,
        table: &ProcessTable,
        disks: &[Device],
        networks: CountersNow<'_>,
        now: Instant,
    ) -> io::Result<Option<Reading>> {
        let mut reading = self.read_processes(proc, table, disks, now)?;
        if let (Some(reading), Some(network)) = (&mut reading, &mut self.network) {
            network.read(networks).add_to(&mut reading.counted);
        }
        Ok(reading)
    }

    fn read_processes(
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
