mod executor;

use std::fs;

use super::*;
use crate::actuators::Change;

const MIB: u64 = 1 << 20;
const DISK: Device = Device { major: 8, minor: 0 };
/// No group is charged for the memory.
const UNMEASURED: Circumstances<'static> = Circumstances {
    resident_bytes: None,
    margin: Margin { min_bytes: 64 * MIB },
    is_near_limit: false,
    reclaim_bytes: 64 * MIB,
    disks: &[],
    open_write: None,
};

/// A parent group and a container's group in it, as plain files.
struct Tree {
    directory: tempfile::TempDir,
    version: Version,
}

impl Tree {
    fn new(version: Version) -> Self {
        let tree = Self { directory: tempfile::tempdir().unwrap(), version };
        fs::create_dir_all(tree.group()).unwrap();
        let files: &[(&str, &str)] = match version {
            Version::One => &[
                ("cpu.shares", "1024"),
                ("cpu.cfs_quota_us", "-1"),
                ("cpu.cfs_period_us", "100000"),
                ("memory.limit_in_bytes", "9223372036854771712"),
                ("memory.usage_in_bytes", "104857600"),
                ("blkio.throttle.read_bps_device", ""),
                ("blkio.throttle.write_bps_device", ""),
            ],
            Version::Two => &[
                ("cpu.weight", "100"),
                ("cpu.max", "max 100000"),
                ("memory.high", "max"),
                ("memory.max", "max"),
                ("memory.current", "104857600"),
                ("io.max", ""),
            ],
        };
        for (name, text) in files {
            tree.set(name, text);
            fs::write(tree.directory.path().join("parent").join(name), text).unwrap();
        }
        tree
    }

    fn group(&self) -> PathBuf {
        self.directory.path().join("parent/container_1_1_1_1")
    }

    fn set(&self, file: &str, text: &str) {
        fs::write(self.group().join(file), text).unwrap();
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.group().join(file)).unwrap()
    }

    fn texts<const COUNT: usize>(&self, files: [&str; COUNT]) -> [String; COUNT] {
        files.map(|file| self.text(file))
    }

    fn journal(&self) -> Journal {
        Journal::load(&self.directory.path().join("journal")).unwrap()
    }

    fn limiter(&self, owner: Owner) -> Limiter {
        let mut limiter = Limiter::default();
        for controller in Controller::ALL {
            let place = LimitPlace {
                group: self.group(),
                version: self.version,
                mount_point: self.directory.path().into(),
                owner,
            };
            limiter.limit_in(controller, Some(place));
        }
        limiter
    }
}

struct Bench {
    limiter: Limiter,
    files: KernelFiles,
    journal: Journal,
}

impl Bench {
    fn new(tree: &Tree, owner: Owner) -> Self {
        Self {
            limiter: tree.limiter(owner),
            files: KernelFiles::default(),
            journal: tree.journal(),
        }
    }

    /// Returns the number of values written.
    fn apply(&mut self, planned: &Limits, resident_bytes: u64) -> usize {
        self.apply_when(planned, resident_bytes, false)
    }

    fn apply_when(&mut self, planned: &Limits, resident_bytes: u64, is_near_limit: bool) -> usize {
        let resident_bytes = Some(resident_bytes);
        let circumstances =
            Circumstances { resident_bytes, is_near_limit, disks: &[DISK], ..UNMEASURED };
        let (files, journal) = (&mut self.files, &mut self.journal);
        let mut written = 0;
        for step in self.limiter.steps(planned, circumstances, files, journal) {
            let step = step.unwrap();
            let changes: Vec<&Change> = step.changes.iter().collect();
            for outcome in files.write_all(&changes) {
                written += usize::from(outcome.unwrap());
            }
            self.limiter.settle(&step, files, journal).unwrap();
        }
        written
    }
}

fn cpu(weight_cores: f32, cap_cores: Option<f32>) -> Limits {
    Limits { cpu_weight_cores: Some(weight_cores), cpu_cap_cores: cap_cores, ..Limits::default() }
}

fn all() -> Limits {
    Limits {
        memory_bytes: Some(512 * MIB),
        disk_cap_bytes_per_s: Some(1_000_000),
        ..cpu(2.0, Some(0.3))
    }
}

const V1: [&str; 5] = [
    "cpu.shares",
    "cpu.cfs_quota_us",
    "memory.limit_in_bytes",
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
];
const V2: [&str; 5] = ["cpu.weight", "cpu.max", "memory.high", "memory.max", "io.max"];

