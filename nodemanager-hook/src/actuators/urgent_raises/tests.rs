use std::{
    fs::{self, OpenOptions},
    thread,
    time::{Duration, Instant},
};

use nix::{sys::stat::Mode, unistd::mkfifo};

use super::*;
use crate::actuators::{Change, KernelFiles};

const MIB: u64 = 1 << 20;
const ID: WatchId = WatchId(1);
const LIMIT_FILES: [LimitFile; 2] = [LimitFile::MemoryMax, LimitFile::MemoryHigh];

/// A group of version 2 as plain files, with a limit that may rise.
struct Rising {
    directory: tempfile::TempDir,
    raises: Arc<UrgentRaises>,
}

impl Rising {
    fn new(limit_mib: u64, resident_mib: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let raises = Arc::new(UrgentRaises::new(64 * MIB));
        let rising = Self { directory, raises };
        rising.set("memory.stat", &format!("anon {}\nfile 0\nfile_mapped 0\n", resident_mib * MIB));
        rising.set("memory.current", &(resident_mib * MIB).to_string());
        rising.set("memory.max", &(limit_mib * MIB).to_string());
        rising.set("memory.high", &wake_at(limit_mib * MIB).to_string());
        rising.raises.allow(ID, rising.group(), Version::Two).unwrap();
        rising
    }

    fn group(&self) -> &Path {
        self.directory.path()
    }

    fn set(&self, file: &str, text: &str) {
        fs::write(self.group().join(file), text).unwrap();
    }

    fn max_and_high_mib(&self) -> [u64; 2] {
        LIMIT_FILES.map(|file| match read_limit(self.group(), file).unwrap() {
            Value::AtMost(bytes) => bytes / MIB,
            other => panic!("{file:?}: {other:?}"),
        })
    }

    fn taken_mib(&self) -> Option<u64> {
        self.raises.take(ID, |risen| risen.unwrap() / MIB)
    }
}

#[test]
fn a_limit_of_version_2_rises_with_what_slows_down_and_what_kills() {
    let rising = Rising::new(200, 136);
    rising.raises.raise(ID);
    assert_eq!(rising.max_and_high_mib(), [264, 200]);
    assert_eq!(rising.taken_mib(), Some(264));
    rising.raises.raise(ID);
    assert_eq!(rising.taken_mib(), None, "there is room again");
}

#[test]
fn what_kills_stays_where_it_is_higher_already() {
    let rising = Rising::new(200, 136);
    // As while the agent lowers a limit: the file that kills follows last.
    rising.set("memory.max", &(900 * MIB).to_string());
    rising.raises.raise(ID);
    assert_eq!(rising.max_and_high_mib(), [900, 200]);
    assert_eq!(rising.taken_mib(), Some(264));
    let rising = Rising::new(200, 136);
    rising.set("memory.max", "max");
    rising.raises.raise(ID);
    assert_eq!(read_limit(rising.group(), LimitFile::MemoryMax).unwrap(), Value::Unlimited);
    assert_eq!(rising.taken_mib(), Some(264));
}

#[test]
fn after_a_raise_the_agent_writes_nothing_that_it_computed_before() {
    let rising = Rising::new(200, 136);
    let mut files = KernelFiles::beside(Arc::clone(&rising.raises));
    let change = |file, mib: u64| Change {
        group: rising.group().into(),
        file,
        value: Value::AtMost(mib * MIB),
    };
    let of_200 = [change(LimitFile::MemoryMax, 240), change(LimitFile::MemoryHigh, 176)];
    let of_200: Vec<&Change> = of_200.iter().collect();
    rising.raises.raise(ID);
    for outcome in files.write_all(&of_200) {
        let error = outcome.unwrap_err().to_string();
        assert!(
            error.ends_with(": a raise while the agent was busy is not taken over yet"),
            "{error}"
        );
    }
    assert_eq!(rising.max_and_high_mib(), [264, 200]);
    assert_eq!(rising.taken_mib(), Some(264));
    assert!(files.write_all(&of_200).into_iter().all(|outcome| outcome.unwrap()));
    assert_eq!(rising.max_and_high_mib(), [240, 176]);
}

#[test]
fn a_limit_does_not_rise_while_the_agent_writes_what_kills() {
    let rising = Rising::new(200, 136);
    let raise_during = |file| {
        let write = || {
            rising.raises.raise(ID);
            Ok(rising.max_and_high_mib())
        };
        rising.raises.unless_risen(rising.group(), file, write).unwrap()
    };
    assert_eq!(raise_during(LimitFile::MemoryMax), [200, 136]);
    // The kernel may take long to reclaim for this one.
    assert_eq!(raise_during(LimitFile::MemoryHigh), [264, 200]);
}

#[test]
fn a_limit_of_version_1_does_not_rise_while_the_agent_raises_it() {
    let (directory, raises) = (tempfile::tempdir().unwrap(), Arc::new(UrgentRaises::new(64 * MIB)));
    let (group, file) = (directory.path(), LimitFile::MemoryLimit);
    let stat = format!("total_rss {}\ntotal_cache 0\ntotal_mapped_file 0\n", 136 * MIB);
    fs::write(group.join("memory.stat"), stat).unwrap();
    raises.allow(ID, group, Version::One).unwrap();
    let mut files = KernelFiles::beside(Arc::clone(&raises));
    files.remember_value(&Change { group: group.into(), file, value: Value::AtMost(200 * MIB) });
    let path = group.join(file.name());
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let known = Arc::clone(&raises.groups.lock()[&ID]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut is_locked = false;
    let _reader = thread::scope(|scope| {
        // Waits until somebody reads the file.
        scope.spawn(|| files.write(group, file, Value::AtMost(1024 * MIB)));
        while !is_locked && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
            is_locked = known.state.try_lock().is_none();
        }
        if is_locked {
            raises.raise(ID);
        }
        OpenOptions::new().read(true).write(true).open(&path).unwrap()
    });
    assert!(is_locked, "a raise may begin");
    assert!(raises.take(ID, drop).is_none(), "it rose");
    fs::remove_file(&path).unwrap();
    fs::write(&path, (200 * MIB).to_string()).unwrap();
    raises.raise(ID);
    assert_eq!(raises.take(ID, Result::unwrap), Some(264 * MIB));
}

#[test]
fn a_forbidden_raise_writes_nothing() {
    let rising = Rising::new(200, 136);
    assert!(rising.raises.forbid(ID).is_none());
    rising.raises.raise(ID);
    assert_eq!(rising.max_and_high_mib(), [200, 136]);
    assert_eq!(rising.taken_mib(), None);
    let rising = Rising::new(200, 136);
    rising.raises.raise(ID);
    assert_eq!(rising.raises.forbid(ID).unwrap().unwrap(), 264 * MIB, "not lost");
}
