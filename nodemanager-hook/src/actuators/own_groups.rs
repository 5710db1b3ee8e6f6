//! The groups that the agent makes: one per container below the configured parent, in each
//! hierarchy that serves a controller.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
};

use nix::fcntl::{Flock, FlockArg};

use super::{
    KernelFileError, KernelFiles, LimitError,
    cpu_limits::{cpu_files, weight},
    file_access::write_text,
    kernel_files::make_group,
    pass_on::pass_on,
};
use crate::{
    cgroups::{Controller, Hierarchies, Hierarchy, Version},
    container_id::ContainerId,
    journal::Journal,
};

/// `memory.move_charge_at_immigrate`: anonymous and file pages follow a moved process.
const MOVE_CHARGES: &str = "3";

/// The parent in each usable hierarchy, and the containers' groups below it.
#[derive(Debug)]
pub struct OwnGroups {
    /// Each controller that works below the parent, with the hierarchy that serves it.
    served: BTreeMap<Controller, Hierarchy>,
    parent: PathBuf,
    /// Two agents below one parent would remove each other's groups.
    _lock: Flock<File>,
}

impl OwnGroups {
    /// Makes the missing groups of the parent path. They get the weight of the whole node: with
    /// the default weight all containers together would count as one process beside the rest of
    /// the node. Logs why a controller is not served.
    ///
    /// # Errors
    /// Without CPU accounting no container can be followed in a group. Another agent may hold the
    /// parent.
    pub fn prepare(
        hierarchies: &Hierarchies,
        parent: &Path,
        node_cores: f32,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Self, LimitError> {
        let mut served = BTreeMap::new();
        for controller in Controller::ALL {
            let prepared = match hierarchies.serving(controller) {
                Some(one) => prepare(one, controller, parent, journal).map(|()| one),
                None => Err(not_served(controller)),
            };
            match prepared {
                Ok(hierarchy) => {
                    served.insert(controller, hierarchy.clone());
                }
                Err(error) if controller == Controller::CpuAccounting => return Err(error),
                Err(error) => log::warn!("not limited: {controller:?}: {error}"),
            }
        }
        if let Some(hierarchy) = served.get(&Controller::Cpu) {
            weigh(hierarchy, node_cores, files, journal)?;
        }
        // Every agent locks the first hierarchy. CPU accounting at least is served.
        let first = served.values().next();
        let first = first.ok_or_else(|| not_served(Controller::CpuAccounting))?;
        let lock = lock(&first.mount_point().join(parent))?;
        Ok(Self { served, parent: parent.into(), _lock: lock })
    }

    pub fn hierarchy(&self, controller: Controller) -> Option<&Hierarchy> {
        self.served.get(&controller)
    }

    /// The parent of the containers' groups for a controller.
    pub fn parent_of(&self, controller: Controller) -> Option<PathBuf> {
        let hierarchy = self.hierarchy(controller)?;
        Some(hierarchy.mount_point().join(&self.parent))
    }

    /// A container's group for a controller. Controllers of one hierarchy share a group.
    pub fn group(&self, controller: Controller, container: &ContainerId) -> Option<PathBuf> {
        let parent = self.parent_of(controller)?;
        Some(parent.join(container.as_str()))
    }

    pub fn contains(&self, group: &Path) -> bool {
        let mut parents = self.parents().into_iter();
        parents.any(|parent| group.starts_with(parent))
    }

    /// The containers' groups that exist below the parent.
    pub fn present(&self) -> Vec<PathBuf> {
        self.parents()
            .into_iter()
            .filter_map(|parent| fs::read_dir(parent).ok())
            .flat_map(Iterator::flatten)
            .map(|entry| entry.path())
            .filter(|path| container_of(path).is_some())
            .collect()
    }

    pub fn make(&self, group: &Path) -> Result<(), KernelFileError> {
        make_group(group)?;
        let move_charges = group.join("memory.move_charge_at_immigrate");
        if move_charges.exists()
            && let Err(error) = write_text(&move_charges, MOVE_CHARGES)
        {
            // Recent kernels keep the file but refuse the write.
            log::debug!("memory stays charged to the container's former group: {error}");
        }
        Ok(())
    }

    fn parents(&self) -> BTreeSet<PathBuf> {
        let mount_points = self.served.values().map(Hierarchy::mount_point);
        mount_points.map(|point| point.join(&self.parent)).collect()
    }
}

fn prepare(
    hierarchy: &Hierarchy,
    controller: Controller,
    parent: &Path,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let mut group = hierarchy.mount_point().to_owned();
    for name in parent {
        group.push(name);
        if !group.is_dir() {
            journal.remember_made(&group)?;
            make_group(&group)?;
        }
    }
    match (hierarchy.version(), controller.name(hierarchy.version())) {
        (Version::Two, Some(name)) => pass_on(name, hierarchy.mount_point(), parent, journal),
        _ => Ok(()),
    }
}

/// Gives the groups that the agent made around the containers' groups the weight of the node.
fn weigh(
    hierarchy: &Hierarchy,
    node_cores: f32,
    files: &mut KernelFiles,
    journal: &Journal,
) -> Result<(), KernelFileError> {
    let [file, _] = cpu_files(hierarchy.version());
    let value = weight(hierarchy.version(), node_cores);
    let made = journal.made().iter();
    for group in made.filter(|group| group.starts_with(hierarchy.mount_point())) {
        files.write(group, file, value)?;
    }
    Ok(())
}

fn not_served(controller: Controller) -> LimitError {
    let name = controller.name(Version::One).unwrap_or_default();
    let missing = std::io::Error::other("no cgroup hierarchy serves it");
    KernelFileError::new("find", Path::new(name), missing).into()
}

fn lock(group: &Path) -> Result<Flock<File>, LimitError> {
    let directory =
        File::open(group).map_err(|error| KernelFileError::new("open", group, error))?;
    Flock::lock(directory, FlockArg::LockExclusiveNonblock)
        .map_err(|_| LimitError::Taken { group: group.into() })
}

/// The container that a group is named after.
pub fn container_of(group: &Path) -> Option<ContainerId> {
    group.file_name()?.to_str()?.parse().ok()
}
