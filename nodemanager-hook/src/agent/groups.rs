//! Moves a container into the agent's groups when a plan begins to limit it, and back to its former
//! groups when no plan does any more.
//!
//! In version 1 the container moves in the hierarchies of its limited resources and in that of CPU
//! accounting. While a plan limits any container's memory, every container enters a memory group
//! on arrival, since memory is charged to the group in which it was allocated. In a version 2
//! hierarchy without other controllers, every container is in a group that counts its network.
//! With `cgroup.from_arrival` every container is in both groups from its arrival.

mod entry;
mod executors;
mod refusals;
mod return_taken_out;
mod tree_moves;
mod wanted;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use elastane_protocol::CanLimit;

use self::{
    entry::Entry,
    executors::executors_places,
    refusals::{MoveChecks, check_moves, possible},
    return_taken_out::{MOST_COMPARED, return_taken_out},
    tree_moves::move_trees,
    wanted::WantedGroups,
};
use super::{
    container::{Containers, NodeContainer},
    host::Host,
    network::NodeNetwork,
};
use crate::{
    actuators::{KernelFileError, LimitError, LimitPlace, OwnGroups, Owner},
    cgroups::{Controller, Hierarchies},
    container_id::ContainerId,
    plan::Plan,
};

#[derive(Debug)]
pub(super) struct ContainerGroups {
    /// None if the agent cannot limit.
    own: Option<OwnGroups>,
    /// Whether containers enter own groups on arrival, before a plan limits them.
    from_arrival: bool,
    /// The container whose groups the next plan compares first.
    first_compared: usize,
}

impl ContainerGroups {
    pub fn new(own: Option<OwnGroups>, from_arrival: bool) -> Self {
        Self { own, from_arrival, first_compared: 0 }
    }

    pub fn can_limit(&self) -> bool {
        self.own.is_some()
    }

    /// What of `of_host` the agent can limit for any container here.
    pub fn possible(&self, of_host: CanLimit, containers: &Containers) -> CanLimit {
        self.own.as_ref().map_or(of_host, |own| possible(of_host, own, containers))
    }

    /// The groups that exist below the agent's parents.
    pub fn present(&self) -> Vec<PathBuf> {
        self.own.iter().flat_map(OwnGroups::present).collect()
    }

    /// The groups that the container executor made for a container. `cgroup` is the text of `/proc/PID/cgroup`.
    pub fn of_executor(
        &self,
        id: &ContainerId,
        cgroup: &str,
        hierarchies: &Hierarchies,
    ) -> BTreeMap<Controller, LimitPlace> {
        executors_places(id, cgroup, self.own.as_ref(), hierarchies)
    }

    /// Finds out which of the containers that have just arrived must not be moved.
    pub fn take_arrived(&mut self, host: &mut Host, arrived: &BTreeSet<ContainerId>) {
        if let Some(own) = &mut self.own {
            own.forget_failures();
            check_moves(own, host, |id, _| arrived.contains(id));
        }
    }

    /// With each plan: looks again at the containers that were not moved, since an administrator may have changed what held
    /// them, and at those of which a reading or one of several groups misses a process.
    pub fn take_plan(&mut self, host: &mut Host) {
        if let Some(own) = &self.own {
            check_moves(own, host, |_, container| !container.refusals.is_empty());
            return_taken_out(own, host, self.first_compared);
            let next = self.first_compared + MOST_COMPARED;
            self.first_compared = next % host.containers.len().max(1);
        }
    }

    /// Makes the groups that the containers lack for the plan, and moves their process trees there.
    pub fn enter(&mut self, host: &mut Host, network: &NodeNetwork, now: Instant) {
        let Some(own) = &mut self.own else {
            return;
        };
        let Host { containers, plan, reader, actuator, .. } = host;
        let wanted = wanted(self.from_arrival, plan, &actuator.hierarchies, network, now);
        let entering = containers.iter_mut().filter(|(id, container)| {
            container.can_be_moved() && !wanted.missing(id, container, own).is_empty()
        });
        let entering: Vec<_> = entering.collect();
        if entering.is_empty() {
            return;
        }
        let Some(table) = reader.scan() else {
            return;
        };
        let (mut moving, mut held_back) = (BTreeMap::new(), Vec::new());
        let mut checks = MoveChecks::default();
        for (id, container) in entering {
            let entry = Entry { id, container, own: &mut *own, actuator: &mut *actuator, wanted };
            match entry.prepare(&table, reader, &mut checks) {
                Ok(tree) => moving.extend(tree.map(|tree| (id.clone(), tree))),
                Err(error) => held_back.push((id.clone(), error)),
            }
        }
        let (table, not_moved) = move_trees(host, &mut moving, table);
        held_back.extend(not_moved.into_iter().map(|(id, error)| (id, error.into())));
        let counters = network.counters();
        for (id, moved) in moving {
            let Some(container) = host.containers.get_mut(&id) else {
                continue;
            };
            // Once more by the former source, and by the new groups from now on.
            host.reader.read(&id, container, &table, counters.as_ref(), now);
            container.places.extend(moved.places);
            match container.settle() {
                Ok(()) => host.reader.read(&id, container, &table, counters.as_ref(), now),
                Err(error) => held_back.push((id, not_measured(error))),
            }
        }
        self.hold_back(host, held_back);
    }

