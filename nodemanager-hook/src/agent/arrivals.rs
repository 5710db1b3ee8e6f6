//! Containers that the NodeManager names for the first time.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    time::Instant,
};

use super::{
    Agent,
    container::{Container, Members},
};
use crate::{
    actuators::{CpuLimiter, KernelFileError, LimitError, container_of, put_back, read_pids},
    cgroups::{Hierarchy, named_after},
    container_id::ContainerId,
    sensors::{ContainerSensor, CpuSource, ProcessKey, ProcessTable},
};

/// How often all processes are scanned for what forked while its tree was moved.
const MOST_PASSES: usize = 20;

/// The groups of a container that the container executor made.
#[derive(Debug, Default)]
struct ExecutorsGroups {
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
}

impl Agent {
    /// Gives every container that arrived its group, its sensor, and its first reading.
    pub(super) fn arrive(&mut self, arrived: Vec<(ContainerId, u32)>, now: Instant) {
        if arrived.is_empty() {
            return;
        }
        let table = match ProcessTable::scan(&self.proc) {
            Ok(table) => table,
            Err(error) => return self.troubles.warn("process table", error),
        };
        let mut moving = BTreeMap::new();
        for (id, pid) in arrived {
            let root = table.get(pid).map(|process| process.key());
            let container = match root {
                Some(root) => self.receive(&id, root, &mut moving),
                None => without_group(pid, None),
            };
            self.containers.insert(id, container);
        }
        for id in self.move_trees(&moving, table) {
            self.give_up_group(&id);
        }
        self.read_all(now);
    }

    /// A container that has a group keeps it; another one gets an own group, to which its tree
    /// has to be moved.
    fn receive(
        &mut self,
        id: &ContainerId,
        root: ProcessKey,
        moving: &mut BTreeMap<ContainerId, ProcessKey>,
    ) -> Container {
        let cgroup = match self.proc.cgroup(root.pid) {
            Ok(cgroup) => cgroup.unwrap_or_default(),
            Err(error) => {
                self.troubles.warn("cgroup of a container", error);
                return without_group(root.pid, Some(root));
            }
        };
        let executors = self.executors_groups(id, &cgroup);
        let received = if executors.cpu.is_some() || executors.cpuacct.is_some() {
            self.in_executors_group(root, &executors)
        } else if self.own_groups.is_some() {
            moving.insert(id.clone(), root);
            self.in_own_group(id, root, &cgroup)
        } else {
            return without_group(root.pid, Some(root));
        };
        received.unwrap_or_else(|error| {
            if moving.remove(id).is_some() {
                let groups = self.own_groups.as_ref().map(|own| own.groups(id));
                self.leaving.extend(groups.unwrap_or_default());
            }
            let message = format!("{id} is measured by its processes, not limited: {error}");
            self.troubles.warn("containers without a group", message);
            without_group(root.pid, Some(root))
        })
    }

    fn executors_groups(&self, id: &ContainerId, cgroup: &str) -> ExecutorsGroups {
        let find = |hierarchy: Option<&Hierarchy>| {
            let group = named_after(&hierarchy?.directory_of(cgroup)?, id)?;
            let own = self.own_groups.as_ref().is_some_and(|own| own.hold(&group));
            (!own).then_some(group)
        };
        ExecutorsGroups {
            cpu: find(self.hierarchies.cpu.as_ref()),
            cpuacct: find(self.hierarchies.cpuacct.as_ref()),
        }
    }

    fn in_executors_group(
        &self,
        root: ProcessKey,
        groups: &ExecutorsGroups,
    ) -> Result<Container, LimitError> {
        let mut container = without_group(root.pid, Some(root));
        if let Some(group) = &groups.cpuacct {
            container.sensor = ContainerSensor::new(accounting(group)?);
            container.members = Members::ExecutorsGroup(group.clone());
        }
        if let (Some(group), Some(own)) = (&groups.cpu, &self.own_groups) {
            container.limiter = Some(CpuLimiter::foreign(group, own.cpu().mount_point()));
        }
        Ok(container)
    }

