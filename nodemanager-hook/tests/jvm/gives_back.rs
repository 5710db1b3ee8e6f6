//! Real JVMs give memory back, grow again and are restored.

use std::time::Duration;

use elastane_agent::jvm::{Collector, Flag, Former, JvmCommand, Wish};

use crate::{
    java::{self, MIB, Workload, wait_until},
    shrink,
};

/// A JVM with 50 MB live after a peak of 600 MB.
fn after_a_peak(options: &str) -> Workload {
    let mut workload = Workload::start(options);
    workload.hold(600);
    workload.hold(50);
    assert!(workload.resident_mib() > 500);
    workload
}

#[test]
fn g1_gives_memory_back_grows_again_and_is_restored_after_a_crash() {
    let mut workload = after_a_peak("-Xmx700m -XX:+UseG1GC");
    let control = workload.control();
    let former = control.former().unwrap();
    control.carry_out(shrink(100), &former).unwrap();
    // The first periodic collection leaves 140 to 160 MB of more than 650 MB. The next one comes
    // after the JVM was idle for 3 s, which a busy machine delays.
    let took = workload.wait_for_resident("G1 gives back", |mib| mib < 200);
    assert!(took < Duration::from_secs(10), "{took:?}");
    workload.hold(500);
    assert!(workload.resident_mib() > 500, "the JVM could not grow");
    // The journal is enough for another agent.
    let journal = serde_json::to_string(&former).unwrap();
    drop(control);
    let kept: Former = serde_json::from_str(&journal).unwrap();
    let control = workload.control();
    assert_ne!(control.former().unwrap(), kept);
    control.carry_out(Wish::Restore, &kept).unwrap();
    assert_eq!(control.former().unwrap(), kept);
    assert_eq!(kept.flags[&Flag::MinHeapFreeRatio], 40);
}

/// Sets a soft bound of 100 MiB until less than `most_mib` are resident, and lets the JVM grow
/// again.
fn follows_a_soft_bound(workload: &mut Workload, what: &str, most_mib: u64) {
    let control = workload.control();
    let former = control.former().unwrap();
    let sent = control.carry_out(shrink(100), &former).unwrap();
    let bound = JvmCommand::SetFlag { flag: Flag::SoftMaxHeapSize, value: 100 * MIB };
    assert_eq!(sent, [bound]);
    workload.wait_for_resident(what, |mib| mib < most_mib);
    let heap_bytes = 900 * MIB;
    control.carry_out(Wish::Grow { heap_bytes }, &former).unwrap();
    assert_eq!(control.former().unwrap(), former);
    // Holding this much shows that the JVM could grow. The collector remaps pages while the kernel
    // counts them, so a single reading may miss some.
    workload.hold(500);
    workload.wait_for_resident("the held memory is resident", |mib| mib > 500);
}

#[test]
fn zgc_gives_memory_back_and_grows_again() {
    let options = "-Xmx700m -XX:+UseZGC -XX:ZUncommitDelay=1";
    let mut workload = after_a_peak(options);
    let again = workload.find().mapped_again_bytes().unwrap() / MIB;
    let counted = workload.status("VmRSS:");
    let counted = counted.trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024;
    let resident = workload.resident_mib();
    let once = counted.saturating_sub(again);
    println!("ZGC: {counted} MiB mapped, {again} again, {resident} resident");
    assert!(once.abs_diff(resident) <= resident / 5, "{once} counted, {resident} resident");
    follows_a_soft_bound(&mut workload, "ZGC gives back", 150);
}

#[test]
fn shenandoah_gives_memory_back_and_grows_again() {
    let options = "-Xmx700m -XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC";
    if !java::starts_with(options) {
        return; // Not every JDK has Shenandoah.
    }
    let mut workload = after_a_peak(options);
    assert_eq!(workload.control().kind.collector, Collector::Shenandoah);
    follows_a_soft_bound(&mut workload, "Shenandoah gives back", 350);
}

#[test]
fn serial_gives_memory_back_in_collections() {
    let mut workload = after_a_peak("-Xms32m -Xmx700m -XX:+UseSerialGC");
    let control = workload.control();
    let former = control.former().unwrap();
    control.carry_out(shrink(100), &former).unwrap();
    wait_until("Serial gives back", || {
        workload.own_figures(); // After a collection.
        workload.resident_mib() < 150
    });
}
