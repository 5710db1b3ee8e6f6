//! A container without a kernel, for tests.
#![allow(clippy::unwrap_used)]

use std::{fs, io::Write, os::fd::AsRawFd};

use elastane_protocol::RunningContainer;
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};

use super::*;
use crate::{
    actuators::{LimitPlace, Owner, Reclaims},
    cgroups::{Controller, Version},
    memory_watch::WatchId,
    sensors::MeasuredGroups,
};

pub(in crate::agent) const MIB: u64 = 1 << 20;
pub(in crate::agent) const WATCH: WatchId = WatchId(1);

const PATIENCE: Duration = Duration::from_secs(20);

/// A container in a group of version 2 as plain files.
pub(in crate::agent) struct Bench {
    pub directory: tempfile::TempDir,
    pub actuator: Actuator,
    pub id: ContainerId,
    pub container: NodeContainer,
}

impl Bench {
    pub fn new() -> Self {
        Self::of(Owner::Agent)
    }

    pub fn of(owner: Owner) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let urgent_raises = Arc::new(UrgentRaises::new(64 * MIB));
        let troubles = Troubles::default();
        let raises = Arc::clone(&urgent_raises);
        let actuator = Actuator {
            files: KernelFiles::beside(Arc::clone(&urgent_raises)),
            journal: Journal::load(&path.join("journal")).unwrap(),
            audit: Audit::none(troubles.clone()),
            margin: Margin { min_bytes: 64 * MIB },
            urgent_raises,
            disks: Vec::new(),
            hierarchies: Hierarchies::default(),
            proc: ProcFs::new(path),
            leaving: BTreeSet::new(),
            has_removed: false,
            turn: 0,
            lowerings: Lowerings::new(Reclaims::start(raises).unwrap()),
            troubles,
        };
        let id = "container_1_1_1_1";
        let running = RunningContainer { container: id.into(), pid: 1, request_memory_bytes: 0 };
        let container = NodeContainer::new(running, None);
        let mut bench = Self { directory, actuator, id: id.parse().unwrap(), container };
        bench.set("memory.max", "max");
        bench.set("memory.high", "max");
        bench.hold(20);
        let group = bench.directory.path().to_owned();
        let memory = Some((group.clone(), Version::Two));
        let groups = MeasuredGroups { memory, ..MeasuredGroups::default() };
        bench.container.sensor.measure(groups).unwrap();
        bench.container.sensor.read_memory(&bench.actuator.proc).unwrap();
        let mount_point = group.clone();
        let place = LimitPlace { group, version: Version::Two, mount_point, owner };
        bench.container.limiter.limit_in(Controller::Memory, Some(place));
        bench
    }

    pub fn set(&self, file: &str, text: &str) {
        fs::write(self.directory.path().join(file), text).unwrap();
    }

    /// The sensor reads this later.
    pub fn hold(&self, mib: u64) {
        self.set("memory.stat", &format!("anon {}\nfile 0\nfile_mapped 0\n", mib * MIB));
        self.set("memory.current", &(mib * MIB).to_string());
    }

    /// Refuses writes to a file, even by root, until [`Self::unseal`]. The returned file has to stay open.
    pub fn seal(&self, file: &str) -> fs::File {
        let text = self.text(file);
        let sealed = memfd_create("sealed", MFdFlags::MFD_ALLOW_SEALING).unwrap();
        let mut sealed = fs::File::from(sealed);
        sealed.write_all(text.as_bytes()).unwrap();
        let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SHRINK;
        fcntl(&sealed, FcntlArg::F_ADD_SEALS(seals)).unwrap();
        let path = self.directory.path().join(file);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(format!("/proc/self/fd/{}", sealed.as_raw_fd()), path).unwrap();
        sealed
    }

    /// Makes a sealed file writable again.
    pub fn unseal(&self, file: &str) {
        let text = self.text(file);
        fs::remove_file(self.directory.path().join(file)).unwrap();
        self.set(file, &text);
    }

    pub fn text(&self, file: &str) -> String {
        fs::read_to_string(self.directory.path().join(file)).unwrap()
    }

    pub fn max_and_high(&self) -> [u64; 2] {
        ["memory.max", "memory.high"].map(|file| self.text(file).parse().unwrap())
    }

    pub fn limit(&mut self, mib: u64) {
        let limits = Limits { memory_bytes: Some(mib * MIB), ..Limits::default() };
        self.apply((limits, Reason::PlanStep));
    }

    /// The plan has ended.
    pub fn lift(&mut self) {
        self.apply((Limits::default(), Reason::PlanEnded));
    }

    fn apply(&mut self, planned: (Limits, Reason)) {
        let wanted = Wanted::new(&self.id, &mut self.container, planned);
        self.actuator.limit(vec![wanted]);
    }

    /// Waits until the threads have written all limits.
    pub fn wait_for_threads(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.actuator.lowerings.open() > 0 {
            assert!(Instant::now() < deadline, "the writes do not end");
            thread::sleep(Duration::from_millis(1));
            self.actuator.collect_lowered();
        }
    }

    /// Waits until a thread has written this text.
    pub fn wait_for_text(&self, file: &str, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.text(file) != text {
            assert!(Instant::now() < deadline, "{file} is {}", self.text(file));
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn allow_raises(&mut self) {
        let group = self.directory.path();
        self.actuator.urgent_raises.allow(WATCH, group, Version::Two).unwrap();
        self.container.watched = self.in_force().map(|bytes| (WATCH, bytes));
    }

    /// Records changes from now on.
    pub fn audit(&mut self) {
        let path = self.directory.path().join("audit.jsonl");
        self.actuator.audit = Audit::open(Some(&path), self.actuator.troubles.clone()).unwrap();
    }

    /// The file and the text of each recorded change. Ends the records.
    pub fn audited(&mut self) -> Vec<(String, String)> {
        self.actuator.audit.end();
        let mut all = Vec::new();
        for line in self.text("audit.jsonl").lines() {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            let written = entry["written"].as_array().unwrap();
            let text =
                |change: &serde_json::Value, part: usize| change[part].as_str().unwrap().to_owned();
            all.extend(written.iter().map(|change| (text(change, 1), text(change, 2))));
        }
        all
    }

    pub fn in_force(&self) -> Option<u64> {
        self.container.limiter.in_force().memory_bytes
    }

    pub fn troubles(&self, kind: &str) -> u64 {
        self.actuator.troubles.counts().get(kind).copied().unwrap_or_default()
    }
}
