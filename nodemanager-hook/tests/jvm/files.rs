//! The counters and the socket of a JVM, and files in their place.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
};

use elastane_agent::jvm::{AttachError, Collector, Wish};
use nix::unistd::{Uid, chown};

use crate::{
    error_of,
    java::{MIB, Workload, host, wait_until},
    shrink, socket_of, was_left_alone,
};

const NOBODY: Uid = Uid::from_raw(65534);

#[test]
fn the_counters_agree_with_the_jvms_own_figures() {
    for (option, collector) in [
        ("-XX:+UseSerialGC", Collector::Serial),
        ("-XX:+UseParallelGC", Collector::Parallel),
        ("-XX:+UseG1GC", Collector::G1),
        ("-XX:+UseZGC", Collector::Z),
    ] {
        let mut workload = Workload::start(&format!("-Xmx256m {option}"));
        let mut jvm = workload.find();
        let data = jvm.data().unwrap();
        assert_eq!((data.collector, data.java_version), (collector, 17));
        workload.hold(40);
        // The JVM copies some counters to the file each 50 ms. A collection at any time changes its
        // own figures.
        wait_until(&format!("{option}: its own figures in the counters"), || {
            let own = workload.own_figures();
            let heap = jvm.heap().unwrap().unwrap();
            // Serial and Parallel leave one survivor space out.
            heap.used_bytes.abs_diff(own[0]) <= 3 * MIB
                && heap.committed_bytes.abs_diff(own[1]) <= 16 * MIB
        });
    }
}

#[test]
fn only_the_jvms_own_socket_is_accepted() {
    let mut workload = Workload::start("-Xmx64m");
    let control = workload.control();
    let socket = socket_of(&workload);
    let message = || error_of(control.former()).to_string();

    let directory = tempfile::tempdir().unwrap();
    let elsewhere = directory.path().join("socket");
    let listener = UnixListener::bind(&elsewhere).unwrap();
    listener.set_nonblocking(true).unwrap();
    symlink(&elsewhere, &socket).unwrap();
    assert!(message().ends_with("is a link, or is not a socket"), "{}", message());
    fs::remove_file(&socket).unwrap();

    fs::write(&socket, "").unwrap();
    assert!(message().ends_with("is a link, or is not a socket"), "{}", message());
    fs::remove_file(&socket).unwrap();

    // The right user, but not the JVM.
    fs::hard_link(&elsewhere, &socket).unwrap();
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::OtherPeer { .. }), "{error}");
    let _ = listener.accept().unwrap();

    chown(&socket, Some(NOBODY), None).unwrap();
    assert!(message().contains("belongs to uid 65534"), "{}", message());
    fs::remove_file(&socket).unwrap();
    assert!(listener.accept().is_err(), "the agent connected to another process");
    was_left_alone(&mut workload);
    control.former().unwrap();
}

#[test]
fn counters_that_are_not_the_jvms_own_are_refused() {
    let workload = Workload::start("-Xmx64m");
    let user = fs::read_dir("/tmp").unwrap().flatten().find_map(|entry| {
        let file = entry.path().join(workload.pid().to_string());
        let is_perf = entry.file_name().to_string_lossy().starts_with("hsperfdata_");
        (is_perf && file.exists()).then_some(file)
    });
    let file = user.unwrap();
    let mut jvm = workload.find();
    // The job truncates its own file.
    let copy = fs::read(&file).unwrap();
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(40).unwrap();
    assert!(jvm.heap().is_err());
    fs::remove_file(&file).unwrap();
    // The JVM has not mapped another file of the same name.
    fs::write(&file, copy).unwrap();
    assert!(!workload.find().has_counters());
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    assert!(!workload.find().has_counters());
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_jvm_of_another_user_in_other_namespaces_takes_commands() {
    let mut workload = Workload::start_by_script(
        "exec unshare --pid --fork --mount sh -c 'mount --bind . /mnt && \
         mount -t tmpfs tmpfs /tmp && cd /mnt && \
         exec setpriv --reuid=65534 --regid=65534 --clear-groups java -Xmx64m \"$@\"' sh \"$@\"",
    );
    assert_ne!(workload.status("NSpid:"), workload.pid().to_string());
    let mut jvm = workload.find();
    assert!(jvm.heap().unwrap().unwrap().committed_bytes > 0);
    let control = jvm.control(&host()).unwrap();
    let former = control.former().unwrap();
    control.carry_out(shrink(10), &former).unwrap();
    control.carry_out(Wish::Restore, &former).unwrap();
    assert_eq!(control.former().unwrap(), former);
    let tmp = fs::read_dir(format!("/proc/{}/root/tmp", workload.pid())).unwrap();
    let left =
        tmp.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(".attach_pid"));
    assert!(!left, "a trigger file was left");
    workload.own_figures();
}
