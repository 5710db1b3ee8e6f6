//! The host's files that are needed to examine a process.

use std::{fs, io, path::Path, sync::Arc};

use crate::cgroups::{Mount, Version};

/// The cgroup controller of version 1 that freezes.
const FREEZER: &str = "freezer";

/// A `/proc` and the cgroup hierarchies that can freeze processes.
#[derive(Debug, Clone)]
pub struct JvmHost {
    pub(super) proc: Arc<Path>,
    freezers: Arc<[Mount]>,
}

impl JvmHost {
    pub fn discover(proc: &Path) -> io::Result<Self> {
        Ok(Self::new(proc, &fs::read_to_string(proc.join("self/mountinfo"))?))
    }

    /// Finds the hierarchies in the text of `/proc/self/mountinfo`. Version 2 can freeze any group.
    pub(crate) fn new(proc: &Path, mountinfo: &str) -> Self {
        let mounts = mountinfo.lines().filter_map(Mount::parse);
        let can_freeze = |mount: &Mount| mount.version == Version::Two || mount.is_of(FREEZER);
        Self { proc: proc.into(), freezers: mounts.filter(can_freeze).collect() }
    }

    /// How much a process has mapped, in pages. None if it has ended.
    pub(super) fn mapped_pages(&self, pid: u32) -> Option<u64> {
        let text = fs::read_to_string(self.proc.join(format!("{pid}/statm"))).ok()?;
        text.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Whether a process is frozen or being frozen, by the text of its `/proc/PID/cgroup`. A frozen
    /// process does not answer, and would receive a signal after the agent has stopped waiting. A
    /// group without a readable state does not freeze.
    pub(crate) fn has_frozen(&self, cgroup: &str) -> bool {
        self.freezers.iter().any(|mount| {
            let group = mount.directory_of(cgroup, &[FREEZER]);
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

    fn host(root: &Path, kinds: &[&str]) -> JvmHost {
        let line = |kind: &&str| {
            let root = root.display();
            format!("1 2 0:3 / {root}/{kind} rw - {kind} {kind} rw,freezer\n")
        };
        JvmHost::new(Path::new("/proc"), &kinds.iter().map(line).collect::<String>())
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
            let host = host(root, &[kind]);
            let cgroup = format!("3:cpu:/b\n{line}\n");
            fs::write(group.join(file), frozen).unwrap();
            assert!(host.has_frozen(&cgroup), "{line}");
            fs::write(group.join(file), thawed).unwrap();
            assert!(!host.has_frozen(&cgroup), "{line}");
            fs::remove_file(group.join(file)).unwrap();
            assert!(!host.has_frozen(&cgroup), "{line}");
        }
    }

    #[test]
    fn no_path_leads_out_of_a_hierarchy() {
        let directory = tempfile::tempdir().unwrap();
        let outside = directory.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("cgroup.events"), "frozen 1\n").unwrap();
        let host = host(directory.path(), &["cgroup2"]);
        assert!(!host.has_frozen("0::/../outside\n"));
    }
}
