//! Prepares the move of a container to groups of the agent: makes them, and notes where its processes come from.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Instant,
};

use super::{
    Agent,
    actuator::Actuator,
    container::NodeContainer,
    own_group::{executors_places, not_measured, place},
    refused_moves::{MoveChecks, group_to_leave},
    tree_moves::Moving,
};
use crate::{
    actuators::{KernelFileError, LimitError, LimitPlace, Owner, no_former_group},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::{ProcessKey, ProcessTable},
};

impl Agent {
    /// Makes the missing groups and returns the tree to move there. None if the tree has ended, or no group is missing that
    /// it may enter.
    pub(super) fn prepare_groups(
        &mut self,
        id: &ContainerId,
        table: &ProcessTable,
        checks: &mut MoveChecks,
        now: Instant,
    ) -> Result<Option<Moving>, LimitError> {
        let Some((root, cgroups)) = self.cgroups_of_tree(id, table)? else {
            return Ok(None);
        };
        if let Some(cgroup) = cgroups.first() {
            self.settle_in(id, cgroup)?;
        }
        self.refuse_moves(id, &cgroups, checks);
        let mut missing = self.missing_groups_of(id, now);
        let mut origins = BTreeMap::new();
        for controller in &missing {
            if let Some((group, origin)) = self.origin_of(id, *controller, &cgroups)? {
                origins.insert(group, origin);
            }
        }
        if self.prepare_parents(&missing) {
            self.refuse_moves(id, &cgroups, &mut MoveChecks::default());
            missing = self.missing_groups_of(id, now);
        }
        let inside = self.containers.get(id).map(NodeContainer::own_groups).unwrap_or_default();
        let Some(own) = &self.own_groups else {
            return Ok(None);
        };
        let Actuator { journal, leaving, .. } = &mut self.actuator;
        let mut places = BTreeMap::new();
        for controller in missing {
            let hierarchy = own.hierarchy(controller).zip(own.group(controller, id));
            let Some((hierarchy, group)) = hierarchy else {
                continue;
            };
            let is_new = |place: &LimitPlace| place.group != group;
            if !inside.contains(&group) && places.values().all(is_new) {
                let origin = origins.get(&group).ok_or_else(|| no_former_group(&group))?;
                journal.remember_origin(&group, origin)?;
                own.make(&group)?;
                leaving.remove(&group);
            }
            places.insert(controller, place(hierarchy, group, Owner::Agent));
        }
        Ok((!places.is_empty()).then_some(Moving { root, places }))
    }

    fn missing_groups_of(&self, id: &ContainerId, now: Instant) -> BTreeSet<Controller> {
        let container = self.containers.get(id);
        container.map(|one| self.missing_groups(id, one, now)).unwrap_or_default()
    }

    /// A container's own group for a controller, and the group to which its processes will return. None if both are unknown.
    fn origin_of(
        &self,
        id: &ContainerId,
        controller: Controller,
        cgroups: &[String],
    ) -> Result<Option<(PathBuf, PathBuf)>, LimitError> {
        let Some(own) = &self.own_groups else {
            return Ok(None);
        };
        let Some((hierarchy, group)) = own.hierarchy(controller).zip(own.group(controller, id))
        else {
            return Ok(None);
        };
        let origin = group_to_leave(cgroups, hierarchy, own)?;
        let known = || self.actuator.journal.origin(&group, hierarchy.mount_point());
        Ok(origin.or_else(known).map(|origin| (group, origin)))
    }

    /// Makes what is missing of the parents. Returns whether that failed for some controllers.
    fn prepare_parents(&mut self, controllers: &BTreeSet<Controller>) -> bool {
        let Some(own) = self.own_groups.as_mut().filter(|_| !controllers.is_empty()) else {
            return false;
        };
        let Actuator { files, journal, .. } = &mut self.actuator;
        let errors = own.prepare(controllers, files, journal);
        for error in &errors {
            self.troubles.warn("parents not made", error);
        }
        !errors.is_empty()
    }

    /// The first process of a container, and the texts of `/proc/PID/cgroup` of its processes, that of the first one first if
    /// it still runs. None if no process is left.
    fn cgroups_of_tree(
        &self,
        id: &ContainerId,
        table: &ProcessTable,
    ) -> Result<Option<(ProcessKey, Vec<String>)>, LimitError> {
        let Some(container) = self.containers.get(id) else {
            return Ok(None);
        };
        let Some(root) = container.root else {
            return Ok(None);
        };
        let mut tree = table.tree(root, &container.sensor.processes.keys());
        tree.sort_by_key(|process| process.key() != root);
        let proc = &self.reader.proc;
        let mut cgroups = Vec::new();
        for process in tree {
            let cgroup = proc.cgroup(process.pid).map_err(|error| {
                let path = proc.path(&format!("{}/cgroup", process.pid));
                KernelFileError::new("read", &path, error)
            });
            cgroups.extend(cgroup?);
        }
        Ok((!cgroups.is_empty()).then_some((root, cgroups)))
    }

    /// Takes over the groups that the container executor made. `cgroup` is the text of `/proc/PID/cgroup`.
    fn settle_in(&mut self, id: &ContainerId, cgroup: &str) -> Result<(), LimitError> {
        let own = self.own_groups.as_ref();
        let executors = executors_places(id, cgroup, own, &self.actuator.hierarchies);
        let container = self.containers.get_mut(id);
        container.map_or(Ok(()), |one| one.settle_in(executors)).map_err(not_measured)
    }
}
