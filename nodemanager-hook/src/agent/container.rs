//! One running container.

use std::{io, path::PathBuf, time::Instant};

use crate::{
    actuators::{CpuLimiter, read_pids, read_pids_below},
    samples::Reading,
    sensors::{ContainerSensor, ProcFs, ProcessKey, ProcessTable},
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
    /// Nothing when the container cannot be limited.
    pub limiter: Option<CpuLimiter>,
}

impl Container {
    /// Whether it is already followed from this process on.
    pub fn begins_at(&self, pid: u32) -> bool {
        self.pid == pid && self.root.is_some()
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
