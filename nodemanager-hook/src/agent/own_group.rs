//! Moves a container into the agent's groups when a plan begins to limit it, and back to its former
//! groups when no plan does any more.
//!
//! In version 1 the container moves in the hierarchies of its limited resources and in that of CPU
//! accounting. While a plan limits any container's memory, every container enters a memory group
//! on arrival, since memory is charged to the group in which it was allocated. In a version 2
//! hierarchy without other controllers, every container is in a group that counts its network.
//! With `cgroup.from_arrival` every container is in both groups from its arrival.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    Agent, arrivals::executors_groups, container::Container, tree_moves::Moving, warnings,
};
use crate::{
    actuators::{KernelFileError, LimitError, OwnGroups, container_of},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::{ProcFs, ProcessTable},
};

impl Agent {
    /// Makes the groups that the containers lack for the plan, and moves their process trees there.
    pub(super) fn enter_groups(&mut self, now: Instant) {
        let Some(own) = &self.own_groups else {
            return;
        };
        let limits_memory = self.limits_memory(now);
        let lacks_group = |id: &ContainerId, container: &Container| {
            let wanted = self.wanted_groups(own, id, container, limits_memory, now);
            let mut wanted = wanted.iter();
            wanted.any(|one| !container.own_groups.contains_key(one))
        };
        let entering = self.containers.iter();
        let entering = entering.filter(|(id, one)| one.can_be_moved() && lacks_group(id, one));
        let entering: Vec<ContainerId> = entering.map(|(id, _)| id.clone()).collect();
        if entering.is_empty() {
            return;
        }
        let Some(table) = self.scan() else {
            return;
        };
        let mut moving = BTreeMap::new();
        for id in entering {
            match self.prepare_groups(&id, &table, now) {
                Ok(Some(tree)) => {
                    moving.insert(id, tree);
                }
                Ok(None) => {}
                Err(error) => self.hold_back(&id, &error),
            }
        }
        let table = self.move_trees(&mut moving, table);
        for (id, moved) in moving {
            if let Err(error) = self.settle_in_groups(&id, moved.groups, &table, now) {
                self.hold_back(&id, &error);
            }
        }
    }

    /// Moves containers out of the groups that no plan needs any more. Restrictions of their former
    /// groups apply again.
    pub(super) fn leave_groups(&mut self, now: Instant) {
        let Some(own) = &self.own_groups else {
            return;
        };
        let limits_memory = self.limits_memory(now);
        let mut leaving = Vec::new();
        for (id, container) in &self.containers {
            let wanted = self.wanted_groups(own, id, container, limits_memory, now);
            if container.own_groups.keys().any(|one| !wanted.contains(one)) {
                leaving.push((id.clone(), wanted));
            }
        }
        if leaving.is_empty() {
            return;
        }
        for (id, wanted) in &leaving {
            self.leave(id, wanted, now);
        }
        // Right after the last reading by group, the first one by processes.
        if let Some(table) = self.scan() {
            for (id, _) in &leaving {
                self.read_one(id, &table, now);
            }
        }
        self.remove_leaving();
    }

    fn limits_memory(&self, now: Instant) -> bool {
        self.plan
            .as_ref()
            .is_some_and(|plan| plan.limits_memory(now))
    }

    /// The controllers for which a container has to be in own groups. Excludes hierarchies in which
    /// the container executor made a group. `limits_memory` is computed once for all containers.
    fn wanted_groups(
        &self,
        own: &OwnGroups,
        id: &ContainerId,
        container: &Container,
        limits_memory: bool,
        now: Instant,
    ) -> BTreeSet<Controller> {
        let plan = self.plan.as_ref();
        let mut wanted = plan.map_or_else(BTreeSet::new, |plan| plan.limited(id, now));
        if limits_memory || self.from_arrival {
            wanted.insert(Controller::Memory);
        }
        let executors = container.executors_groups.values();
        let executors: Vec<&Path> = executors.filter_map(|group| self.mount_of(group)).collect();
        let is_free = |controller: &Controller| {
            let hierarchy = own.hierarchy(*controller);
            hierarchy.is_some_and(|one| !executors.contains(&one.mount_point()))
        };
        wanted.retain(is_free);
        let is_moved = !wanted.is_empty();
        let network = Controller::Network;
        let is_counted =
            self.network.is_counted() && (is_moved || self.hierarchies.is_apart(network));
        for (controller, is_wanted) in
            [(Controller::CpuAccounting, is_moved), (network, is_counted)]
        {
            if is_wanted && is_free(&controller) {
                wanted.insert(controller);
            }
        }
        wanted
    }

    fn mount_of(&self, group: &Path) -> Option<&Path> {
        Some(self.hierarchies.of(group)?.mount_point())
    }

