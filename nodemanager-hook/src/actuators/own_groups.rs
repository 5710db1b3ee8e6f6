//! The groups that the agent makes: one per container below the configured parent, in each hierarchy that serves a
//! controller. The parent is made for the first container that enters it, and removed after the last one.

mod parent;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{Flock, FlockArg},
    unistd::{AccessFlags, eaccess},
};

pub use self::parent::refused_by_systemd;
use super::{
    KernelFileError, KernelFiles, LimitError, file_access::write_text, kernel_files::make_group,
};
use crate::{
    cgroups::{Controller, Hierarchies, Hierarchy, Version},
    config,
    container_id::ContainerId,
    journal::Journal,
};

/// `memory.move_charge_at_immigrate`: anonymous and file pages follow a moved process.
const MOVE_CHARGES: &str = "3";

/// The containers' groups, and the parent in each hierarchy.
#[derive(Debug)]
pub struct OwnGroups {
    /// Each controller that works here, with the hierarchy that serves it.
    served: BTreeMap<Controller, Hierarchy>,
    parent: PathBuf,
    /// The part of the CPU that the parent leaves to another group beside it.
    system_reserve: f32,
    /// Whether systemd owns the groups of version 2 around the parent.
    systemd_runs: bool,
    /// The controllers for which the parent is ready.
    ready: BTreeSet<Controller>,
    /// Those for which it could not be made.
    failed: BTreeMap<Controller, String>,
    /// The parents that exist. Two agents below one parent would remove each other's groups.
    locks: BTreeMap<PathBuf, Flock<File>>,
}

impl OwnGroups {
    /// Finds the hierarchies that the agent may change, and changes nothing. Logs why a controller is not served.
    ///
    /// # Errors
    /// Without CPU accounting no container can be followed in a group. Another agent may hold the parent.
    pub fn find(
        hierarchies: &Hierarchies,
        cgroup: &config::Cgroup,
        systemd_runs: bool,
    ) -> Result<Self, LimitError> {
        let mut served = BTreeMap::new();
        for controller in Controller::ALL {
            let found = hierarchies.serving(controller).ok_or(LimitError::NotServed(controller));
            match found.and_then(|one| may_change(one.mount_point()).map(|()| one)) {
                Ok(hierarchy) => {
                    served.insert(controller, hierarchy.clone());
                }
                Err(error) if controller == Controller::CpuAccounting => return Err(error),
                // The choice of a backend has said why.
                Err(LimitError::NotServed(Controller::Network)) => {}
                Err(error) => log::warn!("not limited: {controller:?}: {error}"),
            }
        }
        let mut own = Self {
            served,
            parent: cgroup.parent.clone(),
            system_reserve: cgroup.system_reserve,
            systemd_runs,
            ready: BTreeSet::new(),
            failed: BTreeMap::new(),
            locks: BTreeMap::new(),
        };
        for parent in own.parents().into_iter().filter(|parent| parent.is_dir()) {
            own.lock(&parent)?;
        }
        Ok(own)
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

    /// Whether a group is below the parent.
    pub fn contains(&self, group: &Path) -> bool {
        let mut parents = self.parents().into_iter();
        parents.any(|parent| group != parent && group.starts_with(&parent))
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

    /// Why the parent cannot be made for a controller: it was tried, or systemd owns the groups.
    pub fn no_parent(&self, controller: Controller) -> Option<String> {
        let hierarchy = self.hierarchy(controller)?;
        let tried = self.failed.get(&controller).cloned();
        tried.or_else(|| match self.systemd_runs {
            true => refused_by_systemd(hierarchy, controller, &self.parent),
            false => None,
        })
    }

    /// Lets parents that could not be made be tried again.
    pub fn forget_failures(&mut self) {
        self.failed.clear();
    }

    /// Makes what is missing of the parent for some controllers. In version 2 all controllers are enabled at once: memory is
    /// charged to the group in which it was allocated, so that a later one would count none of it. Remembers and returns the
    /// failures.
    pub fn prepare(
        &mut self,
        controllers: &BTreeSet<Controller>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Vec<LimitError> {
        let shares = |one: &Controller| {
            let hierarchy = self.hierarchy(*one);
            let is_version_2 = hierarchy.is_some_and(|it| it.version() == Version::Two);
            is_version_2 && controllers.iter().any(|other| self.hierarchy(*other) == hierarchy)
        };
        let together = Controller::ALL.into_iter().filter(shares);
        let all: BTreeSet<Controller> = controllers.iter().copied().chain(together).collect();
        let mut errors = Vec::new();
        for controller in all {
            if self.no_parent(controller).is_some() {
                continue;
            }
            if let Err(error) = self.prepare_for(controller, files, journal) {
                self.failed.insert(controller, error.to_string());
                errors.push(error);
            }
        }
        errors
    }

    fn prepare_for(
        &mut self,
        controller: Controller,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<(), LimitError> {
        let hierarchy = self.hierarchy(controller).cloned();
        let hierarchy = hierarchy.ok_or(LimitError::NotServed(controller))?;
        let path = hierarchy.mount_point().join(&self.parent);
        if !path.is_dir() {
            // The NodeManager's service takes the parent with it when it ends.
            self.forget_parent(&path);
            files.forget(&path);
        }
        if self.ready.contains(&controller) {
            return Ok(());
        }
        parent::make(&hierarchy, &self.parent, journal)?;
        self.lock(&path)?;
        parent::enable(controller, &hierarchy, &self.parent, self.systemd_runs, journal)?;
        parent::weigh(&hierarchy, self.system_reserve, files, journal)?;
        self.ready.insert(controller);
        Ok(())
    }

    fn forget_parent(&mut self, parent: &Path) {
        self.locks.remove(parent);
        let all = Controller::ALL.into_iter();
        let of_parent = all.filter(|one| self.parent_of(*one).as_deref() == Some(parent));
        for controller in of_parent.collect::<Vec<_>>() {
            self.ready.remove(&controller);
        }
    }

    /// Forgets the parents that were removed or that no container uses.
    pub fn release(&mut self, used: &BTreeSet<PathBuf>) {
        let unused: Vec<PathBuf> = self.parents().difference(used).cloned().collect();
        for parent in unused {
            let lock = self.locks.remove(&parent);
            self.forget_parent(&parent);
            // Still there, since others use it: no other agent may take it.
            self.locks.extend(lock.filter(|_| parent.is_dir()).map(|lock| (parent, lock)));
        }
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

    fn lock(&mut self, parent: &Path) -> Result<(), LimitError> {
        if self.locks.contains_key(parent) {
            return Ok(());
        }
        let directory =
            File::open(parent).map_err(|error| KernelFileError::new("open", parent, error))?;
        let lock = Flock::lock(directory, FlockArg::LockExclusiveNonblock)
            .map_err(|_| LimitError::Taken { group: parent.into() })?;
        self.locks.insert(parent.into(), lock);
        Ok(())
    }
}

fn may_change(mount_point: &Path) -> Result<(), LimitError> {
    let allowed = eaccess(mount_point, AccessFlags::W_OK);
    allowed
        .map_err(|errno| KernelFileError::new("make groups in", mount_point, errno.into()).into())
}

/// The container that a group is named after.
pub fn container_of(group: &Path) -> Option<ContainerId> {
    group.file_name()?.to_str()?.parse().ok()
}
