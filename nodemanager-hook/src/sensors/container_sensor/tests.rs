use std::{fs, time::Duration};

use super::*;
use crate::sensors::{
    Counted,
    proc_fs::page_bytes,
    process::ProcessKey,
    process_table::{KernelThreads, ProcessTable},
};

/// A recorded `/proc`.
struct Recorded(tempfile::TempDir);

impl Recorded {
    fn process(&self, pid: u32, parent: u32, ticks: u64, pages: u64, disk_bytes: u64) {
        let files = self.0.path().join(pid.to_string());
        fs::create_dir_all(&files).unwrap();
        let stat =
            format!("{pid} (sh) S {parent} 10 10 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {pid} 0");
        let io = format!("read_bytes: {disk_bytes}\nwrite_bytes: 0\n");
        fs::write(files.join("stat"), stat).unwrap();
        fs::write(files.join("statm"), format!("900 {pages} 5 1 0 3 0\n")).unwrap();
        fs::write(files.join("io"), io).unwrap();
    }

    fn end(&self, pid: u32) {
        fs::remove_dir_all(self.0.path().join(pid.to_string())).unwrap();
    }

    fn read(&self, sensor: &mut ContainerSensor, now: Instant) -> Reading {
        let proc = ProcFs::new(self.0.path());
        let table = ProcessTable::scan(&proc, &mut KernelThreads::default()).unwrap();
        let root = ProcessKey { pid: 10, start_ticks: 10 };
        let tree = table.tree(root, &sensor.processes.keys());
        sensor.read_tree(&proc, &tree, &[], now).unwrap()
    }
}

const TICK_NANOSECONDS: u64 = 10_000_000;

#[test]
fn growth_is_summed_over_the_tree() {
    let recorded = Recorded(tempfile::tempdir().unwrap());
    let mut sensor = ContainerSensor::default();
    let start = Instant::now();
    recorded.process(10, 1, 100, 10, 1000);
    recorded.process(11, 10, 50, 20, 500);
    let first = recorded.read(&mut sensor, start);
    assert_eq!(first.counted, Counted::default());
    assert_eq!(first.held.resident_bytes, 30 * page_bytes());
    assert_eq!(first.held.anonymous_bytes, 20 * page_bytes());
    assert_eq!(first.held.file_bytes, 10 * page_bytes());

    recorded.process(11, 10, 70, 25, 4500);
    let second = recorded.read(&mut sensor, start + Duration::from_secs(1));
    assert_eq!(second.counted.cpu_nanoseconds, 20 * TICK_NANOSECONDS);
    assert_eq!(second.counted.disk_read_bytes, 4000);
    assert_eq!(second.held.resident_bytes, 35 * page_bytes());
    assert_eq!(second.at - second.since, Duration::from_secs(1));
}

#[test]
fn usage_of_a_reaped_child_is_counted_once() {
    let recorded = Recorded(tempfile::tempdir().unwrap());
    let mut sensor = ContainerSensor::default();
    let start = Instant::now();
    recorded.process(10, 1, 100, 10, 1000);
    recorded.process(11, 10, 50, 20, 500);
    recorded.read(&mut sensor, start);
    recorded.end(11);
    recorded.process(10, 1, 155, 10, 1600);
    let after = recorded.read(&mut sensor, start + Duration::from_secs(1));
    assert_eq!(after.counted.cpu_nanoseconds, 5 * TICK_NANOSECONDS);
    assert_eq!(after.counted.disk_read_bytes, 100);
}

/// A group with CPU time, memory and a cap.
fn group(version: Version) -> (tempfile::TempDir, MeasuredGroups) {
    let group = tempfile::tempdir().unwrap();
    let place = Some((group.path().to_owned(), version));
    let groups = MeasuredGroups {
        members: None,
        cpu: place.clone(),
        throttling: place.clone(),
        memory: place.clone(),
        came_later: true,
        disk: place.filter(|_| version == Version::Two),
    };
    (group, groups)
}

#[test]
fn a_group_of_version_1_is_read_for_cpu_memory_and_throttling() {
    let recorded = Recorded(tempfile::tempdir().unwrap());
    recorded.process(10, 1, 100, 20_005, 1000);
    let (group, groups) = group(Version::One);
    let write = |usage: u64, throttled: u64, pages: u64| {
        let stat = format!("nr_throttled {throttled}\nthrottled_time {throttled}000000\n");
        let bytes = pages * page_bytes();
        let memory = format!("total_cache 7\ntotal_rss {bytes}\ntotal_mapped_file 1\n");
        for (name, text) in
            [("cpuacct.usage", usage.to_string()), ("cpu.stat", stat), ("memory.stat", memory)]
        {
            fs::write(group.path().join(name), text).unwrap();
        }
    };
    write(5000, 5, 2);
    let mut sensor = ContainerSensor::default();
    sensor.measure(groups).unwrap();
    let proc = ProcFs::new(recorded.0.path());
    let start = Instant::now();
    let mut read = |at: u64| {
        let now = start + Duration::from_secs(at);
        let reading = sensor.read_group(&proc, &[10, 999], &[], now);
        (reading.unwrap().unwrap(), sensor.is_charged_in_group())
    };
    // 20,000 pages of the process are anonymous; the group is charged for 2.
    let (first, is_charged) = read(0);
    assert!(!is_charged);
    assert_eq!(first.held.resident_bytes, 20_005 * page_bytes());
    write(12_000, 7, 19_000);
    let (second, is_charged) = read(1);
    assert!(is_charged);
    assert_eq!(second.counted.cpu_nanoseconds, 7000);
    assert_eq!(second.counted.throttled_nanoseconds, 2_000_000);
    assert_eq!(second.held.resident_bytes, 19_000 * page_bytes() + 1);
    assert_eq!(second.held.file_bytes, 7);
}

