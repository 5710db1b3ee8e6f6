//! The groups that the agent makes: one per container below the configured parent.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use nix::fcntl::{Flock, FlockArg};

use super::{
    cpu_limit::{CpuLimit, LimitError},
    kernel_files::{KernelFileError, KernelFiles},
};
use crate::{
    cgroups::{Hierarchies, Hierarchy},
    container_id::ContainerId,
    journal::Journal,
};

/// The parent in the cpu and the cpuacct hierarchy, and what is made below it.
#[derive(Debug)]
pub struct OwnGroups {
    cpu: Hierarchy,
    cpuacct: Hierarchy,
    parent: PathBuf,
    /// Two agents below one parent would remove each other's groups.
    _lock: Flock<File>,
}

impl OwnGroups {
    /// Makes what is missing of the parent. What is made here gets the weight of the whole node:
    /// with the default weight all containers together would count as one process beside the
    /// rest of the node.
    ///
    /// # Errors
    /// Hierarchies that are not mounted or not writable.
    pub fn prepare(
        hierarchies: &Hierarchies,
        parent: &Path,
        node_cores: f32,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Self, LimitError> {
        let mounted = |hierarchy: &Option<Hierarchy>, name: &str| {
            hierarchy.clone().ok_or_else(|| {
                let missing = std::io::Error::other("no cgroup v1 hierarchy of that name");
                KernelFileError::new("find", Path::new(name), missing)
            })
        };
        let cpu = mounted(&hierarchies.cpu, "cpu")?;
        let cpuacct = mounted(&hierarchies.cpuacct, "cpuacct")?;
        for hierarchy in [&cpu, &cpuacct] {
            let shares = (hierarchy == &cpu).then(|| CpuLimit::shares_of(node_cores.into()));
            make_parent(hierarchy, parent, shares, files, journal)?;
        }
        Ok(Self {
            _lock: lock(&cpu.mount_point().join(parent))?,
            cpu,
            cpuacct,
            parent: parent.into(),
        })
    }

    /// One hierarchy where cpu and cpuacct are mounted together, two otherwise; cpu is the first.
    pub fn hierarchies(&self) -> Vec<&Hierarchy> {
        if self.cpu.mount_point() == self.cpuacct.mount_point() {
            vec![&self.cpu]
        } else {
            vec![&self.cpu, &self.cpuacct]
        }
    }

    /// The hierarchy that limits.
    pub fn cpu(&self) -> &Hierarchy {
        &self.cpu
    }

    /// A container's group in a hierarchy.
    pub fn group(&self, hierarchy: &Hierarchy, container: &ContainerId) -> PathBuf {
        let parent = hierarchy.mount_point().join(&self.parent);
        parent.join(container.as_str())
    }

    /// A container's group where its CPU time is counted.
    pub fn accounting_group(&self, container: &ContainerId) -> PathBuf {
        self.group(&self.cpuacct, container)
    }

    /// A container's groups, one per hierarchy.
    pub fn groups(&self, container: &ContainerId) -> Vec<PathBuf> {
        self.hierarchies()
            .into_iter()
            .map(|hierarchy| self.group(hierarchy, container))
            .collect()
    }

    /// Whether a group is below the parent.
    pub fn hold(&self, group: &Path) -> bool {
        self.hierarchies()
            .iter()
            .any(|hierarchy| group.starts_with(hierarchy.mount_point().join(&self.parent)))
    }

    /// Groups of containers that are below the parent now.
    pub fn present(&self) -> Vec<PathBuf> {
        self.hierarchies()
            .into_iter()
            .filter_map(|hierarchy| fs::read_dir(hierarchy.mount_point().join(&self.parent)).ok())
            .flat_map(Iterator::flatten)
            .map(|entry| entry.path())
            .filter(|path| container_of(path).is_some())
            .collect()
    }
}

fn make_parent(
    hierarchy: &Hierarchy,
    parent: &Path,
    shares: Option<u64>,
    files: &mut KernelFiles,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let mut group = hierarchy.mount_point().to_owned();
    for name in parent {
        group.push(name);
        if group.is_dir() {
            continue;
        }
        journal.remember_made(&group)?;
        files.make_group(&group)?;
        if let Some(shares) = shares {
            files.write(&group.join("cpu.shares"), shares)?;
        }
    }
    Ok(())
}

fn lock(group: &Path) -> Result<Flock<File>, LimitError> {
    let directory =
        File::open(group).map_err(|error| KernelFileError::new("open", group, error))?;
    Flock::lock(directory, FlockArg::LockExclusiveNonblock).map_err(|_| LimitError::Taken {
        group: group.into(),
    })
}

/// The container that a group is named after.
pub fn container_of(group: &Path) -> Option<ContainerId> {
    group.file_name()?.to_str()?.parse().ok()
}
