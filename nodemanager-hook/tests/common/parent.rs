//! Real cgroups of either version, for tests that do not name the version's files.

use std::{
    collections::BTreeSet,
    env, fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use nix::{errno::Errno, unistd::geteuid};

use super::{Tree, read_number, skip};

/// Where systemd owns version 2, this variable has the delegated group in which tests make theirs.
const DELEGATED: &str = "ELASTANE_TEST_GROUP";

/// Controllers as the agent uses them: their names in version 1.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuacct", "memory", "blkio"];

/// A test's own parent group in each hierarchy.
pub struct Parent {
    pub name: String,
    pub cpu: PathBuf,
    pub cpuacct: PathBuf,
    pub memory: PathBuf,
    pub blkio: PathBuf,
}

impl Parent {
    /// Groups whose weight makes the rest of a busy machine give way. None if cgroups cannot be made and the test is
    /// skipped.
    pub fn new() -> Option<Self> {
        let parent = Self::unrestricted()?;
        set_shares(&parent.cpu, 262_144);
        Some(parent)
    }

    /// Groups that hold a process as the root of each hierarchy would.
    pub fn unrestricted() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        if !geteuid().is_root() {
            skip("cgroups cannot be made: not root");
            return None;
        }
        let mount_points = CONTROLLERS.map(mount_point);
        let [Some(cpu), Some(cpuacct), Some(memory), Some(blkio)] = mount_points else {
            skip("there are no hierarchies of cpu, cpuacct, memory and blkio");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut name = format!("elastane-test-{}-{number}", std::process::id());
        match env::var(DELEGATED) {
            Ok(delegated) if is_version_2(&cpu) => {
                pass_on(&cpu.join(&delegated));
                name = format!("{delegated}/{name}");
            }
            _ => pass_on(&cpu),
        }
        let parent = Self {
            cpu: cpu.join(&name),
            cpuacct: cpuacct.join(&name),
            memory: memory.join(&name),
            blkio: blkio.join(&name),
            name,
        };
        for group in parent.groups() {
            if let Err(error) = fs::create_dir_all(&group) {
                skip(&format!("cannot make {}: {error}", group.display()));
                return None;
            }
        }
        Some(parent)
    }

    /// Whether one version 2 hierarchy serves all controllers.
    pub fn is_version_2(&self) -> bool {
        is_version_2(&self.cpu)
    }

    /// Moves a tree to the parent.
    pub fn hold(&self, tree: &Tree) {
        move_all(tree, |pid| self.try_to_hold(pid));
    }

    pub fn hold_process(&self, pid: u32) {
        self.try_to_hold(pid).unwrap();
    }

    fn try_to_hold(&self, pid: u32) -> io::Result<()> {
        for group in self.groups() {
            // In version 1, systemd removes empty groups when it starts a unit.
            fs::create_dir_all(&group)?;
            fs::write(group.join("cgroup.procs"), pid.to_string())?;
        }
        Ok(())
    }

    /// Makes groups for a tree as the container executor does. Returns the one in the cpu hierarchy.
    pub fn hold_as_executor(&self, tree: &Tree, controllers: &[&str]) -> PathBuf {
        for controller in controllers {
            let outer = self.of(controller).join("yarn");
            fs::create_dir_all(&outer).unwrap();
            pass_on(self.of(controller));
            pass_on(&outer);
            let group = outer.join(&tree.id);
            fs::create_dir_all(&group).unwrap();
            move_all(tree, |pid| fs::write(group.join("cgroup.procs"), pid.to_string()));
        }
        self.executors_group("cpu", tree)
    }

    /// The group that [`Self::hold_as_executor`] made.
    pub fn executors_group(&self, controller: &str, tree: &Tree) -> PathBuf {
        self.of(controller).join("yarn").join(&tree.id)
    }

    fn of(&self, controller: &str) -> &Path {
        match controller {
            "cpu" => &self.cpu,
            "cpuacct" => &self.cpuacct,
            "memory" => &self.memory,
            _ => &self.blkio,
        }
    }

    /// The group of a container in the cpu hierarchy.
    pub fn group_of(&self, tree: &Tree) -> PathBuf {
        self.cpu.join(&tree.id)
    }

    /// The parent in each hierarchy.
    pub fn groups(&self) -> BTreeSet<PathBuf> {
        let all = [&self.cpu, &self.cpuacct, &self.memory, &self.blkio];
        all.into_iter().cloned().collect()
    }

    /// The number of child groups in all hierarchies.
    pub fn inner(&self) -> usize {
        let directories = |group: PathBuf| {
            let entries = fs::read_dir(group).into_iter().flatten().flatten();
            entries.filter(|entry| entry.file_type().unwrap().is_dir()).count()
        };
        self.groups().into_iter().map(directories).sum()
    }

    /// The number of groups of a container whose CPU is limited.
    pub fn groups_for_cpu(&self) -> usize {
        BTreeSet::from([&self.cpu, &self.cpuacct]).len()
    }

    pub fn quota_us(&self, tree: &Tree) -> i64 {
        quota_us(&self.group_of(tree))
    }

    /// A container's weight, in the unit of version 1.
    pub fn shares(&self, tree: &Tree) -> i64 {
        shares(&self.group_of(tree))
    }

    /// A container's memory limit.
    pub fn memory_limit(&self, tree: &Tree) -> Option<u64> {
        memory_limit(&self.memory.join(&tree.id))
    }

    /// The memory charged to a container's group.
    pub fn memory_charged(&self, tree: &Tree) -> u64 {
        let group = self.memory.join(&tree.id);
        let name = match self.is_version_2() {
            true => "memory.current",
            false => "memory.usage_in_bytes",
        };
        read_number(&group.join(name)).unsigned_abs()
    }

    /// The cores that a container uses, by the kernel's accounting over a time.
    pub fn cores_used(&self, tree: &Tree, over: Duration) -> f64 {
        let group = self.cpuacct.join(&tree.id);
        let (begun, before) = (Instant::now(), cpu_seconds(&group));
        thread::sleep(over);
        (cpu_seconds(&group) - before) / begun.elapsed().as_secs_f64()
    }
}

impl Drop for Parent {
    /// A failed test may have removed groups, and a killed process may keep one busy for a moment.
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        for group in self.groups() {
            while !remove_groups(&group) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Moves the root of a tree, and then what it forked before that: later forks begin in its group.
fn move_all(tree: &Tree, move_process: impl Fn(u32) -> io::Result<()>) {
    move_process(tree.pid()).unwrap();
    for (pid, _) in tree.processes() {
        let moved = move_process(pid);
        let has_ended = |error: &io::Error| error.raw_os_error() == Some(Errno::ESRCH as i32);
        assert!(moved.as_ref().err().is_none_or(has_ended), "{pid}: {moved:?}");
    }
}

/// The quota of a group, -1 without one.
pub fn quota_us(group: &Path) -> i64 {
    if !is_version_2(group) {
        return read_number(&group.join("cpu.cfs_quota_us"));
    }
    let text = fs::read_to_string(group.join("cpu.max")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap_or(-1)
}

/// -1 lifts the quota.
pub fn set_quota_us(group: &Path, quota_us: i64) {
    let (name, value) = match is_version_2(group) {
        true if quota_us < 0 => ("cpu.max", "max".to_owned()),
        true => ("cpu.max", quota_us.to_string()),
        false => ("cpu.cfs_quota_us", quota_us.to_string()),
    };
    fs::write(group.join(name), value).unwrap();
}

/// A group's memory limit.
pub fn memory_limit(group: &Path) -> Option<u64> {
    let name = match is_version_2(group) {
        true => "memory.max",
        false => "memory.limit_in_bytes",
    };
    let text = fs::read_to_string(group.join(name)).ok()?;
    let bytes = text.trim().parse().ok();
    bytes.filter(|bytes| *bytes < 1 << 60)
}

/// The weight of a group, in the unit of version 1.
pub fn shares(group: &Path) -> i64 {
    match is_version_2(group) {
        true => read_number(&group.join("cpu.weight")) * 1024 / 100,
        false => read_number(&group.join("cpu.shares")),
    }
}

pub fn set_shares(group: &Path, shares: i64) {
    let (name, value) = match is_version_2(group) {
        true => ("cpu.weight", (shares * 100 / 1024 + 1).min(10_000)),
        false => ("cpu.shares", shares),
    };
    fs::write(group.join(name), value.to_string()).unwrap();
}

fn cpu_seconds(group: &Path) -> f64 {
    if !is_version_2(group) {
        return read_number(&group.join("cpuacct.usage")) as f64 / 1e9;
    }
    let text = fs::read_to_string(group.join("cpu.stat")).unwrap();
    let usage = text.lines().find_map(|line| line.strip_prefix("usage_usec "));
    usage.unwrap().parse::<f64>().unwrap() / 1e6
}

fn is_version_2(group: &Path) -> bool {
    let mut around = group.ancestors().filter(|above| above.is_dir());
    around.next().is_some_and(|group| group.join("cgroup.subtree_control").exists())
}

pub fn is_version_2_alone() -> bool {
    fs::exists("/sys/fs/cgroup/cgroup.controllers").unwrap()
}

/// Version 2: enables the controllers for the children of a group.
fn pass_on(group: &Path) {
    if is_version_2(group) {
        fs::write(group.join("cgroup.subtree_control"), "+cpu +memory +io").unwrap();
    }
}

/// Removes a group and its descendants. Returns whether it is gone.
fn remove_groups(group: &Path) -> bool {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            remove_groups(&entry.path());
        }
    }
    fs::remove_dir(group).is_ok() || !group.exists()
}

/// The root of version 2, which may be beside version 1.
pub fn version_2_root() -> Option<PathBuf> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mountinfo.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

/// The mount point of a controller's hierarchy: in version 1, or else in version 2.
pub fn mount_point(controller: &str) -> Option<PathBuf> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = |line: &str, file_system: &str| -> Option<(PathBuf, String)> {
        let (mount, options) = line.split_once(&format!(" - {file_system} "))?;
        let options = options.rsplit(' ').next()?.to_owned();
        Some((mount.split(' ').nth(4).unwrap().into(), options))
    };
    let version_1 = mountinfo.lines().find_map(|line| {
        let (mount, options) = mount(line, "cgroup")?;
        let serves = options.split(',').any(|option| option == controller);
        serves.then_some(mount)
    });
    let version_2 = mountinfo.lines().find_map(|line| {
        let (mount, _) = mount(line, "cgroup2")?;
        let offered = fs::read_to_string(mount.join("cgroup.controllers")).unwrap();
        let offered: Vec<&str> = offered.split_whitespace().collect();
        let needed = ["cpu", "memory", "io"];
        needed.iter().all(|one| offered.contains(one)).then_some(mount)
    });
    version_1.or(version_2)
}
