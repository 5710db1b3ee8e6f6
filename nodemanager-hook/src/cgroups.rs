//! The cgroup hierarchies of this host, the controllers that they serve, and the groups of processes.
//!
//! Only [`Hierarchies::of_this_host`] reads files. Discovery works on text, so that tests can use
//! recorded hosts.

mod hierarchy;
mod mount;

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

pub use self::{
    hierarchy::Hierarchy,
    mount::{Mount, Version},
};
use crate::container_id::ContainerId;

/// A part of the kernel that measures or limits groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Controller {
    Cpu,
    /// CPU time of a group. Version 2 counts it in every group.
    CpuAccounting,
    Memory,
    Disk,
    /// Traffic of a group's sockets: in version 2 by programs that the agent attaches, or else in the
    /// groups chosen by [`Hierarchies::serve_network`].
    Network,
}

/// The groups by which sockets can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkGroups {
    /// Version 2, which needs no controller for this.
    Version2,
    /// Version 1, by class id.
    NetCls,
    /// Version 1, by a priority for each device.
    NetPrio,
}

impl NetworkGroups {
    pub fn name(self) -> &'static str {
        match self {
            Self::Version2 => "cgroup2 file system",
            Self::NetCls => "net_cls hierarchy",
            Self::NetPrio => "net_prio hierarchy",
        }
    }
}

/// The hierarchies that the agent knows. On a hybrid host version 1 serves a controller unless
/// version 2 has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hierarchies {
    all: Vec<Hierarchy>,
}

impl Controller {
    pub const ALL: [Self; 5] =
        [Self::Cpu, Self::CpuAccounting, Self::Memory, Self::Disk, Self::Network];

    /// The controller's name in a version. None for a function that version 2 has in every group.
    pub fn name(self, version: Version) -> Option<&'static str> {
        match (self, version) {
            (Self::Cpu, _) => Some("cpu"),
            (Self::CpuAccounting, Version::One) => Some("cpuacct"),
            (Self::CpuAccounting, Version::Two) => None,
            (Self::Memory, _) => Some("memory"),
            (Self::Disk, Version::One) => Some("blkio"),
            (Self::Disk, Version::Two) => Some("io"),
            (Self::Network, _) => None,
        }
    }
}

impl Hierarchies {
    /// Finds the hierarchies in the text of `/proc/self/mountinfo`.
    pub fn of_this_host(mountinfo: &str) -> Self {
        Self::discover(mountinfo, |root| {
            // An unreadable root offers no controllers.
            fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default()
        })
    }

    /// `controllers_of` returns the text of `cgroup.controllers` of a version 2 mount.
    pub fn discover(mountinfo: &str, controllers_of: impl Fn(&Path) -> String) -> Self {
        let mounts = mountinfo.lines();
        let all = mounts.filter_map(|line| Hierarchy::parse(line, &controllers_of));
        Self { all: all.collect() }
    }

    /// The hierarchy in which a controller works. Version 1 comes first: if it has the controller,
    /// version 2 does not, although version 2 counts CPU time in any case.
    pub fn serving(&self, controller: Controller) -> Option<&Hierarchy> {
        let serves = |version| {
            let mut all = self.all.iter();
            all.find(move |one| one.version() == version && one.has(controller))
        };
        serves(Version::One).or_else(|| serves(Version::Two))
    }

    /// The writable hierarchy with these groups.
    pub fn offer_network(&self, groups: NetworkGroups) -> Option<&Hierarchy> {
        let mut all = self.all.iter();
        all.find(|one| one.is_of_network(groups) && !one.is_read_only())
    }

    /// Lets these groups, or none, serve [`Controller::Network`].
    pub fn serve_network(&mut self, groups: Option<NetworkGroups>) {
        let wanted = groups.and_then(|groups| self.offer_network(groups).cloned());
        for one in &mut self.all {
            one.set_network(wanted.as_ref() == Some(&*one));
        }
    }

    /// Whether a controller's hierarchy serves no other one, so that moving a process in it changes
    /// nothing else.
    pub fn is_apart(&self, controller: Controller) -> bool {
        let serving = self.serving(controller);
        let mut others = Controller::ALL.into_iter().filter(|one| *one != controller);
        others.all(|other| self.serving(other) != serving)
    }