    /// Moves containers out of the groups that no plan needs any more. Restrictions of their former
    /// groups apply again.
    pub fn leave(&self, host: &mut Host, network: &NodeNetwork, now: Instant) {
        let Some(own) = &self.own else {
            return;
        };
        let hierarchies = &host.actuator.hierarchies;
        let all = wanted(self.from_arrival, &host.plan, hierarchies, network, now);
        let leaving = host.containers.iter().filter_map(|(id, container)| {
            let wanted = all.of(id, container, own);
            let leaves = container.own_places().any(|(one, _)| !wanted.contains(&one));
            leaves.then(|| (id.clone(), wanted))
        });
        let leaving: BTreeMap<_, _> = leaving.collect();
        if leaving.is_empty() {
            return;
        }
        for (id, wanted) in &leaving {
            leave(host, id, wanted, now);
        }
        // Right after the last reading by group, the first one by processes.
        host.read(|id, _| leaving.contains_key(id), || network.counters(), now);
        host.actuator.remove_leaving();
    }

    /// Removes the parents that no container uses any more, after containers have left them.
    pub fn release(&mut self, host: &mut Host) {
        let actuator = &mut host.actuator;
        if !std::mem::take(&mut actuator.has_removed) {
            return;
        }
        let places = host.containers.values().flat_map(NodeContainer::own_places);
        let groups = places.map(|(_, place)| &place.group).chain(&actuator.leaving);
        let used = groups.filter_map(|group| group.parent()).map(Path::to_owned).collect();
        actuator.remove_parents(&used);
        if let Some(own) = &mut self.own {
            own.release(&used);
        }
    }

    /// Gives up the agent's groups and unlocks their parents, so that another agent may use the parents that stay.
    pub fn end(&mut self) {
        self.own = None;
    }

    /// Gives up the groups of containers whose processes could not all be moved.
    fn hold_back(&self, host: &mut Host, all: Vec<(ContainerId, LimitError)>) {
        let Host { containers, actuator, .. } = host;
        for (id, error) in &all {
            let troubles = &actuator.troubles;
            let message = format!("{id} is measured by its processes, not limited: {error}");
            troubles.warn("containers without a group", message);
            if let Some(container) = containers.get_mut(id) {
                container.places.retain(|_, place| place.owner != Owner::Agent);
                container.held_back = true;
                troubles.check_of("readings", id, container.settle());
            }
            let own = self.own.iter();
            let groups = own.flat_map(|own| Controller::ALL.map(|one| own.group(one, id)));
            actuator.leaving.extend(groups.flatten().filter(|group| group.exists()));
        }
        if !all.is_empty() {
            actuator.remove_leaving();
        }
    }
}

fn wanted<'a>(
    from_arrival: bool,
    plan: &'a Plan,
    hierarchies: &Hierarchies,
    network: &NodeNetwork,
    now: Instant,
) -> WantedGroups<'a> {
    WantedGroups {
        plan,
        from_arrival,
        is_network_counted: network.is_counted(),
        is_network_apart: hierarchies.is_apart(Controller::Network),
        now,
    }
}

/// Returns the processes to their former groups, reads the left groups once more, and follows
/// the tree from their processes.
fn leave(host: &mut Host, id: &ContainerId, wanted: &BTreeSet<Controller>, now: Instant) {
    let Host { containers, reader, actuator, .. } = host;
    let Some(container) = containers.get_mut(id) else {
        return;
    };
    let pids = container.listed_pids().transpose();
    let pids = actuator.troubles.check_of("readings", id, pids).flatten();
    let before = container.own_groups();
    container.places.retain(|one, place| place.owner != Owner::Agent || wanted.contains(one));
    for group in &before - &container.own_groups() {
        actuator.put_back(&group);
        actuator.leaving.insert(group);
    }
    let pids = pids.unwrap_or_default();
    let reading = container.sensor.read_group(&reader.proc, &pids, &reader.disks, now);
    if let Some(Some(reading)) = actuator.troubles.check_of("readings", id, reading) {
        reader.samples.add(id, &reading);
    }
    actuator.troubles.check_of("readings", id, container.settle());
}

fn not_measured(error: io::Error) -> LimitError {
    KernelFileError::new("measure", Path::new("/proc"), error).into()
}
