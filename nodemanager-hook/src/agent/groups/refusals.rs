//! Containers that are not moved to the agent's groups, because they would lose a restriction there or because systemd owns
//! the groups (decision 37). They are measured by their processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use elastane_protocol::CanLimit;

use crate::{
    actuators::{LimitError, LimitPlace, OwnGroups, Owner},
    agent::{
        container::{Containers, NodeContainer},
        host::Host,
    },
    cgroups::{Controller, Hierarchy, Version},
    container_id::ContainerId,
    restrictions::Losses,
    troubles::Troubles,
};

/// What was found out about moves in one pass over the containers, of which many are alike.
#[derive(Debug, Default)]
pub struct MoveChecks {
    losses: Losses,
    no_parent: BTreeMap<Controller, Option<String>>,
}

impl MoveChecks {
    fn no_parent(&mut self, controller: Controller, own: &OwnGroups) -> Option<String> {
        let known = self.no_parent.entry(controller);
        known.or_insert_with(|| own.no_parent(controller)).clone()
    }
}

/// The controllers for which a container must not be moved, each with the reason. `cgroups` are the texts of
/// `/proc/PID/cgroup` of its processes.
pub(super) fn refusals(
    places: &BTreeMap<Controller, LimitPlace>,
    cgroups: &[String],
    own: &OwnGroups,
    checks: &mut MoveChecks,
) -> BTreeMap<Controller, String> {
    let free = Controller::ALL.into_iter().filter(|one| is_free(*one, places, own));
    let free: Vec<Controller> = free.collect();
    let mut refusals = BTreeMap::new();
    for controller in &free {
        let no_parent = checks.no_parent(*controller, own);
        let why = no_parent.or_else(|| loss(*controller, cgroups, own, &mut checks.losses));
        refusals.extend(why.map(|why| (*controller, why)));
    }
    // Without CPU accounting only a move that changes nothing else is possible.
    if let Some(accounting) = refusals.get(&Controller::CpuAccounting).cloned() {
        let hierarchy = |controller| own.hierarchy(controller);
        let of_accounting = hierarchy(Controller::CpuAccounting);
        for one in free {
            if one != Controller::Network || hierarchy(one) == of_accounting {
                refusals.entry(one).or_insert_with(|| accounting.clone());
            }
        }
    }
    refusals
}

/// Whether the agent would make the container's group for a controller: it serves the controller, and the container
/// executor made no group in that hierarchy.
pub(super) fn is_free(
    controller: Controller,
    places: &BTreeMap<Controller, LimitPlace>,
    own: &OwnGroups,
) -> bool {
    own.hierarchy(controller).is_some_and(|hierarchy| {
        let is_elsewhere = |place: &LimitPlace| place.mount_point != hierarchy.mount_point();
        places.values().all(|place| place.owner == Owner::Agent || is_elsewhere(place))
    })
}

fn loss(
    controller: Controller,
    cgroups: &[String],
    own: &OwnGroups,
    losses: &mut Losses,
) -> Option<String> {
    let (hierarchy, parent) = own.hierarchy(controller).zip(own.parent_of(controller))?;
    let outside = groups_outside(cgroups, hierarchy, own);
    outside.iter().find_map(|from| {
        let lost = losses.of_move(from, &parent, hierarchy.version())?;
        Some(lost.to_string())
    })
}

/// The group that a container's processes leave in a hierarchy. None if all of them are in the agent's groups.
pub(super) fn group_to_leave(
    cgroups: &[String],
    hierarchy: &Hierarchy,
    own: &OwnGroups,
) -> Result<Option<PathBuf>, LimitError> {
    let mut outside = groups_outside(cgroups, hierarchy, own).into_iter();
    let (first, second) = (outside.next(), outside.next());
    match first.clone().zip(second) {
        // Back from the agent's group they would all go to one of them.
        Some((one, other)) => Err(LimitError::Scattered { one, other }),
        None => Ok(first),
    }
}

/// The groups of the processes that are in none of the agent's. An ended process may be in a group that was removed. In
/// version 1 the kernel shows a process that exits in the root, wherever it was, so there the root counts only if no process
/// is elsewhere.
fn groups_outside(cgroups: &[String], hierarchy: &Hierarchy, own: &OwnGroups) -> Vec<PathBuf> {
    let groups = cgroups.iter().filter_map(|cgroup| hierarchy.directory_of(cgroup));
    let is_left = |group: &PathBuf| !own.contains(group) && !is_removed(group);
    let mut groups: Vec<PathBuf> = groups.filter(is_left).collect();
    groups.sort_unstable();
    groups.dedup();
    let root = hierarchy.mount_point();
    if hierarchy.version() == Version::One && groups.iter().any(|group| group != root) {
        groups.retain(|group| group != root);
    }
    groups
}

fn is_removed(group: &Path) -> bool {
    group.as_os_str().as_bytes().ends_with(b" (deleted)")
}

/// Sets the container's `refusals`. Counts each refused container once, and logs the first one. `cgroups` are the
/// texts of `/proc/PID/cgroup` of its processes.
pub(super) fn refuse_moves(
    id: &ContainerId,
    container: &mut NodeContainer,
    cgroups: &[String],
    own: &OwnGroups,
    checks: &mut MoveChecks,
    troubles: &Troubles,
) {
    container.refusals = refusals(&container.places, cgroups, own, checks);
    let Some(why) = container.refusals.values().next().filter(|_| !container.was_refused) else {
        return;
    };
    container.was_refused = true;
    let message =
        format!("{id} is not moved to a group of the agent, and not limited there: {why}");
    troubles.warn("containers left in their group", message);
}

