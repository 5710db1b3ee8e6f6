//! One mounted cgroup hierarchy.

use std::path::{Path, PathBuf};

use super::{Controller, Mount, Version};

/// Where a hierarchy is mounted, and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    mount: Mount,
    controllers: Vec<Controller>,
}

impl Hierarchy {
    /// From a line of mountinfo; nothing when it is no hierarchy that the agent knows.
    pub(super) fn parse(line: &str, controllers_of: &impl Fn(&Path) -> String) -> Option<Self> {
        let mount = Mount::parse(line)?;
        let of_version_2 = match mount.version {
            Version::One => String::new(),
            Version::Two => controllers_of(&mount.mount_point),
        };
        let offered = |controller: &Controller| match controller.name(mount.version) {
            Some(name) => {
                let mut words = of_version_2.split_ascii_whitespace();
                mount.is_of(name) || words.any(|word| word == name)
            }
            None => controller.is_of(mount.version),
        };
        let controllers: Vec<Controller> = Controller::ALL.into_iter().filter(offered).collect();
        (!controllers.is_empty()).then_some(Self { mount, controllers })
    }

    pub fn version(&self) -> Version {
        self.mount.version
    }

    pub fn mount_point(&self) -> &Path {
        &self.mount.mount_point
    }

    pub fn has(&self, controller: Controller) -> bool {
        self.controllers.contains(&controller)
    }

    /// Whether it is mounted so that nothing can be changed in it.
    pub fn is_read_only(&self) -> bool {
        self.mount.is_read_only
    }

    /// The directory of a process, from the text of its `/proc/PID/cgroup`; nothing when it is
    /// outside of what is mounted here.
    pub fn directory_of(&self, cgroup: &str) -> Option<PathBuf> {
        let controllers = self.controllers.iter();
        let names: Vec<&str> = controllers
            .filter_map(|one| one.name(Version::One))
            .collect();
        self.mount.directory_of(cgroup, &names)
    }
}
