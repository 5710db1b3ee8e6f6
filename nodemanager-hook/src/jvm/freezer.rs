//! Whether a cgroup has frozen a process. A frozen process does not answer, and would receive a
//! signal after the agent has stopped waiting.

use std::{fs, path::Path};

use crate::cgroups::{Mount, Version};

const CONTROLLER: &str = "freezer";

/// The hierarchies that can freeze processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Freezers {
    mounts: Vec<Mount>,
}

impl Freezers {
    /// Finds the hierarchies in the text of `/proc/self/mountinfo`. Version 2 can freeze any group.
    pub fn discover(mountinfo: &str) -> Self {
        let mounts = mountinfo.lines().filter_map(Mount::parse);
        let can_freeze = |mount: &Mount| mount.version == Version::Two || mount.is_of(CONTROLLER);
        Self { mounts: mounts.filter(can_freeze).collect() }
    }

    /// Whether a process is frozen or being frozen, by the text of its `/proc/PID/cgroup`. A group
    /// without a readable state does not freeze.
    pub fn hold(&self, cgroup: &str) -> bool {
        self.mounts.iter().any(|mount| {
            let group = mount.directory_of(cgroup, &[CONTROLLER]);
            group.is_some_and(|group| is_frozen(mount.version, &group))
        })
    }
}

/// Both files also show a frozen ancestor.
fn is_frozen(version: Version, group: &Path) -> bool {
    match version {
        Version::One => {
            let state = fs::read_to_string(group.join("freezer.state"));
            state.is_ok_and(|state| state.trim() != "THAWED")
        }
        Version::Two => {
            let events = fs::read_to_string(group.join("cgroup.events"));
            events.is_ok_and(|events| events.lines().any(|line| line == "frozen 1"))
        }
    }
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
    fn frozen_groups_are_recognised_in_both_versions() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for (kind, file, line, frozen, thawed) in [
            ("cgroup", "freezer.state", "6:freezer:/a", "FROZEN\n", "THAWED\n"),
            ("cgroup", "freezer.state", "6:x,freezer:/a", "FREEZING\n", "THAWED\n"),
            ("cgroup2", "cgroup.events", "0::/a", "populated 1\nfrozen 1\n", "frozen 0\n"),
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
