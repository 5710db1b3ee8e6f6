//! Tests with groups that `tests/hosts/record.sh` recorded on real hosts. They need no root.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    actuators::{KernelFiles, LimitFile, Value, limits_of, read_pids},
    cgroups::Version,
    sensors::{Device, DiskTraffic, GroupFile, ThrottledTime},
};

const DISK: Device = Device { major: 254, minor: 0 };

fn group(host: &str) -> PathBuf {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    hosts.join(host).join("group")
}

#[test]
fn the_usage_of_a_version_1_group_is_read() {
    let group = group("v1-separate");
    let open = |name| GroupFile::open(&group, name, Version::One).unwrap();
    let used = open("cpuacct.usage").cpu_nanoseconds().unwrap();
    assert_eq!(used, 1_619_796_377);
    let throttled = ThrottledTime { periods: 32, nanoseconds: 1_588_678_321 };
    assert_eq!(open("cpu.stat").throttling().unwrap(), throttled);
    let memory = open("memory.stat").memory().unwrap();
    assert_eq!(memory.anonymous_bytes, 57_397_248);
    assert_eq!(memory.resident_bytes, 57_397_248 + 1_056_768, "mapped");
    assert_eq!(memory.file_bytes, 1_249_280);
    assert_eq!(read_pids(&group).unwrap(), [11081, 11088]);
}

#[test]
fn the_usage_of_a_version_2_group_is_read() {
    let group = group("v2-bare");
    let open = |name| GroupFile::open(&group, name, Version::Two).unwrap();
    let cpu = open("cpu.stat");
    assert_eq!(cpu.cpu_nanoseconds().unwrap(), 3_589_493_000);
    let throttled = ThrottledTime { periods: 60, nanoseconds: 3_634_891_000 };
    assert_eq!(cpu.throttling().unwrap(), throttled);
    let memory = open("memory.stat").memory().unwrap();
    assert_eq!(memory.anonymous_bytes, 53_215_232);
    assert_eq!(memory.resident_bytes, 53_215_232 + 5_115_904 + 253_952, "mapped");
    assert_eq!(memory.file_bytes, 7_811_072);
    let written = DiskTraffic { read_bytes: 8192, written_bytes: 8 << 20 };
    assert_eq!(open("io.stat").disk(&[DISK]).unwrap(), written);
    assert_eq!(open("cgroup.procs").pids().unwrap(), [139, 142]);
}

#[test]
fn the_limits_of_a_group_are_found_and_lifted() {
    use LimitFile::*;
    let [throttled, bytes] = [Value::AtMost(16 << 20), Value::AtMost(256 << 20)];
    let quota = Value::AtMost(50_000);
    let version_1 = vec![
        (CpuShares, Value::Weight(2048)),
        (CpuQuota, quota),
        (MemoryLimit, bytes),
        (WriteThrottle(DISK), throttled),
    ];
    let version_2 = vec![
        (CpuWeight, Value::Weight(200)),
        (CpuMax, quota),
        (MemoryMax, bytes),
        (MemoryHigh, Value::AtMost(224 << 20)),
        (IoMaxWrite(DISK), throttled),
    ];
    for (host, expected) in [("v1-separate", version_1), ("v2-bare", version_2)] {
        let copy = tempfile::tempdir().unwrap();
        for file in fs::read_dir(group(host)).unwrap().flatten() {
            fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        assert_eq!(limits_of(copy.path()), expected, "{host}");
        let mut files = KernelFiles::default();
        for (file, _) in expected {
            files.write(copy.path(), file, file.lifted()).unwrap();
        }
        assert_eq!(limits_of(copy.path()), [], "{host}");
    }
}