#[test]
fn an_own_group_is_written_on_change_and_lifted_to_the_defaults() {
    for (version, files, limited, lifted) in [
        (
            Version::One,
            V1,
            ["2048", "30000", "536870912", "8:0 1000000", "8:0 1000000"],
            ["1024", "-1", "-1", "8:0 0", "8:0 0"],
        ),
        (
            Version::Two,
            V2,
            ["200", "30000", "469762048", "536870912", "8:0 wbps=1000000"],
            ["100", "max", "max", "max", "8:0 wbps=max"],
        ),
    ] {
        let tree = Tree::new(version);
        let mut bench = Bench::new(&tree, Owner::Agent);
        assert_eq!(bench.apply(&Limits::default(), 0), 0);
        assert!(bench.apply(&all(), 100 * MIB) > 0);
        assert_eq!(tree.texts(files), limited);
        assert_eq!(bench.limiter.in_force(), all());
        if version == Version::Two {
            // The kernel appends the period.
            tree.set("cpu.max", "30000 100000");
        }
        assert_eq!(bench.apply(&all(), 100 * MIB), 0);
        bench.apply(&Limits::default(), 100 * MIB);
        assert_eq!(tree.texts(files), lifted);
        assert_eq!(bench.limiter.in_force(), Limits::default());
    }
}

#[test]
fn a_cap_above_the_parents_is_left_to_the_parent() {
    let tree = Tree::new(Version::One);
    let parent = tree.directory.path().join("parent/cpu.cfs_quota_us");
    fs::write(parent, "60000").unwrap();
    let mut bench = Bench::new(&tree, Owner::Agent);
    bench.apply(&cpu(1.0, Some(0.7)), 0);
    assert_eq!(tree.text("cpu.cfs_quota_us"), "-1");
    bench.apply(&cpu(1.0, Some(0.5)), 0);
    assert_eq!(tree.text("cpu.cfs_quota_us"), "50000");
}

#[test]
fn memory_charged_to_another_group_is_not_limited() {
    let tree = Tree::new(Version::One);
    let mut bench = Bench::new(&tree, Owner::Agent);
    let (files, journal) = (&mut bench.files, &mut bench.journal);
    let steps = bench.limiter.steps(&all(), UNMEASURED, files, journal);
    let changed = steps.into_iter().flat_map(|step| step.unwrap().changes);
    let files: Vec<LimitFile> = changed.map(|change| change.file).collect();
    assert_eq!(files, [LimitFile::CpuShares, LimitFile::CpuQuota]);
}

#[test]
fn a_memory_limit_comes_down_in_steps() {
    let tree = Tree::new(Version::Two);
    tree.set("memory.current", &(600 * MIB).to_string());
    let mut bench = Bench::new(&tree, Owner::Agent);
    bench.apply(&all(), 100 * MIB);
    // The kernel reclaims 64 MiB for it. What kills comes later.
    assert_eq!(tree.texts(["memory.high", "memory.max"]), [(536 * MIB).to_string(), "max".into()]);
    tree.set("memory.current", &(500 * MIB).to_string());
    bench.apply(&all(), 100 * MIB);
    assert_eq!(tree.texts(["memory.high", "memory.max"]), [(448 * MIB).to_string(), "max".into()]);
    // Still above `memory.high`, and below the limit.
    bench.apply(&all(), 100 * MIB);
    assert_eq!(tree.text("memory.max"), (512 * MIB).to_string());
    assert_eq!(bench.limiter.in_force().memory_bytes, Some(512 * MIB));
}

#[test]
fn a_memory_limit_on_its_way_down_reaches_the_plan() {
    for version in [Version::One, Version::Two] {
        let tree = Tree::new(version);
        let charged = |bytes: u64| {
            for file in ["memory.current", "memory.usage_in_bytes"] {
                tree.set(file, &bytes.to_string());
            }
        };
        let memory = |mib: u64| Limits { memory_bytes: Some(mib * MIB), ..Limits::default() };
        let mut bench = Bench::new(&tree, Owner::Agent);
        charged(2600 * MIB);
        bench.apply(&memory(4096), 2048 * MIB);
        // A plan above resident memory, and nearer to it than the margins that a limit keeps when it follows use.
        for _ in 0..20 {
            bench.apply(&memory(2458), 2048 * MIB);
            charged(2150 * MIB);
        }
        assert_eq!(bench.limiter.in_force().memory_bytes, Some(2458 * MIB), "{version:?}");
    }
}

#[test]
fn a_wake_of_the_watch_only_raises() {
    let tree = Tree::new(Version::Two);
    tree.set("memory.current", &(600 * MIB).to_string());
    let mut bench = Bench::new(&tree, Owner::Agent);
    bench.apply(&all(), 100 * MIB);
    let limit = bench.limiter.in_force().memory_bytes.unwrap();
    tree.set("memory.current", &(500 * MIB).to_string());
    assert_eq!(bench.apply_when(&all(), 100 * MIB, true), 0);
    assert!(bench.apply_when(&all(), 600 * MIB, true) > 0);
    assert!(bench.limiter.in_force().memory_bytes.unwrap() > limit);
}

