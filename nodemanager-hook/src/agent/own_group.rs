//! The way of a container into a group of the agent's when a plan begins to limit it, and back to
//! where it was when no plan does any more.

use std::{collections::BTreeMap, time::Instant};

use super::{
    Agent,
    arrivals::{ExecutorsGroups, accounting},
    container::Members,
};
use crate::{
    actuators::{CpuLimiter, KernelFileError, LimitError, container_of, read_pids},
    container_id::ContainerId,
    sensors::{ProcFs, ProcessKey, ProcessTable},
};

impl Agent {
    /// Makes a group for each container that the plan limits and that has none, and moves its
    /// tree there.
    pub(super) fn enter_groups(&mut self, now: Instant) {
        if self.own_groups.is_none() {
            return;
        }
        let limited = |id: &ContainerId| self.step_at(id, now).is_some();
        let entering: Vec<ContainerId> = self
            .containers
            .iter()
            .filter(|(id, container)| container.needs_group() && limited(id))
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
            match self.prepare_group(&id, &table) {
                Ok(Some(root)) => {
                    moving.insert(id, root);
                }
                Ok(None) => {}
                Err(error) => self.hold_back(&id, &error),
            }
        }
        let table = self.move_trees(&mut moving, table);
        for id in moving.keys() {
            if let Err(error) = self.settle_in_group(id, &table, now) {
                self.hold_back(id, &error);
            }
        }
    }

    /// Moves the containers that no plan limits any more back to where they were, so that what
    /// applied to them before applies again.
    pub(super) fn leave_groups(&mut self, now: Instant) {
        let leaving: Vec<ContainerId> = self
            .containers
            .iter()
            .filter(|(id, container)| container.in_own_group() && self.step_at(id, now).is_none())
            .map(|(id, _)| id.clone())
            .collect();
        if leaving.is_empty() {
            return;
        }
        for id in &leaving {
            self.leave_group(id, now);
        }
        // The first reading by processes comes right after the last one by the group.
        if let Some(table) = self.scan() {
            for id in &leaving {
                self.read_one(id, &table, now);
            }
        }
        self.remove_leaving();
    }

    /// Gives the root of the tree that has to be moved; nothing when it has ended, or when the
    /// container executor has made a group since the container arrived.
    fn prepare_group(
        &mut self,
        id: &ContainerId,
        table: &ProcessTable,
    ) -> Result<Option<ProcessKey>, LimitError> {
        let (Some(container), Some(own)) = (self.containers.get_mut(id), &self.own_groups) else {
            return Ok(None);
        };
        let Some(root) = container.root else {
            return Ok(None);
        };
        let tree = table.tree(root, container.sensor.members());
        // The root process may have ended before what it started.
        let there = tree.iter().find(|process| process.key() == root);
        let Some(process) = there.or(tree.first()) else {
            return Ok(None);
        };
        let Some(cgroup) = cgroup(&self.proc, process.pid)? else {
            return Ok(None);
        };
        let executors = ExecutorsGroups::find(id, &cgroup, &self.hierarchies, Some(own));
        if executors.are_there() {
            executors.take_up(container, Some(own))?;
            return Ok(None);
        }
        let actuator = &mut self.actuator;
        for hierarchy in own.hierarchies() {
            let group = own.group(hierarchy, id);
            let now_in = hierarchy
                .directory_of(&cgroup)
                .filter(|directory| container_of(directory).is_none());
            let origin = now_in.unwrap_or_else(|| actuator.journal.origin(&group));
            actuator.journal.remember_origin(&group, &origin)?;
            actuator.files.make_group(&group)?;
            self.leaving.remove(&group);
        }
        Ok(Some(root))
    }

    /// Reads a container by its processes for the last time, and by its group from now on.
    fn settle_in_group(
        &mut self,
        id: &ContainerId,
        table: &ProcessTable,
        now: Instant,
    ) -> Result<(), LimitError> {
        self.read_one(id, table, now);
        let (Some(container), Some(own)) = (self.containers.get_mut(id), &self.own_groups) else {
            return Ok(());
        };
        let accounted = own.accounting_group(id);
        let group = own.group(own.cpu(), id);
        let mount_point = own.cpu().mount_point();
        let files = &mut self.actuator.files;
        container.limiter = Some(CpuLimiter::own(&group, mount_point, files)?);
        container.sensor.switch(accounting(&accounted)?);
        container.members = Members::OwnGroup(accounted);
        self.read_one(id, table, now);
        Ok(())
    }

    /// Undoes a group to which not every process could be moved.
    pub(super) fn hold_back(&mut self, id: &ContainerId, error: &LimitError) {
        let message = format!("{id} is measured by its processes, not limited: {error}");
        self.troubles.warn("containers without a group", message);
        if let Some(container) = self.containers.get_mut(id) {
            container.leave_group();
            container.held_back = true;
        }
        let groups = self.own_groups.as_ref().map(|own| own.groups(id));
        self.leaving.extend(groups.unwrap_or_default());
        self.remove_leaving();
    }

    /// Puts the processes back, reads the group for the last time, and follows the tree from
    /// what was in it.
    fn leave_group(&mut self, id: &ContainerId, now: Instant) {
        let Some(own) = &self.own_groups else {
            return;
        };
        let groups = own.groups(id);
        let pids = read_pids(&own.accounting_group(id)).unwrap_or_else(|error| {
            self.troubles.warn("readings", format!("{id}: {error}"));
            Vec::new()
        });
        let processes = pids.iter().filter_map(|pid| self.proc.process(*pid).ok()?);
        let members = processes.map(|process| process.key()).collect();
        for group in &groups {
            self.put_back(group);
        }
        self.leaving.extend(groups);
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        match container.sensor.read_group(&self.proc, &pids, now) {
            Ok(Some(reading)) => self.samples.add(id, &reading),
            Ok(None) => {}
            Err(error) => self.troubles.warn("readings", format!("{id}: {error}")),
        }
        container.sensor.follow(members);
        container.leave_group();
    }
}

fn cgroup(proc: &ProcFs, pid: u32) -> Result<Option<String>, KernelFileError> {
    let path = proc.path(&format!("{pid}/cgroup"));
    proc.cgroup(pid)
        .map_err(|error| KernelFileError::new("read", &path, error))
}
