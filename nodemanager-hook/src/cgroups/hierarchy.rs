//! One mounted cgroup hierarchy.

use std::path::{Path, PathBuf};

use super::{Controller, Mount, NetworkGroups, Version};

/// Version 1's controllers for sockets.
const NETWORK_NAMES: [&str; 2] = ["net_cls", "net_prio"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    mount: Mount,
    controllers: Vec<Controller>,
}

impl Hierarchy {
    /// Parses a line of mountinfo. None if it is not a hierarchy that the agent knows.
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
            None => mount.version == Version::Two,
        };
        let controllers: Vec<Controller> = Controller::ALL.into_iter().filter(offered).collect();
        let has_sockets = NETWORK_NAMES.iter().any(|name| mount.is_of(name));
        let is_known = !controllers.is_empty() || has_sockets;
        is_known.then_some(Self { mount, controllers })
    }

    /// Whether the hierarchy has these groups.
    pub(super) fn is_of_network(&self, groups: NetworkGroups) -> bool {
        match groups {
            NetworkGroups::Version2 => self.version() == Version::Two,
            NetworkGroups::NetCls => self.mount.is_of("net_cls"),
            NetworkGroups::NetPrio => self.mount.is_of("net_prio"),
        }
    }

    pub(super) fn set_network(&mut self, serves: bool) {
        self.controllers.retain(|one| *one != Controller::Network);
        if serves {
            self.controllers.push(Controller::Network);
        }
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

    pub fn is_read_only(&self) -> bool {
        self.mount.is_read_only
    }

    /// The group of a process, from the text of its `/proc/PID/cgroup`. None outside of the mount.
    pub fn directory_of(&self, cgroup: &str) -> Option<PathBuf> {
        let controllers = self.controllers.iter();
        let of_sockets = NETWORK_NAMES.into_iter();
        let names: Vec<&str> = controllers
            .filter_map(|one| one.name(Version::One))
            .chain(of_sockets.filter(|name| self.mount.is_of(name)))
            .collect();
        self.mount.directory_of(cgroup, &names)
    }
}