#[test]
fn a_group_of_version_2_is_read_for_disk_traffic_too() {
    let recorded = Recorded(tempfile::tempdir().unwrap());
    let (group, groups) = group(Version::Two);
    let write = |usage_us: u64, read: u64| {
        for (name, text) in [
            ("cpu.stat", format!("usage_usec {usage_us}\n")),
            ("memory.stat", "anon 5\nfile 6\nfile_mapped 1\n".to_owned()),
            ("io.stat", format!("8:0 rbytes={read} wbytes=1\n")),
        ] {
            fs::write(group.path().join(name), text).unwrap();
        }
    };
    write(5, 100);
    let mut sensor = ContainerSensor::default();
    sensor.measure(groups).unwrap();
    let (proc, now) = (ProcFs::new(recorded.0.path()), Instant::now());
    let disks = ["8:0".parse().unwrap()];
    let mut read = || sensor.read_group(&proc, &[], &disks, now).unwrap().unwrap();
    read();
    write(12, 150);
    let reading = read();
    assert_eq!(reading.counted.cpu_nanoseconds, 7000);
    assert_eq!(reading.counted.disk_read_bytes, 50);
    assert_eq!(reading.held.resident_bytes, 6);
}

#[test]
fn memory_between_two_readings_takes_nothing_of_the_counters() {
    let recorded = Recorded(tempfile::tempdir().unwrap());
    let (group, groups) = group(Version::Two);
    let write = |usage_us: u64, charged_bytes: u64| {
        let charged = format!("anon {charged_bytes}\nfile 0\nfile_mapped 0\n");
        fs::write(group.path().join("memory.stat"), charged).unwrap();
        fs::write(group.path().join("cpu.stat"), format!("usage_usec {usage_us}\n")).unwrap();
    };
    fs::write(group.path().join("io.stat"), "").unwrap();
    write(5, 0);
    recorded.process(10, 1, 1, 20_000, 0);
    let mut sensor = ContainerSensor::default();
    sensor.measure(groups).unwrap();
    let (proc, start) = (ProcFs::new(recorded.0.path()), Instant::now());
    assert!(sensor.read_memory(&proc).unwrap().is_none(), "before the first reading");
    sensor.read_group(&proc, &[10], &[], start).unwrap().unwrap();
    write(12, 30_000 * page_bytes());
    recorded.process(10, 1, 1, 30_000, 0);
    // Only the next reading of the counters finds one that has started since.
    recorded.process(11, 10, 1, 10_000, 0);
    let between = sensor.read_memory(&proc).unwrap().unwrap();
    assert_eq!((between.since, between.at, between.counted), (start, start, Counted::default()));
    assert_eq!(between.held.resident_bytes, 30_000 * page_bytes());
    assert!(!sensor.is_charged_in_group(), "it has not seen all processes");
    write(25, 0);
    let now = start + Duration::from_secs(3);
    let last = sensor.read_group(&proc, &[10, 11], &[], now).unwrap().unwrap();
    assert_eq!((last.since, last.at), (start, now));
    assert_eq!(last.counted.cpu_nanoseconds, 20_000);
    assert_eq!(last.held.resident_bytes, 40_000 * page_bytes());
}

#[test]
fn a_group_is_not_complete_while_processes_are_left_out() {
    let recorded = Recorded(tempfile::tempdir().unwrap());
    let (group, groups) = group(Version::Two);
    for (name, text) in
        [("cpu.stat", ""), ("io.stat", ""), ("memory.stat", "anon 5\nfile 6\nfile_mapped 1\n")]
    {
        fs::write(group.path().join(name), text).unwrap();
    }
    let mut sensor = ContainerSensor::default();
    sensor.measure(groups).unwrap();
    for left_out in [1, 0] {
        sensor.processes.left_out = left_out;
        let held = sensor.held_memory(&ProcFs::new(recorded.0.path())).unwrap();
        assert_eq!(sensor.is_charged_in_group(), left_out == 0);
        assert_eq!(held.resident_bytes, 6, "the charge, which is more than the processes read");
    }
}

#[test]
fn a_group_is_complete_with_nine_tenths_or_with_little_charged_elsewhere() {
    const GIB: u64 = 1 << 30;
    assert!(is_enough(90 * GIB, 100 * GIB) && is_enough(2 * GIB, GIB) && is_enough(0, 0));
    assert!(!is_enough(89 * GIB, 100 * GIB));
    assert!(is_enough(0, ELSEWHERE_BYTES) && !is_enough(0, ELSEWHERE_BYTES + 1));
    assert!(is_enough(u64::MAX, u64::MAX));
}
