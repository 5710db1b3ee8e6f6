//! The way of a container into groups of the agent's when a plan begins to limit it, and back to
//! where it was when no plan does any more.
//!
//! In version 1 it is moved in those hierarchies that have something to limit, and in that which
//! counts CPU time. While a plan limits anybody's memory, every container is in a memory group
//! from its arrival on, since what it holds is charged to where it was when it took it. In a
//! version 2 that has no other controller, every container is in a group that counts its network,
//! whether a plan limits it or not. With `cgroup.from_arrival` it is in both from its arrival on.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Instant,
};

use super::{Agent, arrivals::executors_groups, container::Container, tree_moves::Moving};
use crate::{
    actuators::{KernelFileError, LimitError, OwnGroups, container_of},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::{ProcFs, ProcessTable},
};

impl Agent {
    /// Makes the groups that each container lacks for the plan, and moves its tree there.
    pub(super) fn enter_groups(&mut self, now: Instant) {
        let Some(own) = &self.own_groups else {
            return;
        };
        let limits_memory = self.limits_memory(now);
        let entering: Vec<ContainerId> = self
            .containers
            .iter()
            .filter(|(id, container)| {
                let wanted = self.wanted_groups(own, id, container, limits_memory, now);
                container.can_be_moved()
                    && wanted
                        .iter()
                        .any(|one| !container.own_groups.contains_key(one))
            })
            .map(|(id, _)| id.clone())
            .collect();
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

    /// Moves containers out of the groups that no plan needs any more, back to where they were,
    /// so that what applied to them before applies again.
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
        // The first reading by processes comes right after the last one by the group.
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

    /// For what a container has to be in own groups now. A hierarchy in which the container
    /// executor has put it into a group is left to that. `limits_memory` is asked once for all.
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

    /// Makes the groups that are missing; gives what has to be moved to them. Nothing when the
    /// tree has ended, or when the container executor has made groups since the container arrived.
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
        // The root process may have ended before what it started.
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
            let settled = container.settle(&self.hierarchies);
            settled.map_err(|error| KernelFileError::new("measure", &self.proc.path(""), error))?;
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
            own.make(group, &mut actuator.files)?;
            self.leaving.remove(group);
        }
        Ok((!groups.is_empty()).then_some(Moving { root, groups }))
    }

    /// Reads a container by what it was read by for the last time, and by its groups from now on.
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
        let settled = container.settle(&self.hierarchies);
        settled.map_err(|error| KernelFileError::new("measure", &self.proc.path(""), error))?;
        self.read_one(id, table, now);
        Ok(())
    }

    /// Undoes groups to which not every process could be moved.
    pub(super) fn hold_back(&mut self, id: &ContainerId, error: &LimitError) {
        let message = format!("{id} is measured by its processes, not limited: {error}");
        self.troubles.warn("containers without a group", message);
        let groups = self.own_groups.as_ref().map(|own| {
            let groups = Controller::ALL.into_iter();
            groups.filter_map(|one| own.group(one, id)).collect()
        });
        let groups: BTreeSet<PathBuf> = groups.unwrap_or_default();
        if let Some(container) = self.containers.get_mut(id) {
            container.own_groups.clear();
            container.held_back = true;
            if let Err(error) = container.settle(&self.hierarchies) {
                self.troubles.warn("readings", format!("{id}: {error}"));
            }
        }
        self.leaving
            .extend(groups.into_iter().filter(|group| group.exists()));
        self.remove_leaving();
    }

    /// Puts the processes back, reads the groups for the last time, and follows the tree from
    /// what was in them.
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
        if let Err(error) = container.settle(&self.hierarchies) {
            self.troubles.warn("readings", format!("{id}: {error}"));
        }
    }
}

fn cgroup(proc: &ProcFs, pid: u32) -> Result<Option<String>, KernelFileError> {
    let path = proc.path(&format!("{pid}/cgroup"));
    proc.cgroup(pid)
        .map_err(|error| KernelFileError::new("read", &path, error))
}
