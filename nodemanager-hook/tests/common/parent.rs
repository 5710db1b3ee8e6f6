//! Real cgroups.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use nix::unistd::geteuid;

use super::{Tree, read_number, skip};

/// A parent of the test's own in the cpu and cpuacct hierarchies, with a weight that makes the
/// rest of a busy machine give way.
pub struct Parent {
    pub name: String,
    pub cpu: PathBuf,
    pub cpuacct: PathBuf,
}

impl Parent {
    /// Nothing where cgroups cannot be made and tests may be skipped for that.
    pub fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        if !geteuid().is_root() {
            skip("cgroups cannot be made: not root");
            return None;
        }
        let (Some(cpu), Some(cpuacct)) = (mount_point("cpu"), mount_point("cpuacct")) else {
            skip("there are no cgroup v1 hierarchies of cpu and cpuacct");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("elastane-test-{}-{number}", std::process::id());
        let parent = Self {
            cpu: cpu.join(&name),
            cpuacct: cpuacct.join(&name),
            name,
        };
        for group in parent.groups() {
            if let Err(error) = fs::create_dir_all(group) {
                skip(&format!("cannot make {}: {error}", group.display()));
                return None;
            }
        }
        fs::write(parent.cpu.join("cpu.shares"), "262144").unwrap();
        Some(parent)
    }

    /// Moves a tree of one process here, as if it had always been here.
    pub fn hold(&self, tree: &Tree) {
        for group in self.groups() {
            fs::write(group.join("cgroup.procs"), tree.pid().to_string()).unwrap();
        }
    }

    /// The group of a container in the cpu hierarchy.
    pub fn group_of(&self, tree: &Tree) -> PathBuf {
        self.cpu.join(&tree.id)
    }

    pub fn groups(&self) -> [&Path; 2] {
        [&self.cpu, &self.cpuacct]
    }

    /// Groups that are in it, in both hierarchies.
    pub fn inner(&self) -> usize {
        let directories = |group: &Path| {
            let entries = fs::read_dir(group).unwrap().flatten();
            entries
                .filter(|entry| entry.file_type().unwrap().is_dir())
                .count()
        };
        self.groups().into_iter().map(directories).sum()
    }

    pub fn quota_us(&self, tree: &Tree) -> i64 {
        read_number(&self.cpu.join(&tree.id).join("cpu.cfs_quota_us"))
    }

    pub fn shares(&self, tree: &Tree) -> i64 {
        read_number(&self.cpu.join(&tree.id).join("cpu.shares"))
    }

    /// Cores that a container used, by the kernel's accounting over a time.
    pub fn cores_used(&self, tree: &Tree, over: Duration) -> f64 {
        let path = self.cpuacct.join(&tree.id).join("cpuacct.usage");
        let (begun, before) = (Instant::now(), read_number(&path));
        thread::sleep(over);
        let used = (read_number(&path) - before) as f64 / 1e9;
        used / begun.elapsed().as_secs_f64()
    }
}

impl Drop for Parent {
    /// Not everything may be there, and what was killed a moment ago may still be: a test that
    /// fails has to be able to end.
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        for group in self.groups() {
            while !remove_groups(group) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Removes a group with all that are in it; says whether it is gone.
fn remove_groups(group: &Path) -> bool {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            remove_groups(&entry.path());
        }
    }
    fs::remove_dir(group).is_ok() || !group.exists()
}

fn mount_point(controller: &str) -> Option<PathBuf> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mountinfo.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - cgroup ")?;
        let options = file_system.rsplit(' ').next()?;
        options
            .split(',')
            .any(|option| option == controller)
            .then(|| mount.split(' ').nth(4).unwrap().into())
    })
}
