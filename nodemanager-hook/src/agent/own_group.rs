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

use super::{Agent, arrivals::executors_groups, container::Container, tree_moves::Moving};
use crate::{
    actuators::{KernelFileError, LimitError, container_of},
    cgroups::{Controller, Hierarchy},
    container_id::ContainerId,
    sensors::ProcessTable,
};

impl Agent {
    /// Makes the groups that the containers lack for the plan, and moves their process trees there.
    pub(super) fn enter_groups(&mut self, now: Instant) {
        let limits_memory = self.limits_memory(now);
        let lacks_group = |id: &ContainerId, container: &Container| {
            let wanted = self.wanted_groups(id, container, limits_memory, now);
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
            match self.prepare_groups(&id, &table, limits_memory, now) {
                Ok(tree) => moving.extend(tree.map(|tree| (id, tree))),
                Err(error) => self.hold_back(&id, &error),
            }
        }
        let table = self.move_trees(&mut moving, table);
        for (id, moved) in moving {
            // Once more by the former source, and by the new groups from now on.
            self.read_one(&id, &table, now);
            if let Some(container) = self.containers.get_mut(&id) {
                container.own_groups.extend(moved.groups);
            }
            match self.settle(&id) {
                Ok(()) => self.read_one(&id, &table, now),
                Err(error) => self.hold_back(&id, &error.into()),
            }
        }
    }

    /// Moves containers out of the groups that no plan needs any more. Restrictions of their former
    /// groups apply again.
    pub(super) fn leave_groups(&mut self, now: Instant) {
        let limits_memory = self.limits_memory(now);
        let mut leaving = Vec::new();
        for (id, container) in &self.containers {
            let wanted = self.wanted_groups(id, container, limits_memory, now);
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
        let plan = self.plan.as_ref();
        plan.is_some_and(|plan| plan.limits_memory(now))
    }

    /// The controllers for which a container has to be in own groups. Excludes hierarchies in which
    /// the container executor made a group. `limits_memory` is computed once for all containers.
    fn wanted_groups(
        &self,
        id: &ContainerId,
        container: &Container,
        limits_memory: bool,
        now: Instant,
    ) -> BTreeSet<Controller> {
        let Some(own) = &self.own_groups else {
            return BTreeSet::new();
        };
        let plan = self.plan.as_ref();
        let mut wanted = plan.map_or_else(BTreeSet::new, |plan| plan.limited(id, now));
        if limits_memory || self.from_arrival {
            wanted.insert(Controller::Memory);
        }
        let executors = container.executors_groups.values();
        let executors = executors.filter_map(|group| self.hierarchies.of(group));
        let executors: Vec<&Path> = executors.map(Hierarchy::mount_point).collect();
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

    /// Makes the missing groups and returns the tree to move there. None if the tree has ended or
    /// no group is missing.
    fn prepare_groups(
        &mut self,
        id: &ContainerId,
        table: &ProcessTable,
        limits_memory: bool,
        now: Instant,
    ) -> Result<Option<Moving>, LimitError> {
        let Some(container) = self.containers.get_mut(id) else {
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
        let path = self.proc.path(&format!("{}/cgroup", process.pid));
        let cgroup = self.proc.cgroup(process.pid);
        let cgroup = cgroup.map_err(|error| KernelFileError::new("read", &path, error))?;
        let Some(cgroup) = cgroup else {
            return Ok(None);
        };
        let own = self.own_groups.as_ref();
        let executors = executors_groups(id, &cgroup, &self.hierarchies, own);
        if executors != container.executors_groups {
            container.executors_groups = executors;
            self.settle(id)?;
        }
        let (Some(container), Some(own)) = (self.containers.get(id), &self.own_groups) else {
            return Ok(None);
        };
        let mut missing = self.wanted_groups(id, container, limits_memory, now);
        missing.retain(|one| !container.own_groups.contains_key(one));
        let groups = missing.into_iter();
        let groups: BTreeMap<Controller, PathBuf> =
            groups.filter_map(|one| Some((one, own.group(one, id)?))).collect();
        let inside = container.distinct_own_groups();
        let journal = &mut self.actuator.journal;
        let new: BTreeSet<PathBuf> = groups.values().cloned().collect();
        for group in new.difference(&inside) {
            let hierarchy = self.hierarchies.of(group);
            let now_in = hierarchy
                .and_then(|one| one.directory_of(&cgroup))
                .filter(|directory| container_of(directory).is_none());
            let origin = now_in.unwrap_or_else(|| journal.origin(group));
            journal.remember_origin(group, &origin)?;
            own.make(group)?;
            self.leaving.remove(group);
        }
        Ok((!groups.is_empty()).then_some(Moving { root, groups }))
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
        }
        self.settle_or_warn(id);
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
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        let pids = container.listed_pids().transpose();
        let pids = pids.map_err(|error| format!("{id}: {error}"));
        let pids = self.troubles.check("readings", pids).flatten();
        let before = container.distinct_own_groups();
        container.own_groups.retain(|one, _| wanted.contains(one));
        for group in &before - &container.distinct_own_groups() {
            self.put_back(&group);
            self.leaving.insert(group);
        }
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        let (sensor, disks) = (&mut container.sensor, self.node.disks());
        let reading = sensor.read_group(&self.proc, &pids.unwrap_or_default(), disks, now);
        let reading = reading.map_err(|error| format!("{id}: {error}"));
        if let Some(Some(reading)) = self.troubles.check("readings", reading) {
            self.samples.add(id, &reading);
        }
        self.settle_or_warn(id);
    }

    fn settle_or_warn(&mut self, id: &ContainerId) {
        let settled = self.settle(id).map_err(|error| format!("{id}: {error}"));
        self.troubles.check("readings", settled);
    }
}
