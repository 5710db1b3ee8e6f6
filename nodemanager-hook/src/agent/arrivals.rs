//! Containers that the NodeManager lists for the first time.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use elastane_protocol::RunningContainer;

use super::{Agent, container::Container};
use crate::{
    actuators::OwnGroups,
    cgroups::{Controller, Hierarchies, Version, named_after},
    container_id::ContainerId,
    peer::Peer,
    sensors::ProcessTable,
};

impl Agent {
    /// Follows the new containers and reads them. A container that the peer may not name is refused.
    pub(super) fn arrive(
        &mut self,
        arrived: Vec<(ContainerId, RunningContainer)>,
        peer: Peer,
        now: Instant,
    ) {
        if arrived.is_empty() {
            return;
        }
        let Some(table) = self.scan() else {
            return;
        };
        for (id, running) in arrived {
            let received = self.receive(&id, running, &table, peer);
            let refused = |reason| format!("{id} is neither measured nor limited: {reason}");
            let received = received.map_err(refused);
            let container = self.troubles.check("containers refused", received);
            self.containers.extend(container.map(|container| (id, container)));
        }
        self.read_all(now);
    }

    fn receive(
        &self,
        id: &ContainerId,
        running: RunningContainer,
        table: &ProcessTable,
        peer: Peer,
    ) -> Result<Container, String> {
        let unreadable = |error: io::Error| error.to_string();
        let Some(root) = table.get(running.pid) else {
            return Ok(Container::new(running, None));
        };
        let users = self.proc.users(root.pid).map_err(unreadable)?;
        let cgroup = self.proc.cgroup(root.pid).map_err(unreadable)?;
        let (Some(users), Some(cgroup)) = (users, cgroup) else {
            return Ok(Container::new(running, None));
        };
        let mut container = Container::new(running, Some(root.key()));
        let own = self.own_groups.as_ref();
        container.executors_groups = executors_groups(id, &cgroup, &self.hierarchies, own);
        let is_in_group = !container.executors_groups.is_empty();
        peer.may_name(root, users, table, is_in_group)?;
        container.settle(&self.hierarchies).map_err(unreadable)?;
        if own.is_none() {
            container.limiter = Default::default();
        }
        Ok(container)
    }
}

/// The groups that the container executor made for a container. `cgroup` is the text of
/// `/proc/PID/cgroup`.
pub(super) fn executors_groups(
    id: &ContainerId,
    cgroup: &str,
    hierarchies: &Hierarchies,
    own: Option<&OwnGroups>,
) -> BTreeMap<Controller, PathBuf> {
    let find = |controller: Controller| {
        let hierarchy = hierarchies.serving(controller)?;
        let group = named_after(&hierarchy.directory_of(cgroup)?, id)?;
        let is_own = own.is_some_and(|own| own.contains(&group));
        (!is_own && works_in(controller, hierarchy.version(), &group))
            .then_some((controller, group))
    };
    Controller::ALL.into_iter().filter_map(find).collect()
}

/// In version 2 a group has the files of the controllers that its parent enables.
fn works_in(controller: Controller, version: Version, group: &Path) -> bool {
    let file = match controller {
        Controller::Cpu => "cpu.max",
        Controller::CpuAccounting => "cpu.stat",
        Controller::Memory => "memory.max",
        Controller::Disk => "io.max",
        Controller::Network => "cgroup.procs",
    };
    version == Version::One || group.join(file).exists()
}
