//! Real JVMs: their counters, how they give memory back, and which processes are sent nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

#[path = "common/java.rs"]
mod java;

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use elastane_agent::jvm::{
    Answer, AttachError, Collector, Command, ControlError, Flag, Former, Job, Jvm, Jvms, QueueFull,
    Recipe, Task, Wish, Worker,
};
use java::{MIB, Workload, host, wait_until};
use nix::{
    sys::signal::Signal,
    unistd::{Uid, chown},
};

const NOBODY: Uid = Uid::from_raw(65534);

fn shrink(heap_mib: u64) -> Wish {
    Wish::Shrink {
        heap_bytes: heap_mib * MIB,
        used_bytes: 600 * MIB,
        may_collect: false,
    }
}

fn socket_of(workload: &Workload) -> PathBuf {
    format!("/tmp/.java_pid{}", workload.pid()).into()
}

fn error_of<T: std::fmt::Debug>(result: Result<T, ControlError>) -> AttachError {
    let error = result.unwrap_err();
    assert!(error.sent.is_empty());
    error.source
}

/// Checks that the JVM runs, got no SIGQUIT and has no trigger file.
fn was_left_alone(workload: &mut Workload) {
    for pending in ["SigPnd:", "ShdPnd:"] {
        assert_eq!(workload.status(pending), "0000000000000000");
    }
    assert!(workload.is_alive());
    workload.own_figures();
    // A JVM that finds no trigger file prints its threads.
    assert_eq!(workload.other_lines(), Vec::<String>::new());
    assert!(!Path::new(&format!("/tmp/.attach_pid{}", workload.pid())).exists());
}

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
    let bound = Command::SetFlag {
        flag: Flag::SoftMaxHeapSize,
        value: 100 * MIB,
    };
    assert_eq!(sent, Recipe::Send(vec![bound]));
    workload.wait_for_resident(what, |mib| mib < most_mib);
    let heap_bytes = 900 * MIB;
    control
        .carry_out(Wish::Grow { heap_bytes }, &former)
        .unwrap();
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
    let counted = counted
        .trim_end_matches(" kB")
        .trim()
        .parse::<u64>()
        .unwrap()
        / 1024;
    let resident = workload.resident_mib();
    let once = counted.saturating_sub(again);
    println!("ZGC: {counted} MiB mapped, {again} again, {resident} resident");
    assert!(
        once.abs_diff(resident) <= resident / 5,
        "{once} counted, {resident} resident"
    );
    follows_a_soft_bound(&mut workload, "ZGC gives back", 150);
}

#[test]
fn shenandoah_gives_memory_back_and_grows_again() {
    let options = "-Xmx700m -XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC";
    if !java::starts_with(options) {
        return; // Not every JDK has Shenandoah.
    }
    let mut workload = after_a_peak(options);
    assert_eq!(workload.control().kind().collector, Collector::Shenandoah);
    follows_a_soft_bound(&mut workload, "Shenandoah gives back", 350);
}

#[test]
fn serial_gives_memory_back_in_collections() {
    let workload = after_a_peak("-Xms32m -Xmx700m -XX:+UseSerialGC");
    let control = workload.control();
    let former = control.former().unwrap();
    let wish = Wish::Shrink {
        heap_bytes: 100 * MIB,
        used_bytes: 600 * MIB,
        may_collect: true,
    };
    wait_until("Serial gives back", || {
        control.carry_out(wish, &former).unwrap();
        workload.resident_mib() < 150
    });
}

