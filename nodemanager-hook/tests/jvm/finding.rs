//! JVMs are found among processes, and commanded by a thread.

use std::{
    fs, io,
    time::{Duration, Instant},
};

use elastane_agent::jvm::{
    AttachError, Attempts, Jvm, JvmAnswer, JvmJob, JvmTask, Jvms, ProcessKey, Wish,
};
use nix::sys::signal::Signal;

use crate::{
    error_of,
    java::{Workload, host, wait_until},
};

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
fn a_jvm_that_failed_is_left_alone_but_restored_all_the_same() {
    let workload = Workload::start("-Xmx64m");
    let attempts = Attempts::default();
    let attempt = |task| attempts.make(&JvmJob { control: workload.control(), task }).result;
    let error_of = |task| attempt(task).unwrap_err().source;
    let Ok(JvmAnswer::Remembered(former)) = attempt(JvmTask::Remember) else {
        panic!("no flags were remembered");
    };
    workload.signal(Signal::SIGSTOP);
    wait_until("the JVM is stopped", || workload.status("State:").starts_with('T'));
    let stopped = error_of(JvmTask::Remember);
    assert!(matches!(stopped, AttachError::Stopped { .. }), "{stopped}");
    let left_alone = error_of(JvmTask::Remember);
    assert!(matches!(left_alone, AttachError::BackedOff { .. }), "{left_alone}");
    workload.signal(Signal::SIGCONT);
    let restored = attempt(JvmTask::CarryOut { wish: Wish::Restore, former });
    assert!(matches!(restored, Ok(JvmAnswer::CarriedOut(Wish::Restore, _))));
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
        let mut jvms = Jvms::default();
        assert!(jvms.update(&[&[key_of(pid)]], start, find).is_empty());
        let is_jvm = jvms.get_mut(pid).is_some();
        fs::write(path.join("open"), "").unwrap();
        (jvms, is_jvm)
    });
    let workload = Workload::start_by_script(&script);
    let (mut jvms, was_jvm) = first_look.join().unwrap();
    assert!(!was_jvm);
    let pid = workload.pid();
    let key = key_of(pid);
    jvms.update(&[&[key]], start + Duration::from_millis(900), find);
    assert!(jvms.get_mut(pid).is_none(), "the process was examined before it was due");
    jvms.update(&[&[key]], start + Duration::from_millis(1000), find);
    assert!(jvms.get_mut(pid).is_some_and(|jvm| jvm.has_counters()));
    let start_ticks = key.start_ticks + 1;
    let other = ProcessKey { pid, start_ticks };
    jvms.update(&[&[other]], start + Duration::from_secs(2), find);
    assert!(jvms.get_mut(pid).is_none(), "the JVM belongs to another process");
}

fn find(key: ProcessKey) -> io::Result<Option<Jvm>> {
    Jvm::find(&host(), key.pid)
}

#[test]
fn many_processes_of_one_container_wait_for_their_turn_and_hold_up_no_other() {
    let key = |pid| ProcessKey { pid, start_ticks: 1 };
    let many: Vec<ProcessKey> = (1..=1000).map(key).collect();
    let mut jvms = Jvms::default();
    let start = Instant::now();
    let mut looked_at = Vec::new();
    let mut round = |second: u64| {
        looked_at.clear();
        let containers: [&[ProcessKey]; 2] = [&many, &[key(2000)]];
        let now = start + Duration::from_secs(second);
        jvms.update(&containers, now, |key| {
            looked_at.push(key.pid);
            Ok(None)
        });
        looked_at.clone()
    };
    let first = round(0);
    assert_eq!((first.len(), first.contains(&2000)), (5, true));
    let second = round(1);
    assert!(
        second.contains(&2000) && second.iter().all(|pid| *pid == 2000 || !first.contains(pid))
    );
}

fn key_of(pid: u32) -> ProcessKey {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1;
    let start_ticks = fields.split(' ').nth(19).unwrap().parse().unwrap();
    ProcessKey { pid, start_ticks }
}
