//! Where the cgroup v1 hierarchies of this host are, and where a process is in them.

use std::path::{Component, Path, PathBuf};

use crate::container_id::ContainerId;

/// One mounted cgroup v1 hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    controller: &'static str,
    mount_point: PathBuf,
    /// The part of the hierarchy that is mounted there; `/` unless the agent is in a container.
    mounted_root: PathBuf,
}

/// The hierarchies that the agent knows; cpu and cpuacct may be one mount.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hierarchies {
    pub cpu: Option<Hierarchy>,
    pub cpuacct: Option<Hierarchy>,
}

impl Hierarchies {
    /// Finds the hierarchies in the text of `/proc/self/mountinfo`.
    pub fn discover(mountinfo: &str) -> Self {
        Self {
            cpu: find(mountinfo, "cpu"),
            cpuacct: find(mountinfo, "cpuacct"),
        }
    }

    /// The hierarchy that a group is in.
    pub fn of(&self, group: &Path) -> Option<&Hierarchy> {
        let mut all = [&self.cpu, &self.cpuacct].into_iter().flatten();
        all.find(|one| group.starts_with(&one.mount_point))
    }

    /// Whether a path is a group below one of the mount points.
    pub fn hold(&self, group: &Path) -> bool {
        let plain = group
            .components()
            .all(|component| component != Component::ParentDir);
        let hierarchy = self.of(group);
        plain && hierarchy.is_some_and(|one| group != one.mount_point)
    }
}

impl Hierarchy {
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// The directory of a process, from the text of its `/proc/PID/cgroup`; nothing when it is
    /// outside of what is mounted here.
    pub fn directory_of(&self, cgroup: &str) -> Option<PathBuf> {
        let path = cgroup.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let mut controllers = fields.next()?.split(',');
            let path = fields.next()?;
            controllers
                .any(|controller| controller == self.controller)
                .then_some(path)
        })?;
        let below = Path::new(path).strip_prefix(&self.mounted_root).ok()?;
        let plain = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        plain.then(|| join(&self.mount_point, below))
    }
}

/// The group on the way to `directory` that has the container's name.
pub fn named_after(directory: &Path, container: &ContainerId) -> Option<PathBuf> {
    let name = container.as_str();
    directory
        .ancestors()
        .find(|group| group.file_name().is_some_and(|last| last == name))
        .map(Path::to_owned)
}

/// `36 35 98:0 /root /mount/point options optional… - type source super-options`
fn find(mountinfo: &str, controller: &'static str) -> Option<Hierarchy> {
    mountinfo.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, mount_point) = (mount.next()?, mount.next()?);
        let mut file_system = file_system.split(' ');
        let is_cgroup = file_system.next() == Some("cgroup");
        let mut options = file_system.nth(1)?.split(',');
        let holds_controller = options.any(|option| option == controller);
        (is_cgroup && holds_controller).then(|| Hierarchy {
            controller,
            mount_point: unescape(mount_point).into(),
            mounted_root: unescape(root).into(),
        })
    })
}

/// The kernel writes blanks and backslashes in mountinfo as three octal digits.
fn unescape(field: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(field.to_owned(), |text, (escaped, plain)| {
        text.replace(escaped, plain)
    })
}

/// `Path::join` with an empty path would add a slash.
fn join(mount_point: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        mount_point.into()
    } else {
        mount_point.join(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEPARATE: &str = "\
        31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
        33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpuacct\n\
        34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const TOGETHER: &str = "\
        32 31 0:29 /docker/abc /sys/fs/my\\040cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

    fn directory(hierarchy: Option<&Hierarchy>, cgroup: &str) -> Option<String> {
        let directory = hierarchy.unwrap().directory_of(cgroup)?;
        Some(directory.to_str().unwrap().to_owned())
    }

    #[test]
    fn hierarchies_that_are_mounted_one_by_one_are_told_apart() {
        let found = Hierarchies::discover(SEPARATE);
        let cgroup = "3:cpuset:/a\n2:cpuacct:/b/c\n1:cpu:/\n0::/d\n";
        assert_eq!(
            directory(found.cpu.as_ref(), cgroup).unwrap(),
            "/sys/fs/cgroup/cpu"
        );
        assert_eq!(
            directory(found.cpuacct.as_ref(), cgroup).unwrap(),
            "/sys/fs/cgroup/cpuacct/b/c"
        );
    }

    #[test]
    fn one_mount_may_hold_both_and_show_a_part() {
        let found = Hierarchies::discover(TOGETHER);
        let cpu = found.cpu.as_ref();
        assert_eq!(
            directory(cpu, "4:cpu,cpuacct:/docker/abc/x\n").unwrap(),
            "/sys/fs/my cgroup/cpu,cpuacct/x"
        );
        assert_eq!(directory(cpu, "4:cpu,cpuacct:/docker/other\n"), None);
        assert_eq!(directory(cpu, "4:cpu,cpuacct:/docker/abc/../x\n"), None);
        assert_eq!(
            found.cpu.map(|one| one.mount_point),
            found.cpuacct.map(|one| one.mount_point)
        );
    }

    #[test]
    fn a_host_with_version_2_only_has_none() {
        let mountinfo = "24 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(Hierarchies::discover(mountinfo), Hierarchies::default());
    }

    #[test]
    fn only_groups_below_a_mount_point_are_held() {
        let found = Hierarchies::discover(SEPARATE);
        assert!(found.hold(Path::new("/sys/fs/cgroup/cpu/elastane")));
        for outside in [
            "/sys/fs/cgroup/cpu",
            "/etc",
            "/sys/fs/cgroup/cpu/../memory/x",
        ] {
            assert!(!found.hold(Path::new(outside)), "{outside}");
        }
    }

    #[test]
    fn a_group_is_found_above_what_a_runtime_made_in_it() {
        let id: ContainerId = "container_1_1_1_1".parse().unwrap();
        let group = Path::new("/cpu/hadoop-yarn/container_1_1_1_1");
        assert_eq!(named_after(group, &id).unwrap(), group);
        assert_eq!(named_after(&group.join("docker"), &id).unwrap(), group);
        assert_eq!(named_after(Path::new("/cpu/hadoop-yarn"), &id), None);
    }
}