#[test]
fn parallel_is_left_alone() {
    let mut workload = Workload::start("-Xmx64m -XX:+UseParallelGC");
    let control = workload.control();
    assert_eq!(control.kind().collector, Collector::Parallel);
    let former = control.former().unwrap();
    for wish in [shrink(10), Wish::Hold, Wish::Restore] {
        let recipe = control.carry_out(wish, &former).unwrap();
        assert!(matches!(recipe, Recipe::LeaveAlone(_)), "{recipe:?}");
    }
    assert!(!socket_of(&workload).exists());
    was_left_alone(&mut workload);
}

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
        wait_until(
            &format!("{option}: its own figures in the counters"),
            || {
                let own = workload.own_figures();
                let heap = jvm.heap().unwrap().unwrap();
                // Serial and Parallel leave one survivor space out.
                heap.used_bytes.abs_diff(own[0]) <= 3 * MIB
                    && heap.committed_bytes.abs_diff(own[1]) <= 16 * MIB
                    && heap.max_bytes.abs_diff(own[2]) <= 16 * MIB
            },
        );
    }
}

#[test]
fn a_jvm_without_counters_is_found_and_left_alone() {
    let workload = Workload::start("-Xmx64m -XX:-UsePerfData");
    let mut jvm = workload.find();
    assert!(!jvm.has_counters());
    assert_eq!(jvm.heap().unwrap(), None);
    assert!(jvm.control(&host()).is_none());
}

#[test]
fn a_stopped_jvm_is_sent_nothing() {
    let mut workload = Workload::start("-Xmx64m");
    let control = workload.control();
    workload.signal(Signal::SIGSTOP);
    wait_until("the JVM is stopped", || {
        workload.status("State:").starts_with('T')
    });
    let begun = Instant::now();
    let error = error_of(control.former());
    assert!(
        matches!(error, AttachError::Stopped { state: 'T', .. }),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_millis(200));
    assert_eq!(workload.status("ShdPnd:"), "0000000000000000");
    workload.signal(Signal::SIGCONT);
    was_left_alone(&mut workload);
    control.former().unwrap();
}

#[test]
fn a_frozen_jvm_is_sent_nothing() {
    let version_1 = Path::new("/sys/fs/cgroup/freezer");
    let (root, file, frozen, thawed) = if version_1.exists() {
        (version_1, "freezer.state", "FROZEN", "THAWED")
    } else {
        (Path::new("/sys/fs/cgroup"), "cgroup.freeze", "1", "0")
    };
    let group = root.join(format!("elastane-jvm-test-{}", std::process::id()));
    let mut workload = Workload::start("-Xmx64m");
    let control = workload.control();
    let home = Home::enter(&group, workload.pid());
    fs::write(group.join(file), frozen).unwrap();
    wait_until("the JVM is frozen", || {
        let events = fs::read_to_string(group.join("cgroup.events"));
        let state = fs::read_to_string(group.join(file)).unwrap();
        state.trim() == frozen && events.is_ok_and(|events| events.contains("frozen 1"))
            || state == "FROZEN\n"
    });
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::Frozen { .. }), "{error}");
    fs::write(group.join(file), thawed).unwrap();
    drop(home);
    was_left_alone(&mut workload);
}

/// A group with one process, which is moved back at the end.
struct Home<'a> {
    group: &'a Path,
    pid: u32,
}

impl<'a> Home<'a> {
    fn enter(group: &'a Path, pid: u32) -> Self {
        fs::create_dir(group).unwrap();
        fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
        Self { group, pid }
    }
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let _ = fs::write(self.group.join("freezer.state"), "THAWED");
        let _ = fs::write(self.group.join("cgroup.freeze"), "0");
        let parent = self.group.parent().unwrap();
        let _ = fs::write(parent.join("cgroup.procs"), self.pid.to_string());
        let _ = fs::remove_dir(self.group);
    }
}

#[test]
fn a_jvm_without_a_handler_or_without_attach_is_sent_nothing() {
    // With -Xrs a JVM listens from the start and catches no signal.
    let mut workload = Workload::start("-Xmx64m -Xrs");
    let control = workload.control();
    control.former().unwrap();
    fs::remove_file(socket_of(&workload)).unwrap();
    assert!(!catches_quit(workload.pid()));
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::NoHandler { .. }), "{error}");
    was_left_alone(&mut workload);
    drop(workload);
    let mut workload = Workload::start("-Xmx64m -XX:+DisableAttachMechanism");
    let error = error_of(workload.control().former());
    assert!(matches!(error, AttachError::Disabled { .. }), "{error}");
    was_left_alone(&mut workload);
}

