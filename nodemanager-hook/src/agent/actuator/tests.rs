use std::{fs, io::Write, os::fd::AsRawFd};

use elastane_protocol::RunningContainer;
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};

use super::*;
use crate::{
    actuators::{LimitPlace, Owner},
    cgroups::{Controller, Version},
    memory_watch::{WatchId, wake_at},
    sensors::MeasuredGroups,
};

const MIB: u64 = 1 << 20;
const WATCH: WatchId = WatchId(1);

/// A container in a group of version 2 as plain files.
struct Bench {
    directory: tempfile::TempDir,
    actuator: Actuator,
    id: ContainerId,
    container: NodeContainer,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let urgent_raises = Arc::new(UrgentRaises::new(64 * MIB));
        let troubles = Troubles::default();
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
        let (mount_point, owner) = (group.clone(), Owner::Agent);
        let place = LimitPlace { group, version: Version::Two, mount_point, owner };
        bench.container.limiter.limit_in(Controller::Memory, Some(place));
        bench
    }

    fn set(&self, file: &str, text: &str) {
        fs::write(self.directory.path().join(file), text).unwrap();
    }

    /// The sensor reads this later.
    fn hold(&self, mib: u64) {
        self.set("memory.stat", &format!("anon {}\nfile 0\nfile_mapped 0\n", mib * MIB));
        self.set("memory.current", &(mib * MIB).to_string());
    }

    /// Refuses writes to a file, even by root, until [`Self::unseal`]. The returned file has to stay open.
    fn seal(&self, file: &str) -> fs::File {
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
    fn unseal(&self, file: &str) {
        let text = self.text(file);
        fs::remove_file(self.directory.path().join(file)).unwrap();
        self.set(file, &text);
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.directory.path().join(file)).unwrap()
    }

    fn max_and_high(&self) -> [u64; 2] {
        ["memory.max", "memory.high"].map(|file| self.text(file).parse().unwrap())
    }

    fn limit(&mut self, mib: u64) {
        let limits = Limits { memory_bytes: Some(mib * MIB), ..Limits::default() };
        let planned = (limits, Reason::PlanStep);
        let wanted = Wanted::new(&self.id, &mut self.container, planned);
        self.actuator.limit(vec![wanted]);
    }

    fn allow_raises(&mut self) {
        let group = self.directory.path();
        self.actuator.urgent_raises.allow(WATCH, group, Version::Two).unwrap();
        self.container.watched = self.in_force().map(|bytes| (WATCH, bytes));
    }

    fn in_force(&self) -> Option<u64> {
        self.container.limiter.in_force().memory_bytes
    }

    fn troubles(&self, kind: &str) -> u64 {
        self.actuator.troubles.counts().get(kind).copied().unwrap_or_default()
    }
}

#[test]
fn a_raise_is_taken_over_before_limits_are_computed_also_after_its_watch() {
    for is_dropped in [false, true] {
        let mut bench = Bench::new();
        bench.limit(160);
        assert_eq!(bench.max_and_high(), [160 * MIB, 96 * MIB]);
        bench.allow_raises();
        bench.hold(230);
        bench.actuator.urgent_raises.raise(WATCH);
        let [max, high] = bench.max_and_high();
        assert!(max > 230 * MIB && high == wake_at(max), "{max} {high}");
        if is_dropped {
            bench.container.forbid_raises(&bench.actuator.urgent_raises);
            bench.container.watched = None;
        }
        // More than the limit before the raise, and less than what is charged.
        bench.limit(200);
        let [still, lowered] = bench.max_and_high();
        assert!(still == max && lowered < high, "{still} {lowered}: not as a raise to 200 MiB");
        assert_eq!(bench.in_force().map(wake_at), Some(lowered));
        assert_eq!(bench.troubles("limits"), 0);
        assert_eq!(bench.troubles("limits raised while the agent was busy"), 1);
        bench.hold(20);
        bench.limit(200);
        bench.limit(200);
        assert_eq!(bench.max_and_high(), [200 * MIB, 136 * MIB]);
    }
}

#[test]
fn memory_max_falls_again_after_a_raise_of_it_alone() {
    let mut bench = Bench::new();
    bench.limit(160);
    bench.allow_raises();
    bench.hold(100);
    let sealed = bench.seal("memory.high");
    bench.actuator.urgent_raises.raise(WATCH);
    let [max, high] = bench.max_and_high();
    assert!(max > 160 * MIB && high == 96 * MIB, "{max} {high}");
    bench.unseal("memory.high");
    drop(sealed);
    bench.hold(20);
    bench.limit(160);
    assert_eq!(bench.troubles("limits"), 1);
    assert_eq!(bench.max_and_high(), [160 * MIB, 96 * MIB]);
}

#[test]
fn a_memory_max_that_was_refused_is_written_later() {
    let mut bench = Bench::new();
    let sealed = bench.seal("memory.max");
    bench.limit(160);
    assert_eq!([bench.text("memory.max"), bench.text("memory.high")], ["max", "100663296"]);
    assert_eq!((bench.in_force(), bench.troubles("limits")), (Some(160 * MIB), 1));
    bench.unseal("memory.max");
    drop(sealed);
    bench.limit(160);
    assert_eq!(bench.max_and_high(), [160 * MIB, 96 * MIB]);
    assert_eq!(bench.troubles("limits"), 1);
}