    /// Makes the missing groups and returns the tree to move there. None if the tree has ended or
    /// no group is missing.
    fn prepare_groups(
        &mut self,
        id: &ContainerId,
        table: &ProcessTable,
        now: Instant,
    ) -> Result<Option<Moving>, LimitError> {
        let (Some(container), Some(own)) = (self.containers.get_mut(id), &self.own_groups) else {
            return Ok(None);
        };
        let Some(root) = container.root else {
            return Ok(None);
        };
        let tree = table.tree(root, &container.sensor.processes.keys());
        // The root process may end before its descendants.
        let there = tree.iter().find(|process| process.key() == root);
        let Some(process) = there.or(tree.first()) else {
            return Ok(None);
        };
        let Some(cgroup) = cgroup(&self.proc, process.pid)? else {
            return Ok(None);
        };
        let executors = executors_groups(id, &cgroup, &self.hierarchies, Some(own));
        if executors != container.executors_groups {
            container.executors_groups = executors;
            self.settle(id)?;
        }
        let (Some(container), Some(own)) = (self.containers.get(id), &self.own_groups) else {
            return Ok(None);
        };
        let wanted = self.wanted_groups(own, id, container, self.limits_memory(now), now);
        let missing = wanted
            .into_iter()
            .filter(|one| !container.own_groups.contains_key(one));
        let groups: BTreeMap<Controller, PathBuf> = missing
            .filter_map(|one| Some((one, own.group(one, id)?)))
            .collect();
        let inside = container.distinct_own_groups();
        let actuator = &mut self.actuator;
        let new: BTreeSet<PathBuf> = groups.values().cloned().collect();
        for group in new.difference(&inside) {
            let hierarchy = self.hierarchies.of(group);
            let now_in = hierarchy
                .and_then(|one| one.directory_of(&cgroup))
                .filter(|directory| container_of(directory).is_none());
            let origin = now_in.unwrap_or_else(|| actuator.journal.origin(group));
            actuator.journal.remember_origin(group, &origin)?;
            own.make(group)?;
            self.leaving.remove(group);
        }
        Ok((!groups.is_empty()).then_some(Moving { root, groups }))
    }

    /// Reads a container once more by its former source, and by its new groups from now on.
    fn settle_in_groups(
        &mut self,
        id: &ContainerId,
        groups: BTreeMap<Controller, PathBuf>,
        table: &ProcessTable,
        now: Instant,
    ) -> Result<(), LimitError> {
        self.read_one(id, table, now);
        let Some(container) = self.containers.get_mut(id) else {
            return Ok(());
        };
        container.own_groups.extend(groups);
        self.settle(id)?;
        self.read_one(id, table, now);
        Ok(())
    }

    fn settle(&mut self, id: &ContainerId) -> Result<(), KernelFileError> {
        let Some(container) = self.containers.get_mut(id) else {
            return Ok(());
        };
        let settled = container.settle(&self.hierarchies);
        settled.map_err(|error| KernelFileError::new("measure", &self.proc.path(""), error))
    }

    /// Gives up the groups of a container whose processes could not all be moved.
    pub(super) fn hold_back(&mut self, id: &ContainerId, error: &LimitError) {
        let message = format!("{id} is measured by its processes, not limited: {error}");
        self.troubles.warn("containers without a group", message);
        if let Some(container) = self.containers.get_mut(id) {
            container.own_groups.clear();
            container.held_back = true;
            let settled = container.settle(&self.hierarchies);
            warnings::reading(&mut self.troubles, id, settled);
        }
        if let Some(own) = &self.own_groups {
            let groups = Controller::ALL.into_iter();
            let groups = groups.filter_map(|one| own.group(one, id));
            self.leaving.extend(groups.filter(|group| group.exists()));
        }
        self.remove_leaving();
    }

    /// Returns the processes to their former groups, reads the left groups once more, and follows
    /// the tree from their processes.
    fn leave(&mut self, id: &ContainerId, wanted: &BTreeSet<Controller>, now: Instant) {
        let Some(container) = self.containers.get(id) else {
            return;
        };
        let pids = container.listed_pids().unwrap_or_else(|| Ok(Vec::new()));
        let pids = pids.unwrap_or_else(|error| {
            self.troubles.warn("readings", format!("{id}: {error}"));
            Vec::new()
        });
        let kept = container.own_groups.iter();
        let kept = kept.filter(|(controller, _)| wanted.contains(controller));
        let kept: BTreeSet<PathBuf> = kept.map(|(_, group)| group.clone()).collect();
        let left: Vec<PathBuf> = container
            .distinct_own_groups()
            .difference(&kept)
            .cloned()
            .collect();
        for group in &left {
            self.put_back(group);
        }
        self.leaving.extend(left);
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        match container
            .sensor
            .read_group(&self.proc, &pids, self.node.disks(), now)
        {
            Ok(Some(reading)) => self.samples.add(id, &reading),
            Ok(None) => {}
            Err(error) => self.troubles.warn("readings", format!("{id}: {error}")),
        }
        container
            .own_groups
            .retain(|controller, _| wanted.contains(controller));
        let settled = container.settle(&self.hierarchies);
        warnings::reading(&mut self.troubles, id, settled);
    }
}

fn cgroup(proc: &ProcFs, pid: u32) -> Result<Option<String>, KernelFileError> {
    let path = proc.path(&format!("{pid}/cgroup"));
    proc.cgroup(pid)
        .map_err(|error| KernelFileError::new("read", &path, error))
}
