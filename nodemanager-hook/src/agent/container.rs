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
    /// Nothing when the process was gone before the agent saw it.
    pub root: Option<ProcessKey>,
    pub sensor: ContainerSensor,
    /// Its processes at the last reading.
    pub pids: Vec<u32>,
    pub limiter: Limiter,
    /// Groups that the agent made and that hold the whole tree, by controller; one group may be
    /// there for several.
    pub own_groups: BTreeMap<Controller, PathBuf>,
    /// Whether its own group for the network counts CPU time: one of version 2 does.
    has_cpu_time: bool,
    /// Groups that the container executor made.
    pub executors_groups: BTreeMap<Controller, PathBuf>,
    /// Its tree could not be moved to an own group; that is tried again with the next plan.
    pub held_back: bool,
    /// Nothing where it is not counted.
    pub network: Option<ContainerNetwork>,
    /// Waits for its memory limit to be near.
    pub watched: Option<Watched>,
    pub heap_follower: HeapFollower,
    /// What its JVMs are to fit because the node is short of memory.
    pub smaller_bytes: Option<u64>,
    /// Its JVMs were asked for that and are not as they were yet.
    pub gave_back_for_node: bool,
    pub history: History,
}

impl Container {
    /// A container that is measured by its process tree.
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

    /// Whether it is already followed from this process on.
    pub fn begins_at(&self, pid: u32) -> bool {
        self.running.pid == pid && self.root.is_some()
    }

    /// Whether it may be moved to groups of the agent's.
    pub fn can_be_moved(&self) -> bool {
        self.root.is_some() && !self.held_back
    }

    /// Measures and limits it in the groups that it has now. What is limited in a group where it
    /// was already stays in force.
    ///
    /// # Errors
    /// Files of a group that cannot be opened.
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
        self.sensor.measure(MeasuredGroups {
            members: self
                .listing_group()
                .and_then(|group| Some((group, hierarchies.of(group)?.version())))
                .filter(|(_, version)| *version == Version::Two)
                .map(|(group, _)| group.clone()),
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
        let owner = match self.own_groups.contains_key(&controller) {
            true => Owner::Agent,
            false => Owner::ContainerExecutor,
        };
        let hierarchy = hierarchies.of(group)?;
        Some(Place {
            group: group.clone(),
            version: hierarchy.version(),
            mount_point: hierarchy.mount_point().into(),
            owner,
        })
    }

    /// The group that it has for a controller.
    pub fn group(&self, controller: Controller) -> Option<&PathBuf> {
        let own = self.own_groups.get(&controller);
        own.or_else(|| self.executors_groups.get(&controller))
    }

    /// The group of the agent's that lists all of its processes and counts their CPU time: of version
    /// 2 where there is one.
    /// Nothing where the container executor has a group for them, since a runtime may have made
    /// groups in that.
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

    /// Its processes as its groups list them now, in ascending order; nothing without a group.
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

    /// The limits that the kernel follows now.
    pub fn in_force(&self) -> Limits {
        let mut limits = self.limiter.in_force();
        if let Some(network) = &self.network {
            network.add_in_force(&mut limits);
        }
        limits
    }

    /// The own groups, each once.
    pub fn distinct_own_groups(&self) -> BTreeSet<PathBuf> {
        self.own_groups.values().cloned().collect()
    }

    /// Whether reading it takes a scan of all processes.
    pub fn needs_table(&self) -> bool {
        self.root.is_some() && self.sensor.needs_tree()
    }

    /// Reads what it uses; nothing when its group is gone.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
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
