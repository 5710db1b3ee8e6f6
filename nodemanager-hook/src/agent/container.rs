//! One running container.

use std::{io, path::PathBuf, time::Instant};

use crate::{
    actuators::{CpuLimiter, read_pids, read_pids_below},
    samples::Reading,
    sensors::{ContainerSensor, CpuSource, ProcFs, ProcessKey, ProcessTable},
};

/// Where a container's processes are listed.
#[derive(Debug)]
pub enum Members {
    /// A group that the agent made.
    OwnGroup(PathBuf),
    /// A group of the container executor, in which a runtime may have made others.
    ExecutorsGroup(PathBuf),
    /// No group: the tree below the root process.
    Tree,
}

#[derive(Debug)]
pub struct Container {
    pub pid: u32,
    /// Nothing when the process was gone before the agent saw it.
    pub root: Option<ProcessKey>,
    pub members: Members,
    pub sensor: ContainerSensor,
    /// Nothing when the container cannot be limited, or has no group of its own yet.
    pub limiter: Option<CpuLimiter>,
    /// Its tree could not be moved to an own group; that is tried again with the next plan.
    pub held_back: bool,
}

impl Container {
    /// A container that is measured by its process tree.
    pub fn new(pid: u32, root: Option<ProcessKey>) -> Self {
        Self {
            pid,
            root,
            members: Members::Tree,
            sensor: ContainerSensor::new(CpuSource::ProcessTimes),
            limiter: None,
            held_back: false,
        }
    }

    /// Whether it is already followed from this process on.
    pub fn begins_at(&self, pid: u32) -> bool {
        self.pid == pid && self.root.is_some()
    }

    /// Whether its tree would have to be moved to an own group before it can be limited.
    pub fn needs_group(&self) -> bool {
        let without = matches!(self.members, Members::Tree) && self.limiter.is_none();
        without && self.root.is_some() && !self.held_back
    }

    /// Whether the agent made the group that it is in.
    pub fn in_own_group(&self) -> bool {
        matches!(self.members, Members::OwnGroup(_))
    }

    /// Measures it by its process tree again; it cannot be limited then.
    pub fn leave_group(&mut self) {
        self.members = Members::Tree;
        self.limiter = None;
        self.sensor.switch(CpuSource::ProcessTimes);
    }

    /// Whether reading it takes a scan of all processes.
    pub fn needs_table(&self) -> bool {
        self.root.is_some() && self.sensor.needs_tree()
    }

    /// Reads what it uses; nothing when its group is gone.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
    pub fn read(
        &mut self,
        proc: &ProcFs,
        table: &ProcessTable,
        now: Instant,
    ) -> io::Result<Option<Reading>> {
        let pids = match &self.members {
            Members::OwnGroup(group) => read_pids(group),
            Members::ExecutorsGroup(group) => read_pids_below(group),
            Members::Tree => {
                let Some(root) = self.root else {
                    return Ok(None);
                };
                let tree = table.tree(root, self.sensor.members());
                return self.sensor.read_tree(proc, &tree, now).map(Some);
            }
        };
        match pids {
            Ok(pids) => self.sensor.read_group(proc, &pids, now),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