    fn in_own_group(
        &mut self,
        id: &ContainerId,
        root: ProcessKey,
        cgroup: &str,
    ) -> Result<Container, LimitError> {
        let mut container = without_group(root.pid, Some(root));
        let Some(own) = &self.own_groups else {
            return Ok(container);
        };
        let actuator = &mut self.actuator;
        for hierarchy in own.hierarchies() {
            let group = own.group(hierarchy, id);
            let now_in = hierarchy
                .directory_of(cgroup)
                .filter(|directory| container_of(directory).is_none());
            let origin = now_in.unwrap_or_else(|| actuator.journal.origin(&group));
            actuator.journal.remember_origin(&group, &origin)?;
            actuator.files.make_group(&group)?;
            self.leaving.remove(&group);
        }
        let accounted = own.accounting_group(id);
        container.sensor = ContainerSensor::new(accounting(&accounted)?);
        container.members = Members::OwnGroup(accounted);
        let group = own.group(own.cpu(), id);
        let mount_point = own.cpu().mount_point();
        container.limiter = Some(CpuLimiter::own(&group, mount_point, &mut actuator.files)?);
        Ok(container)
    }

    /// Moves whole trees and scans again until nothing is found outside, so that a fork in
    /// between is not lost; what forks later inherits the group. Gives those that failed.
    fn move_trees(
        &mut self,
        moving: &BTreeMap<ContainerId, ProcessKey>,
        mut table: ProcessTable,
    ) -> BTreeSet<ContainerId> {
        let mut failed = BTreeSet::new();
        let mut known: BTreeMap<&ContainerId, BTreeSet<ProcessKey>> = BTreeMap::new();
        for _ in 0..MOST_PASSES {
            let mut moved = false;
            for (id, root) in moving {
                let tree_known = known.entry(id).or_default();
                let tree = table.tree(*root, tree_known);
                let pids: Vec<u32> = tree.iter().map(|process| process.pid).collect();
                tree_known.extend(tree.iter().map(|process| process.key()));
                match self.move_tree(id, &pids) {
                    Ok(any) => moved |= any,
                    Err(error) => {
                        let message = format!("{id} cannot be moved to a group: {error}");
                        self.troubles.warn("containers without a group", message);
                        failed.insert(id.clone());
                    }
                }
            }
            if !moved {
                return failed;
            }
            table = match ProcessTable::scan(&self.proc) {
                Ok(table) => table,
                Err(error) => {
                    self.troubles.warn("process table", error);
                    return failed;
                }
            };
        }
        let message = "a container forks faster than its processes can be moved";
        self.troubles.warn("trees that do not hold still", message);
        failed
    }

    /// Moves what is not inside yet; says whether there was anything.
    fn move_tree(&mut self, id: &ContainerId, pids: &[u32]) -> Result<bool, KernelFileError> {
        let Some(own) = &self.own_groups else {
            return Ok(false);
        };
        let mut moved = false;
        for group in own.groups(id) {
            let inside: BTreeSet<u32> = read_pids(&group)?.into_iter().collect();
            for pid in pids.iter().filter(|pid| !inside.contains(pid)) {
                moved |= self.actuator.files.move_process(*pid, &group)?;
            }
        }
        Ok(moved)
    }

    /// Undoes a group to which not every process could be moved.
    fn give_up_group(&mut self, id: &ContainerId) {
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        *container = without_group(container.pid, container.root);
        let groups = self.own_groups.as_ref().map(|own| own.groups(id));
        for group in groups.unwrap_or_default() {
            let actuator = &mut self.actuator;
            if let Err(error) = put_back(&group, &mut actuator.files, &actuator.journal) {
                self.troubles.warn("groups given up", error);
            }
            self.leaving.insert(group);
        }
    }
}

fn accounting(group: &std::path::Path) -> Result<CpuSource, KernelFileError> {
    CpuSource::accounting(group)
        .map_err(|error: io::Error| KernelFileError::new("open cpuacct.usage of", group, error))
}

fn without_group(pid: u32, root: Option<ProcessKey>) -> Container {
    Container {
        pid,
        root,
        members: Members::Tree,
        sensor: ContainerSensor::new(CpuSource::ProcessTimes),
        limiter: None,
    }
}