/// Finds out which containers must not be moved, by their processes at the last reading.
pub(super) fn check_moves(
    own: &OwnGroups,
    host: &mut Host,
    is_checked: impl Fn(&ContainerId, &NodeContainer) -> bool,
) {
    let (reader, troubles) = (&host.reader, &host.actuator.troubles);
    let mut checks = MoveChecks::default();
    for (id, container) in &mut host.containers {
        if !is_checked(id, container) {
            continue;
        }
        let root = container.root.map(|root| root.pid);
        let pids: BTreeSet<u32> = container.pids.iter().copied().chain(root).collect();
        let read = reader.cgroups(pids);
        if let Some(cgroups) = troubles.check_of("readings", id, read) {
            refuse_moves(id, container, &cgroups, own, &mut checks, troubles);
        }
    }
}

/// The part of `of_host` that the agent can limit for at least one container. Without containers: what it could limit
/// for the next one.
pub(super) fn possible(of_host: CanLimit, own: &OwnGroups, containers: &Containers) -> CanLimit {
    let running = || containers.values().filter(|container| container.root.is_some());
    let is_possible = |controller: Controller| match running().next() {
        Some(_) => running().any(|container| !container.refusals.contains_key(&controller)),
        None => own.no_parent(controller).is_none(),
    };
    CanLimit {
        cpu: of_host.cpu && is_possible(Controller::Cpu),
        memory: of_host.memory && is_possible(Controller::Memory),
        disk: of_host.disk && is_possible(Controller::Disk),
        network_sent: of_host.network_sent && is_possible(Controller::Network),
        network_received: of_host.network_received && is_possible(Controller::Network),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{cgroups::Hierarchies, config};

    /// A hierarchy of version 1 for CPU and its accounting, as files.
    struct Host {
        directory: tempfile::TempDir,
        own: OwnGroups,
    }

    impl Host {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let mount_point = directory.path().display();
            let mountinfo = format!("1 1 0:1 / {mount_point} rw - cgroup cgroup rw,cpu,cpuacct\n");
            let hierarchies = Hierarchies::discover(&mountinfo, |_| String::new());
            let own = OwnGroups::find(&hierarchies, &config::Cgroup::default(), false).unwrap();
            let host = Self { directory, own };
            fs::create_dir_all(host.group("yarn/job")).unwrap();
            host
        }

        fn group(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        /// The group that processes of these groups leave.
        fn group_to_leave(&self, groups: &[&str]) -> Result<Option<PathBuf>, LimitError> {
            let hierarchy = self.own.hierarchy(Controller::Cpu).unwrap();
            group_to_leave(&cgroups(groups), hierarchy, &self.own)
        }

        fn refusals(
            &self,
            places: &BTreeMap<Controller, LimitPlace>,
            group: &str,
        ) -> BTreeMap<Controller, String> {
            refusals(places, &cgroups(&[group]), &self.own, &mut MoveChecks::default())
        }
    }

    fn cgroups(groups: &[&str]) -> Vec<String> {
        groups.iter().map(|group| format!("4:cpu,cpuacct:/{group}\n")).collect()
    }

    #[test]
    fn processes_leave_one_group_or_none() {
        let host = Host::new();
        for (groups, left) in [
            (&["yarn", "yarn"][..], Some("yarn")),
            // One that exits.
            (&["", "yarn"], Some("yarn")),
            (&["", ""], Some("")),
            (&["elastane/container_1_1_1_1", "yarn"], Some("yarn")),
            (&["elastane/container_1_1_1_1"], None),
            // Beside the containers' groups.
            (&["elastane"], Some("elastane")),
            (&["yarn/job (deleted)", "yarn"], Some("yarn")),
        ] {
            let left = left.map(|name| match name {
                "" => host.directory.path().to_owned(),
                name => host.group(name),
            });
            assert_eq!(host.group_to_leave(groups).unwrap(), left, "{groups:?}");
        }
        let error = host.group_to_leave(&["yarn", "yarn/job"]).unwrap_err().to_string();
        assert!(error.starts_with("its processes are in several groups"), "{error}");
    }

    #[test]
    fn a_container_is_refused_what_it_would_lose_by_and_what_depends_on_it() {
        let host = Host::new();
        let none = BTreeMap::new();
        assert_eq!(host.refusals(&none, "yarn/job"), BTreeMap::new());
        fs::write(host.group("yarn/cpu.shares"), "512\n").unwrap();
        let why = format!("{}: cpu.shares is 512", host.group("yarn").display());
        let both = [Controller::Cpu, Controller::CpuAccounting];
        let expected: BTreeMap<_, _> = both.map(|one| (one, why.clone())).into();
        assert_eq!(host.refusals(&none, "yarn/job"), expected);
        assert_eq!(host.refusals(&none, ""), BTreeMap::new());
        assert_eq!(host.refusals(&none, "elastane/container_1_1_1_1"), BTreeMap::new());
        // In a group of the container executor's it is limited without a move.
        let place = LimitPlace {
            group: host.group("yarn/job"),
            version: Version::One,
            mount_point: host.directory.path().into(),
            owner: Owner::ContainerExecutor,
        };
        let places = BTreeMap::from([(Controller::Cpu, place)]);
        assert_eq!(host.refusals(&places, "yarn/job"), BTreeMap::new());
    }
}