#[test]
fn a_limit_that_rose_meanwhile_is_taken_over_unless_another_one_was_written_since_then() {
    let planned = Limits { memory_bytes: Some(160 * MIB), ..Limits::default() };
    let (file, raised) = ("memory.limit_in_bytes", 400 * MIB);
    let tree = Tree::new(Version::One);
    let mut bench = Bench::new(&tree, Owner::Agent);
    bench.apply(&planned, 20 * MIB);
    tree.set(file, &raised.to_string());
    let risen = bench.limiter.take_over_raise(raised, &mut bench.files);
    let value = Value::AtMost(raised);
    assert_eq!(risen, [Change { group: tree.group(), file: LimitFile::MemoryLimit, value }]);
    assert_eq!(bench.limiter.in_force().memory_bytes, Some(raised));
    assert_eq!(bench.apply(&planned, 240 * MIB), 0, "it is what this memory needs");
    bench.apply(&planned, 20 * MIB);
    assert_eq!(tree.text(file), (160 * MIB).to_string(), "it comes down again");
    let limit = bench.limiter.in_force();
    assert_eq!(bench.limiter.take_over_raise(raised, &mut bench.files), []);
    assert_eq!(bench.limiter.in_force(), limit);
}

#[test]
fn memory_max_follows_a_raised_limit_and_is_not_lowered_below_charged_memory() {
    let planned = Limits { memory_bytes: Some(160 * MIB), ..Limits::default() };
    let (raised, high) = (400 * MIB, wake_at(400 * MIB).to_string());
    // Only `memory.high` had to rise if `memory.max` was higher still.
    for max in [400 * MIB, 700 * MIB] {
        let tree = Tree::new(Version::Two);
        tree.set("memory.current", &(20 * MIB).to_string());
        let mut bench = Bench::new(&tree, Owner::Agent);
        bench.apply(&planned, 20 * MIB);
        tree.set("memory.max", &max.to_string());
        tree.set("memory.high", &high);
        tree.set("memory.current", &(330 * MIB).to_string());
        let risen = bench.limiter.take_over_raise(raised, &mut bench.files);
        let risen: Vec<LimitFile> = risen.iter().map(|change| change.file).collect();
        let both = [LimitFile::MemoryMax, LimitFile::MemoryHigh];
        assert_eq!(risen, if max == raised { &both[..] } else { &both[1..] });
        assert_eq!(bench.limiter.in_force().memory_bytes, Some(raised));
        bench.apply(&planned, 240 * MIB);
        let max = (400 * MIB).to_string();
        assert_eq!(tree.text("memory.max"), max, "what kills follows what slows down");
        // The agent raised its own former limit to this one without a look at what is charged.
        let smaller = Limits { memory_bytes: Some(300 * MIB), ..Limits::default() };
        bench.apply(&smaller, 100 * MIB);
        assert_eq!(tree.text("memory.max"), max);
        tree.set("memory.current", &(200 * MIB).to_string());
        bench.apply(&smaller, 100 * MIB);
        bench.apply(&smaller, 100 * MIB);
        assert_eq!(tree.text("memory.max"), (300 * MIB).to_string());
    }
}

#[test]
fn a_limit_of_version_2_whose_last_file_was_refused_is_completed_later() {
    let tree = Tree::new(Version::Two);
    let planned = Limits { memory_bytes: Some(512 * MIB), ..Limits::default() };
    let mut bench = Bench::new(&tree, Owner::Agent);
    let circumstances = Circumstances { resident_bytes: Some(100 * MIB), ..UNMEASURED };
    let steps = bench.limiter.steps(&planned, circumstances, &mut bench.files, &mut bench.journal);
    let step = steps.into_iter().next().unwrap().unwrap();
    // The container has grown since the limit was computed.
    tree.set("memory.current", &(600 * MIB).to_string());
    let changes: Vec<&Change> = step.changes.iter().collect();
    let outcomes = bench.files.write_all(&changes);
    let error = outcomes[1].as_ref().unwrap_err().to_string();
    assert!(error.ends_with(": 629145600 bytes are charged, so the kernel would kill"), "{error}");
    assert_eq!(tree.texts(["memory.high", "memory.max"]), ["469762048", "max"]);
    bench.limiter.settle_part(&step, &changes[..1]);
    assert_eq!(bench.limiter.in_force().memory_bytes, Some(512 * MIB));
    tree.set("memory.current", &(400 * MIB).to_string());
    bench.apply(&planned, 100 * MIB);
    assert_eq!(tree.text("memory.max"), (512 * MIB).to_string());
}
