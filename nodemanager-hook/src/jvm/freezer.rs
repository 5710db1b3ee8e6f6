//! Whether a process is frozen by its cgroup: it would not answer, and what is sent to it would
//! reach it when nobody waits any more.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Where the groups are that can freeze processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Freezers {
    hierarchies: Vec<Hierarchy>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    is_version_2: bool,
    mount_point: PathBuf,
    /// The part of the hierarchy that is mounted there.
    mounted_root: PathBuf,
}

impl Freezers {
    /// Finds them in the text of `/proc/self/mountinfo`.
    pub fn discover(mountinfo: &str) -> Self {
        Self {
            hierarchies: mountinfo.lines().filter_map(parse_mount).collect(),
        }
    }

    /// Whether a process is frozen, or about to be, by the text of its `/proc/PID/cgroup`. A group
    /// that says nothing of it does not freeze.
    pub fn hold(&self, cgroup: &str) -> bool {
        self.hierarchies.iter().any(|hierarchy| {
            let group = hierarchy.group_of(cgroup);
            group.is_some_and(|group| hierarchy.is_frozen(&group))
        })
    }
}

impl Hierarchy {
    /// `0::/path` in version 2, `6:freezer:/path` in version 1.
    fn group_of(&self, cgroup: &str) -> Option<PathBuf> {
        let path = cgroup.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let is_it = if self.is_version_2 {
                controllers.is_empty()
            } else {
                controllers.split(',').any(|one| one == "freezer")
            };
            is_it.then_some(path)
        })?;
        let below = Path::new(path).strip_prefix(&self.mounted_root).ok()?;
        let is_plain = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        is_plain.then(|| self.mount_point.join(below))
    }

    /// A group above that is frozen shows in both files.
    fn is_frozen(&self, group: &Path) -> bool {
        if self.is_version_2 {
            let events = fs::read_to_string(group.join("cgroup.events"));
            events.is_ok_and(|events| events.lines().any(|line| line == "frozen 1"))
        } else {
            let state = fs::read_to_string(group.join("freezer.state"));
            state.is_ok_and(|state| state.trim() != "THAWED")
        }
    }
}

/// `36 35 98:0 /root /mount/point options optional… - type source super-options`
fn parse_mount(line: &str) -> Option<Hierarchy> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (root, mount_point) = (mount.next()?, mount.next()?);
    let mut file_system = file_system.split(' ');
    let kind = file_system.next()?;
    let mut options = file_system.nth(1)?.split(',');
    let can_freeze = match kind {
        "cgroup2" => true,
        "cgroup" => options.any(|option| option == "freezer"),
        _ => false,
    };
    can_freeze.then(|| Hierarchy {
        is_version_2: kind == "cgroup2",
        mount_point: unescape(mount_point).into(),
        mounted_root: unescape(root).into(),
    })
}

/// The kernel writes a blank in mountinfo as three octal digits.
fn unescape(field: &str) -> String {
    field.replace("\\040", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freezers(root: &Path, kinds: &[&str]) -> Freezers {
        let line = |kind: &&str| {
            let root = root.display();
            format!("1 2 0:3 / {root}/{kind} rw - {kind} {kind} rw,freezer\n")
        };
        Freezers::discover(&kinds.iter().map(line).collect::<String>())
    }

    #[test]
    fn a_frozen_group_is_told_in_both_versions() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for (kind, file, line, frozen, thawed) in [
            (
                "cgroup",
                "freezer.state",
                "6:freezer:/a",
                "FROZEN\n",
                "THAWED\n",
            ),
            (
                "cgroup",
                "freezer.state",
                "6:x,freezer:/a",
                "FREEZING\n",
                "THAWED\n",
            ),
            (
                "cgroup2",
                "cgroup.events",
                "0::/a",
                "populated 1\nfrozen 1\n",
                "frozen 0\n",
            ),
        ] {
            let group = root.join(kind).join("a");
            fs::create_dir_all(&group).unwrap();
            let freezers = freezers(root, &[kind]);
            let cgroup = format!("3:cpu:/b\n{line}\n");
            fs::write(group.join(file), frozen).unwrap();
            assert!(freezers.hold(&cgroup), "{line}");
            fs::write(group.join(file), thawed).unwrap();
            assert!(!freezers.hold(&cgroup), "{line}");
            fs::remove_file(group.join(file)).unwrap();
            assert!(!freezers.hold(&cgroup), "{line}");
        }
    }

    #[test]
    fn no_path_leads_out_of_a_hierarchy() {
        let directory = tempfile::tempdir().unwrap();
        let outside = directory.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("cgroup.events"), "frozen 1\n").unwrap();
        let freezers = freezers(directory.path(), &["cgroup2"]);
        assert!(!freezers.hold("0::/../outside\n"));
    }
}
