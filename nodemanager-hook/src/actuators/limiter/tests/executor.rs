//! Limits in groups of the container executor, which get their values back.

use super::*;
use crate::sensors::page_bytes;

#[test]
fn an_executors_group_gets_its_values_back_even_after_a_crash() {
    let tree = Tree::new(Version::One);
    tree.set("cpu.shares", "3000");
    tree.set("cpu.cfs_quota_us", "50000");
    tree.set("memory.limit_in_bytes", "1073741824");
    let before = tree.texts(V1);
    let mut bench = Bench::new(&tree, Owner::ContainerExecutor);
    assert_eq!(bench.apply(&Limits::default(), 0), 0);
    bench.apply(&all(), 100 * MIB);
    assert_eq!(tree.text("cpu.shares"), "2048");
    assert_eq!(tree.journal().all_former().count(), 5);
    // A cap looser than the executor's leaves the executor's in force.
    bench.apply(&cpu(1.0, Some(0.8)), 100 * MIB);
    let texts = tree.texts(["cpu.shares", "cpu.cfs_quota_us", "memory.limit_in_bytes"]);
    assert_eq!(texts, ["1024", "50000", "1073741824"]);
    bench.apply(&Limits::default(), 100 * MIB);
    assert_eq!(tree.texts(V1)[..3], before[..3]);
    assert_eq!(tree.text("blkio.throttle.read_bps_device"), "8:0 0");
    assert_eq!(tree.journal().all_former().count(), 0);
}

#[test]
fn what_others_wrote_to_an_executors_file_meanwhile_stays() {
    let tree = Tree::new(Version::One);
    tree.set("cpu.shares", "3000");
    let mut bench = Bench::new(&tree, Owner::ContainerExecutor);
    bench.apply(&cpu(2.0, Some(0.3)), 0);
    tree.set("cpu.shares", "5000");
    bench.apply(&Limits::default(), 0);
    assert_eq!(tree.texts(["cpu.shares", "cpu.cfs_quota_us"]), ["5000", "-1"]);
    assert_eq!(tree.journal().all_former().count(), 0);
}

#[test]
fn an_executors_memory_limit_gets_its_value_back_also_a_page_above_the_agents() {
    let tree = Tree::new(Version::One);
    let (file, former) = ("memory.limit_in_bytes", 200 * MIB + page_bytes());
    tree.set(file, &former.to_string());
    let mut bench = Bench::new(&tree, Owner::ContainerExecutor);
    let planned = Limits { memory_bytes: Some(200 * MIB), ..Limits::default() };
    bench.apply(&planned, 20 * MIB);
    assert_eq!(tree.text(file), (200 * MIB).to_string());
    bench.apply(&Limits::default(), 20 * MIB);
    assert_eq!(tree.text(file), former.to_string());
}

#[test]
fn an_executors_file_gets_its_value_back_after_writes_that_failed() {
    let tree = Tree::new(Version::One);
    tree.set("cpu.shares", "3000");
    let mut bench = Bench::new(&tree, Owner::ContainerExecutor);
    bench.apply(&cpu(2.0, None), 0);
    for cores in [4.0, 8.0] {
        let (files, journal) = (&mut bench.files, &mut bench.journal);
        let steps = bench.limiter.steps(&cpu(cores, None), UNMEASURED, files, journal);
        assert!(steps.iter().all(Result::is_ok) && !steps.is_empty());
    }
    assert_eq!(tree.text("cpu.shares"), "2048");
    bench.apply(&Limits::default(), 0);
    assert_eq!(tree.text("cpu.shares"), "3000");
}

#[test]
fn a_lifted_limit_of_the_executor_has_a_change_also_if_a_thread_has_not_written_it_yet() {
    let planned = Limits { memory_bytes: Some(160 * MIB), ..Limits::default() };
    let (file, former) = ("memory.limit_in_bytes", 800 * MIB);
    for (shown, is_followed) in [(former, true), (160 * MIB, true), (500 * MIB, false)] {
        let tree = Tree::new(Version::One);
        tree.set(file, &former.to_string());
        let mut bench = Bench::new(&tree, Owner::ContainerExecutor);
        bench.apply(&planned, 20 * MIB);
        tree.set(file, &shown.to_string());
        let (files, journal) = (&mut bench.files, &mut bench.journal);
        let steps = bench.limiter.steps(&Limits::default(), UNMEASURED, files, journal);
        let changes: Vec<Change> =
            steps.into_iter().flat_map(|step| step.unwrap().changes).collect();
        let value = Value::AtMost(former);
        let change = Change { group: tree.group(), file: LimitFile::MemoryLimit, value };
        assert_eq!(changes, if is_followed { vec![change] } else { vec![] }, "{shown}");
    }
}
