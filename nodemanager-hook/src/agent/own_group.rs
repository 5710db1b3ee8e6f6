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
    fs, io,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    Agent,
    container::NodeContainer,
    refused_moves::{MoveChecks, is_free},
};
use crate::{
    actuators::{KernelFileError, LimitError, LimitPlace, OwnGroups, Owner},
    cgroups::{Controller, Hierarchies, Hierarchy, Version, named_after},
    container_id::ContainerId,
};

impl Agent {
    /// Makes the groups that the containers lack for the plan, and moves their process trees there.
    pub(super) fn enter_groups(&mut self, now: Instant) {
        let lacks_group = |id: &ContainerId, container: &NodeContainer| {
            container.can_be_moved() && !self.missing_groups(id, container, now).is_empty()
        };
        let entering = self.containers.iter().filter(|(id, one)| lacks_group(id, one));
        let entering: Vec<ContainerId> = entering.map(|(id, _)| id.clone()).collect();
        if entering.is_empty() {
            return;
        }
        let Some(table) = self.reader.scan() else {
            return;
        };
        let mut moving = BTreeMap::new();
        let mut checks = MoveChecks::default();
        for id in entering {
            match self.prepare_groups(&id, &table, &mut checks, now) {
                Ok(tree) => moving.extend(tree.map(|tree| (id, tree))),
                Err(error) => self.hold_back(&id, &error),
            }
        }
        let table = self.move_trees(&mut moving, table);
        let counters = self.network.counters();
        for (id, moved) in moving {
            let Some(container) = self.containers.get_mut(&id) else {
                continue;
            };
            // Once more by the former source, and by the new groups from now on.
            self.reader.read(&id, container, &table, counters.as_ref(), now);
            container.places.extend(moved.places);
            match container.settle() {
                Ok(()) => self.reader.read(&id, container, &table, counters.as_ref(), now),
                Err(error) => self.hold_back(&id, &not_measured(error)),
            }
        }
    }

