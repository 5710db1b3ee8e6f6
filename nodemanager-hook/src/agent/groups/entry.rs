//! Prepares the move of a container to groups of the agent: makes them, and notes where its processes come from.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use super::{
    executors::executors_places,
    not_measured,
    refusals::{MoveChecks, group_to_leave, refuse_moves},
    tree_moves::Moving,
    wanted::WantedGroups,
};
use crate::{
    actuators::{KernelFileError, LimitError, LimitPlace, OwnGroups, Owner, no_former_group},
    agent::{actuator::Actuator, container::NodeContainer, reader::Reader},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::{ProcessKey, ProcessTable},
};

/// A container that lacks groups.
pub(super) struct Entry<'a> {
    pub id: &'a ContainerId,
    pub container: &'a mut NodeContainer,
    pub own: &'a mut OwnGroups,
    pub actuator: &'a mut Actuator,
    pub wanted: WantedGroups<'a>,
}

impl Entry<'_> {
    /// Makes the missing groups and returns the process tree to move there. `None` if the tree has ended, or if the
    /// container may enter none of the missing groups.
    pub fn prepare(
        mut self,
        table: &ProcessTable,
        reader: &Reader,
        checks: &mut MoveChecks,
    ) -> Result<Option<Moving>, LimitError> {
        let tree = cgroups_of_tree(self.container, table, reader).map_err(|error| {
            KernelFileError::new("read the groups of processes in", Path::new("/proc"), error)
        })?;
        let Some((root, cgroups)) = tree else {
            return Ok(None);
        };
        if let Some(cgroup) = cgroups.first() {
            let hierarchies = &self.actuator.hierarchies;
            let executors = executors_places(self.id, cgroup, Some(self.own), hierarchies);
            self.container.settle_in(executors).map_err(not_measured)?;
        }
        self.refuse_moves(&cgroups, checks);
        let mut missing = self.missing();
        let mut origins = BTreeMap::new();
        for controller in &missing {
            if let Some((group, origin)) = self.origin(*controller, &cgroups)? {
                origins.insert(group, origin);
            }
        }
        if self.prepare_parents(&missing) {
            self.refuse_moves(&cgroups, &mut MoveChecks::default());
            missing = self.missing();
        }
        let inside = self.container.own_groups();
        let Actuator { journal, leaving, .. } = self.actuator;
        let mut places = BTreeMap::new();
        for controller in missing {
            let hierarchy = self.own.hierarchy(controller).zip(self.own.group(controller, self.id));
            let Some((hierarchy, group)) = hierarchy else {
                continue;
            };
            let is_new = |place: &LimitPlace| place.group != group;
            if !inside.contains(&group) && places.values().all(is_new) {
                let origin = origins.get(&group).ok_or_else(|| no_former_group(&group))?;
                journal.remember_origin(&group, origin)?;
                self.own.make(&group)?;
                leaving.remove(&group);
            }
            places.insert(controller, LimitPlace::new(hierarchy, group, Owner::Agent));
        }
        Ok((!places.is_empty()).then_some(Moving { root, places }))
    }

    fn missing(&self) -> BTreeSet<Controller> {
        self.wanted.missing(self.id, self.container, self.own)
    }

    fn refuse_moves(&mut self, cgroups: &[String], checks: &mut MoveChecks) {
        let troubles = &self.actuator.troubles;
        refuse_moves(self.id, self.container, cgroups, self.own, checks, troubles);
    }

    /// The container's own group for a controller, and the group to which its processes will return. `None` if the
    /// agent does not serve the controller, or no group to return to is known.
    fn origin(
        &self,
        controller: Controller,
        cgroups: &[String],
    ) -> Result<Option<(PathBuf, PathBuf)>, LimitError> {
        let found = self.own.hierarchy(controller).zip(self.own.group(controller, self.id));
        let Some((hierarchy, group)) = found else {
            return Ok(None);
        };
        let origin = group_to_leave(cgroups, hierarchy, self.own)?;
        let known = || self.actuator.journal.origin(&group, hierarchy.mount_point());
        Ok(origin.or_else(known).map(|origin| (group, origin)))
    }

    /// Makes what is missing of the parents. Returns whether that failed for some controllers.
    fn prepare_parents(&mut self, controllers: &BTreeSet<Controller>) -> bool {
        if controllers.is_empty() {
            return false;
        }
        let Actuator { files, journal, troubles, .. } = &mut *self.actuator;
        let errors = self.own.prepare(controllers, files, journal);
        for error in &errors {
            troubles.warn("parents not made", error);
        }
        !errors.is_empty()
    }
}

/// The first process of a container, and the texts of `/proc/PID/cgroup` of its processes, that of the first one first if it
/// still runs. None if no process is left.
fn cgroups_of_tree(
    container: &NodeContainer,
    table: &ProcessTable,
    reader: &Reader,
) -> io::Result<Option<(ProcessKey, Vec<String>)>> {
    let Some(root) = container.root else {
        return Ok(None);
    };
    let mut tree = table.tree(root, &container.sensor.processes.keys());
    tree.sort_by_key(|process| process.key() != root);
    let cgroups = reader.cgroups(tree.iter().map(|process| process.pid))?;
    Ok((!cgroups.is_empty()).then_some((root, cgroups)))
}