#[test]
fn catching_sigquit_does_not_make_a_process_a_jvm() {
    // A shell in the background ignores SIGQUIT, and its children could not catch the signal.
    let mut child = std::process::Command::new("env")
        .args(["--default-signal=QUIT", "sh"])
        .args(["-c", "trap : QUIT; echo ready; read line"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the handler is set", || catches_quit(child.id()));
    assert!(Jvm::find(&host(), child.id()).unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Jvm::find(&host(), child.id()).unwrap().is_none());
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
    assert!(
        message().ends_with("is a link, or is not a socket"),
        "{}",
        message()
    );
    fs::remove_file(&socket).unwrap();

    fs::write(&socket, "").unwrap();
    assert!(
        message().ends_with("is a link, or is not a socket"),
        "{}",
        message()
    );
    fs::remove_file(&socket).unwrap();

    // The right user, but not the JVM.
    fs::hard_link(&elsewhere, &socket).unwrap();
    let error = error_of(control.former());
    assert!(matches!(error, AttachError::OtherPeer { .. }), "{error}");
    let _ = listener.accept().unwrap();

    chown(&socket, Some(NOBODY), None).unwrap();
    assert!(message().contains("belongs to uid 65534"), "{}", message());
    fs::remove_file(&socket).unwrap();
    assert!(
        listener.accept().is_err(),
        "the agent connected to another process"
    );
    was_left_alone(&mut workload);
    control.former().unwrap();
}

#[test]
fn counters_that_are_not_the_jvms_own_are_refused() {
    let workload = Workload::start("-Xmx64m");
    let user = fs::read_dir("/tmp").unwrap().flatten().find_map(|entry| {
        let file = entry.path().join(workload.pid().to_string());
        let is_perf = entry
            .file_name()
            .to_string_lossy()
            .starts_with("hsperfdata_");
        (is_perf && file.exists()).then_some(file)
    });
    let file = user.unwrap();
    let mut jvm = workload.find();
    // The job truncates its own file.
    let copy = fs::read(&file).unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(40)
        .unwrap();
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
    assert!(jvm.heap().unwrap().unwrap().max_bytes >= 60 * MIB);
    let control = jvm.control(&host()).unwrap();
    let former = control.former().unwrap();
    control.carry_out(shrink(10), &former).unwrap();
    control.carry_out(Wish::Restore, &former).unwrap();
    assert_eq!(control.former().unwrap(), former);
    let tmp = fs::read_dir(format!("/proc/{}/root/tmp", workload.pid())).unwrap();
    let left = tmp.flatten().any(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with(".attach_pid")
    });
    assert!(!left, "a trigger file was left");
    workload.own_figures();
}

#[test]
fn former_flags_of_another_process_are_refused() {
    let mut workload = Workload::start("-Xmx64m");
    let control = workload.control();
    let mut former = control.former().unwrap();
    former.start_ticks += 1;
    let error = error_of(control.carry_out(Wish::Restore, &former));
    assert!(matches!(error, AttachError::OtherProcess { .. }), "{error}");
    workload.own_figures();
}

#[test]
fn a_worker_reports_each_job_and_backs_off_after_a_failure() {
    let workload = Workload::start("-Xmx64m");
    let worker = Worker::start(2).unwrap();
    let submit = |task| {
        let control = workload.control();
        worker.submit(Job { control, task })
    };
    let next = || {
        let mut done = worker.collect_all(Duration::from_secs(10));
        assert_eq!(done.len(), 1);
        done.remove(0).result
    };
    submit(Task::Remember).unwrap();
    let Ok(Answer::Remembered(former)) = next() else {
        panic!("no flags were remembered");
    };
    workload.signal(Signal::SIGSTOP);
    wait_until("the JVM is stopped", || {
        workload.status("State:").starts_with('T')
    });
    submit(Task::Remember).unwrap();
    submit(Task::Remember).unwrap();
    assert_eq!(submit(Task::Remember), Err(QueueFull { waiting: 2 }));
    let failed = worker.collect_all(Duration::from_secs(10));
    let errors: Vec<AttachError> = failed
        .into_iter()
        .map(|done| done.result.unwrap_err().source)
        .collect();
    assert!(
        matches!(errors[0], AttachError::Stopped { .. }),
        "{errors:?}"
    );
    assert!(
        matches!(errors[1], AttachError::BackedOff { .. }),
        "{errors:?}"
    );
    workload.signal(Signal::SIGCONT);
    // A restore is carried out all the same.
    let wish = Wish::Restore;
    submit(Task::CarryOut { wish, former }).unwrap();
    assert!(matches!(next(), Ok(Answer::CarriedOut(Wish::Restore, _))));
}

#[test]
fn a_shell_that_becomes_a_jvm_is_found_when_it_is_due() {
    let gate = tempfile::tempdir().unwrap();
    let path = gate.path().to_owned();
    let script = format!(
        "echo $$ > {gate}/pid.new && mv {gate}/pid.new {gate}/pid; \
         until [ -e {gate}/open ]; do sleep 0.02; done; exec java -Xmx64m \"$@\"",
        gate = path.display()
    );
    let start = Instant::now();
    let first_look = std::thread::spawn(move || {
        wait_until("the shell runs", || path.join("pid").exists());
        let pid = fs::read_to_string(path.join("pid")).unwrap();
        let pid: u32 = pid.trim().parse().unwrap();
        let mut jvms = Jvms::new(host());
        assert!(jvms.update([(pid, start_ticks(pid))], start).is_empty());
        let is_jvm = jvms.get_mut(pid).is_some();
        fs::write(path.join("open"), "").unwrap();
        (jvms, is_jvm)
    });
    let workload = Workload::start_by_script(&script);
    let (mut jvms, was_jvm) = first_look.join().unwrap();
    assert!(!was_jvm);
    let pid = workload.pid();
    let name = (pid, start_ticks(pid));
    jvms.update([name], start + Duration::from_millis(900));
    assert!(
        jvms.get_mut(pid).is_none(),
        "the process was examined before it was due"
    );
    jvms.update([name], start + Duration::from_millis(1000));
    assert!(jvms.get_mut(pid).is_some_and(|jvm| jvm.has_counters()));
    jvms.update([(pid, name.1 + 1)], start + Duration::from_secs(2));
    assert!(
        jvms.get_mut(pid).is_none(),
        "the JVM belongs to another process"
    );
    assert_eq!(jvms.iter_mut().count(), 0);
}

fn catches_quit(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:\t"));
    u64::from_str_radix(mask.unwrap(), 16).unwrap() & 0x4 != 0
}

fn start_ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1;
    fields.split(' ').nth(19).unwrap().parse().unwrap()
}

/// Prints the costs for `docs/measurements/jvm.md`.
#[test]
#[ignore = "a measurement for release builds"]
fn cost_of_a_jvm() {
    let workload = Workload::start("-Xmx64m");
    let mut jvm = workload.find();
    let control = workload.control();
    let begun = Instant::now();
    let former = control.former().unwrap();
    let first_us = begun.elapsed().as_micros();
    let per_call_us = |count: u32, call: &mut dyn FnMut()| {
        let begun = Instant::now();
        (0..count).for_each(|_| call());
        begun.elapsed().as_micros() as f64 / f64::from(count)
    };
    let find_us = per_call_us(200, &mut || assert!(workload.find().has_counters()));
    let heap_us = per_call_us(2000, &mut || assert!(jvm.heap().unwrap().is_some()));
    let command_us = per_call_us(200, &mut || {
        control.carry_out(Wish::Hold, &former).unwrap();
    });
    println!(
        "jvm find_us={find_us:.0} heap_us={heap_us:.1} command_us={command_us:.0} \
         first_flags_us={first_us}"
    );
}