    /// Moves containers out of the groups that no plan needs any more. Restrictions of their former
    /// groups apply again.
    pub(super) fn leave_groups(&mut self, now: Instant) {
        let mut leaving = Vec::new();
        for (id, container) in &self.containers {
            let wanted = self.wanted_groups(id, container, now);
            if container.own_places().any(|(one, _)| !wanted.contains(&one)) {
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
        if let Some(table) = self.reader.scan() {
            let counters = self.network.counters();
            for (id, _) in &leaving {
                if let Some(container) = self.containers.get_mut(id) {
                    self.reader.read(id, container, &table, counters.as_ref(), now);
                }
            }
        }
        self.actuator.remove_leaving();
    }

    /// The controllers for which a container has to be in own groups. Excludes those for which it must not be moved, and
    /// hierarchies in which the container executor made a group.
    fn wanted_groups(
        &self,
        id: &ContainerId,
        container: &NodeContainer,
        now: Instant,
    ) -> BTreeSet<Controller> {
        let Some(own) = &self.own_groups else {
            return BTreeSet::new();
        };
        let may_enter = |controller: &Controller| {
            let is_refused = container.refusals.contains_key(controller);
            !is_refused && is_free(*controller, &container.places, own)
        };
        let mut wanted = self.plan.limited(id, now);
        if self.plan.limits_memory(now) || self.from_arrival {
            wanted.insert(Controller::Memory);
        }
        wanted.retain(may_enter);
        let is_moved = !wanted.is_empty();
        let network = Controller::Network;
        let is_apart = || self.actuator.hierarchies.is_apart(network);
        let is_counted = self.network.is_counted() && (is_moved || is_apart());
        for (controller, is_wanted) in
            [(Controller::CpuAccounting, is_moved), (network, is_counted)]
        {
            if is_wanted && may_enter(&controller) {
                wanted.insert(controller);
            }
        }
        wanted
    }

    pub(super) fn missing_groups(
        &self,
        id: &ContainerId,
        container: &NodeContainer,
        now: Instant,
    ) -> BTreeSet<Controller> {
        let mut missing = self.wanted_groups(id, container, now);
        for (present, _) in container.own_places() {
            missing.remove(&present);
        }
        missing
    }

    /// Removes the parents that no container uses any more, after containers have left them.
    pub(super) fn release_groups(&mut self) {
        if !std::mem::take(&mut self.actuator.has_removed) {
            return;
        }
        let places = self.containers.values().flat_map(NodeContainer::own_places);
        let groups = places.map(|(_, place)| &place.group).chain(&self.actuator.leaving);
        let used = groups.filter_map(|group| group.parent()).map(Path::to_owned).collect();
        self.actuator.remove_parents(&used);
        if let Some(own) = &mut self.own_groups {
            own.release(&used);
        }
    }

    /// Gives up the groups of a container whose processes could not all be moved.
    pub(super) fn hold_back(&mut self, id: &ContainerId, error: &LimitError) {
        let message = format!("{id} is measured by its processes, not limited: {error}");
        self.troubles.warn("containers without a group", message);
        if let Some(container) = self.containers.get_mut(id) {
            container.places.retain(|_, place| place.owner != Owner::Agent);
            container.held_back = true;
            self.troubles.check_of("readings", id, container.settle());
        }
        if let Some(own) = &self.own_groups {
            let groups = Controller::ALL.into_iter().filter_map(|one| own.group(one, id));
            self.actuator.leaving.extend(groups.filter(|group| group.exists()));
        }
        self.actuator.remove_leaving();
    }

    /// Returns the processes to their former groups, reads the left groups once more, and follows
    /// the tree from their processes.
    fn leave(&mut self, id: &ContainerId, wanted: &BTreeSet<Controller>, now: Instant) {
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        let pids = container.listed_pids().transpose();
        let pids = self.troubles.check_of("readings", id, pids).flatten();
        let before = container.own_groups();
        container.places.retain(|one, place| place.owner != Owner::Agent || wanted.contains(one));
        for group in &before - &container.own_groups() {
            self.actuator.put_back(&group);
            self.actuator.leaving.insert(group);
        }
        let (sensor, reader) = (&mut container.sensor, &mut self.reader);
        let pids = pids.unwrap_or_default();
        let reading = sensor.read_group(&reader.proc, &pids, &reader.disks, now);
        if let Some(Some(reading)) = self.troubles.check_of("readings", id, reading) {
            reader.samples.add(id, &reading);
        }
        self.troubles.check_of("readings", id, container.settle());
    }
}

pub(super) fn not_measured(error: io::Error) -> LimitError {
    KernelFileError::new("measure", Path::new("/proc"), error).into()
}

pub(super) fn place(hierarchy: &Hierarchy, group: PathBuf, owner: Owner) -> LimitPlace {
    let mount_point = hierarchy.mount_point().into();
    LimitPlace { group, version: hierarchy.version(), mount_point, owner }
}

/// The groups that the container executor made for a container. `cgroup` is the text of
/// `/proc/PID/cgroup`.
pub(super) fn executors_places(
    id: &ContainerId,
    cgroup: &str,
    own: Option<&OwnGroups>,
    hierarchies: &Hierarchies,
) -> BTreeMap<Controller, LimitPlace> {
    let find = |controller: Controller| {
        let hierarchy = hierarchies.serving(controller)?;
        let group = named_after(&hierarchy.directory_of(cgroup)?, id)?;
        let is_own = own.is_some_and(|own| own.contains(&group));
        let works = !is_own && works_in(controller, hierarchy.version(), &group);
        works.then(|| (controller, place(hierarchy, group, Owner::ContainerExecutor)))
    };
    Controller::ALL.into_iter().filter_map(find).collect()
}

/// Whether a group has a controller's files: in version 2, if its parent enables the controller.
fn works_in(controller: Controller, version: Version, group: &Path) -> bool {
    let (Version::Two, Some(name)) = (version, controller.name(version)) else {
        return true;
    };
    let enabled = fs::read_to_string(group.join("cgroup.controllers")).unwrap_or_default();
    enabled.split_ascii_whitespace().any(|one| one == name)
}