    /// The hierarchy that a group is in.
    pub fn of(&self, group: &Path) -> Option<&Hierarchy> {
        // The innermost mount: a hybrid host may mount version 2 inside of another hierarchy.
        let around = self.all.iter();
        around
            .filter(|one| group.starts_with(one.mount_point()))
            .max_by_key(|one| one.mount_point().as_os_str().len())
    }

    /// Whether a path is a group below one of the mount points.
    pub fn contains(&self, group: &Path) -> bool {
        let plain = group.components().all(|component| component != Component::ParentDir);
        let hierarchy = self.of(group);
        plain && hierarchy.is_some_and(|one| group != one.mount_point())
    }
}

/// Whether systemd runs this host, and so owns the groups of version 2.
pub fn systemd_runs() -> bool {
    sd_notify::booted().unwrap_or_default()
}

/// The ancestor of `directory`, or itself, that has the container's name.
pub fn named_after(directory: &Path, container: &ContainerId) -> Option<PathBuf> {
    let name = container.as_str();
    directory
        .ancestors()
        .find(|group| group.file_name().is_some_and(|last| last == name))
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! host {
        ($name:literal) => {
            Host {
                mountinfo: include_str!(concat!("../tests/hosts/", $name, "/mountinfo")),
                cgroup: include_str!(concat!("../tests/hosts/", $name, "/cgroup")),
                controllers: include_str!(concat!("../tests/hosts/", $name, "/cgroup.controllers")),
            }
        };
    }

    /// A recorded host.
    struct Host {
        mountinfo: &'static str,
        /// `/proc/PID/cgroup` of a process there.
        cgroup: &'static str,
        /// `cgroup.controllers` of its version 2 mount.
        controllers: &'static str,
    }

    impl Host {
        fn hierarchies(&self) -> Hierarchies {
            Hierarchies::discover(self.mountinfo, |_| self.controllers.to_owned())
        }

        /// Version and directory of the process by controller.
        fn places(&self) -> Vec<Option<(Version, Option<PathBuf>)>> {
            let found = self.hierarchies();
            let place = |controller: &Controller| {
                let one = found.serving(*controller)?;
                Some((one.version(), one.directory_of(self.cgroup)))
            };
            Controller::ALL.iter().map(place).collect()
        }
    }

    fn place(version: Version, directory: &str) -> Option<(Version, Option<PathBuf>)> {
        Some((version, Some(directory.into())))
    }

    #[test]
    fn controllers_mounted_one_by_one_are_told_apart() {
        let group = "yarn/container_1_1_1_1";
        let in_group = |name: &str| place(Version::One, &format!("/sys/fs/cgroup/{name}/{group}"));
        let memory = place(Version::One, "/sys/fs/cgroup/memory/hadoop/a");
        let expected = [
            in_group("cpu"),
            in_group("cpuacct"),
            memory,
            in_group("blkio"),
            place(Version::Two, "/sys/fs/cgroup/unified"),
        ];
        assert_eq!(host!("v1-separate").places(), expected);
    }

    #[test]
    fn one_mount_may_serve_two_controllers_and_show_a_part_of_the_hierarchy() {
        let host = host!("v1-together-in-a-container");
        let cpu = place(Version::One, "/sys/fs/my cgroup/cpu,cpuacct/x");
        let memory = place(Version::One, "/sys/fs/my cgroup/memory");
        assert_eq!(host.places(), [cpu.clone(), cpu, memory, None, None]);
        let found = host.hierarchies();
        let cpu = found.serving(Controller::Cpu).unwrap();
        for outside in ["4:cpu,cpuacct:/docker/other\n", "4:cpu:/docker/abc/../x\n"] {
            assert_eq!(cpu.directory_of(outside), None);
        }
        assert!(cpu.is_read_only());
    }

    #[test]
    fn a_hybrid_host_is_served_by_version_1() {
        let service = "system.slice/hadoop-nodemanager.service";
        let at = |name: &str| place(Version::One, &format!("/sys/fs/cgroup/{name}/{service}"));
        let cpu = at("cpu,cpuacct");
        let unified = place(Version::Two, &format!("/sys/fs/cgroup/unified/{service}"));
        // systemd leaves services without IO accounting in the root.
        let blkio = place(Version::One, "/sys/fs/cgroup/blkio");
        let expected = [cpu.clone(), cpu, at("memory"), blkio, unified];
        assert_eq!(host!("hybrid-systemd").places(), expected);
    }

    #[test]
    fn a_hybrid_host_whose_version_2_has_a_controller_is_served_by_both() {
        let mut host = host!("hybrid-systemd");
        host.controllers = "io\n";
        let found =
            Hierarchies::discover(&host.mountinfo.replace("blkio", "pids"), |_| "io".into());
        let version = |controller| found.serving(controller).unwrap().version();
        assert_eq!(version(Controller::Memory), Version::One);
        assert_eq!(version(Controller::CpuAccounting), Version::One);
        assert_eq!(version(Controller::Disk), Version::Two);
    }

    #[test]
    fn one_hierarchy_of_version_2_serves_all() {
        let root = place(Version::Two, "/sys/fs/cgroup");
        assert_eq!(host!("v2-bare").places(), [(); 5].map(|()| root.clone()));
        let service = "/sys/fs/cgroup/system.slice/hadoop-nodemanager.service";
        let service = place(Version::Two, service);
        assert_eq!(host!("v2-systemd").places(), [(); 5].map(|()| service.clone()));
    }

    #[test]
    fn a_controller_that_version_2_does_not_offer_is_not_served() {
        let host = host!("v2-bare");
        let found = Hierarchies::discover(host.mountinfo, |_| "cpu memory\n".into());
        assert!(found.serving(Controller::Memory).is_some());
        assert!(found.serving(Controller::Disk).is_none());
    }

    #[test]
    fn the_network_is_apart_if_version_2_has_no_other_controller() {
        let apart = |host: Host| host.hierarchies().is_apart(Controller::Network);
        assert!(apart(host!("v1-separate")));
        assert!(apart(host!("hybrid-systemd")));
        assert!(!apart(host!("v2-bare")));
    }

    #[test]
    fn the_chosen_groups_serve_the_network() {
        let host = host!("hybrid-systemd");
        let mut found = host.hierarchies();
        let network = |found: &Hierarchies| {
            let serving = found.serving(Controller::Network)?;
            serving.directory_of(host.cgroup)
        };
        let of_version_2 = network(&found);
        for groups in [NetworkGroups::NetCls, NetworkGroups::NetPrio] {
            found.serve_network(Some(groups));
            let both = "/sys/fs/cgroup/net_cls,net_prio";
            assert!(network(&found).unwrap().starts_with(both), "{groups:?}");
            assert!(found.is_apart(Controller::Network));
        }
        found.serve_network(None);
        assert_eq!(network(&found), None);
        found.serve_network(Some(NetworkGroups::Version2));
        assert_eq!(network(&found), of_version_2);
        let version_2 = host!("v2-bare").hierarchies();
        assert_eq!(version_2.offer_network(NetworkGroups::NetCls), None);
    }

    #[test]
    fn only_paths_below_a_mount_point_are_groups() {
        let found = host!("v1-separate").hierarchies();
        assert!(found.contains(Path::new("/sys/fs/cgroup/cpu/elastane")));
        for outside in ["/sys/fs/cgroup/cpu", "/etc", "/sys/fs/cgroup/cpu/../memory/x"] {
            assert!(!found.contains(Path::new(outside)), "{outside}");
        }
    }

    #[test]
    fn a_containers_group_is_found_above_a_runtimes_group() {
        let id: ContainerId = "container_1_1_1_1".parse().unwrap();
        let group = Path::new("/cpu/hadoop-yarn/container_1_1_1_1");
        assert_eq!(named_after(group, &id).unwrap(), group);
        assert_eq!(named_after(&group.join("docker"), &id).unwrap(), group);
        assert_eq!(named_after(Path::new("/cpu/hadoop-yarn"), &id), None);
    }
}
