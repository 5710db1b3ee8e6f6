//! Containers that the NodeManager names for the first time. None of them is moved: a container
//! gets a group of the agent's with the first plan that limits it.

use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    Agent,
    container::{Container, Members},
};
use crate::{
    actuators::{CpuLimiter, KernelFileError, OwnGroups},
    cgroups::{Hierarchies, Hierarchy, named_after},
    container_id::ContainerId,
    peer::Peer,
    sensors::{CpuSource, Process, ProcessTable},
};

/// The groups of a container that the container executor made.
#[derive(Debug, Default)]
pub(super) struct ExecutorsGroups {
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
}

impl Agent {
    /// Gives every container that arrived its sensor and its first reading; those that the peer
    /// may not name are left out.
    pub(super) fn arrive(&mut self, arrived: Vec<(ContainerId, u32)>, peer: Peer, now: Instant) {
        if arrived.is_empty() {
            return;
        }
        let Some(table) = self.scan() else {
            return;
        };
        for (id, pid) in arrived {
            let container = match table.get(pid) {
                Some(process) => self.receive(&id, process, &table, peer),
                None => Ok(Container::new(pid, None)),
            };
            match container {
                Ok(container) => {
                    self.containers.insert(id, container);
                }
                Err(reason) => {
                    let message = format!("{id} is neither measured nor limited: {reason}");
                    self.troubles.warn("containers refused", message);
                }
            }
        }
        self.read_all(now);
    }

    fn receive(
        &self,
        id: &ContainerId,
        root: &Process,
        table: &ProcessTable,
        peer: Peer,
    ) -> Result<Container, String> {
        let unreadable = |error: io::Error| error.to_string();
        let mut container = Container::new(root.pid, Some(root.key()));
        let users = self.proc.users(root.pid).map_err(unreadable)?;
        let cgroup = self.proc.cgroup(root.pid).map_err(unreadable)?;
        let (Some(users), Some(cgroup)) = (users, cgroup) else {
            return Ok(Container::new(root.pid, None));
        };
        let own = self.own_groups.as_ref();
        let executors = ExecutorsGroups::find(id, &cgroup, &self.hierarchies, own);
        peer.may_name(root, users, table, executors.are_there())
            .map_err(|error| error.to_string())?;
        executors
            .take_up(&mut container, own)
            .map_err(|error| error.to_string())?;
        Ok(container)
    }
}

impl ExecutorsGroups {
    /// Finds them in the text of `/proc/PID/cgroup`.
    pub(super) fn find(
        id: &ContainerId,
        cgroup: &str,
        hierarchies: &Hierarchies,
        own: Option<&OwnGroups>,
    ) -> Self {
        let find = |hierarchy: Option<&Hierarchy>| {
            let group = named_after(&hierarchy?.directory_of(cgroup)?, id)?;
            (!own.is_some_and(|own| own.hold(&group))).then_some(group)
        };
        Self {
            cpu: find(hierarchies.cpu.as_ref()),
            cpuacct: find(hierarchies.cpuacct.as_ref()),
        }
    }

    pub(super) fn are_there(&self) -> bool {
        self.cpu.is_some() || self.cpuacct.is_some()
    }

    /// Lets a container be measured and limited in them.
    pub(super) fn take_up(
        &self,
        container: &mut Container,
        own: Option<&OwnGroups>,
    ) -> Result<(), KernelFileError> {
        if let Some(group) = &self.cpuacct {
            container.sensor.switch(accounting(group)?);
            container.members = Members::ExecutorsGroup(group.clone());
        }
        if let (Some(group), Some(own)) = (&self.cpu, own) {
            container.limiter = Some(CpuLimiter::foreign(group, own.cpu().mount_point()));
        }
        Ok(())
    }
}

/// The CPU time of a group.
pub(super) fn accounting(group: &Path) -> Result<CpuSource, KernelFileError> {
    CpuSource::accounting(group)
        .map_err(|error| KernelFileError::new("open cpuacct.usage of", group, error))
}
