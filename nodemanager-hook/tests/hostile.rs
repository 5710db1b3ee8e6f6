//! Containers that could make the agent large or slow.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use common::{Agent, Parent, Tree, runs_as_unit, times_slower, wait_until};

const MOST_RESIDENT_BYTES: u64 = 20 << 20;
const MOST_LATE: Duration = Duration::from_millis(200);
const STEPS: u32 = 40;
const STEP_MS: u32 = 250;

/// Held by the test whose container is hostile.
static ALONE: Mutex<()> = Mutex::new(());

/// How late the agent took the steps of a plan of another container, which alternates each quarter of a second, by its
/// audit. The longest delay first.
fn delays_of_steps(agent: &Agent, tree: &Tree) -> Vec<Duration> {
    let cap = |number: u32| if number.is_multiple_of(2) { 0.1 } else { 0.2 };
    let steps: Vec<(u32, f32, Option<f32>)> =
        (0..STEPS).map(|number| (number * STEP_MS, 1.0, Some(cap(number)))).collect();
    let before = agent.audited_ms(tree).len();
    agent.apply(60_000, vec![tree.plan(&steps)]);
    wait_until("all steps are taken", || agent.audited_ms(tree).len() >= before + steps.len());
    let taken = &agent.audited_ms(tree)[before..];
    let due = |number: usize| taken[0] + u64::from(STEP_MS) * number as u64;
    let late =
        |(number, taken): (usize, &u64)| Duration::from_millis(taken.saturating_sub(due(number)));
    let mut delays: Vec<Duration> = taken.iter().enumerate().map(late).collect();
    delays.sort_unstable_by(|one, other| other.cmp(one));
    delays
}

fn assert_agent_is_small_and_on_time(agent: &Agent, other: &Tree) {
    let delays = delays_of_steps(agent, other);
    // The longest may be due to a busy machine.
    assert!(delays[1] < MOST_LATE * times_slower(), "{delays:?}");
    let resident = agent.resident_bytes();
    assert!(resident < MOST_RESIDENT_BYTES, "{resident}");
    wait_until("samples", || {
        let report = agent.report();
        let containers = report.containers.iter();
        containers.filter(|one| one.samples.last().is_some()).count() == 2
    });
}

#[test]
fn a_thousand_processes_that_look_like_jvms_make_the_agent_neither_large_nor_slow() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("libjvm.so");
    std::fs::write(&library, [0; 4096]).unwrap();
    let count = 1000 / times_slower();
    // Half of them are stopped. A file of counters that they all have mapped is larger than is read.
    let script = format!(
        "exec python3 -c '
import mmap, os, signal, time
library = open(\"{library}\", \"rb\")
held = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
for number in range({count}):
    if os.fork() == 0:
        folder = \"{directory}/hsperfdata_x\"
        os.makedirs(folder, exist_ok=True)
        name = folder + \"/\" + str(os.getpid())
        with open(name, \"wb\") as file: file.truncate(1 << 30)
        counters = mmap.mmap(os.open(name, os.O_RDONLY), 0, prot=mmap.PROT_READ)
        if number % 2: os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(600)
time.sleep(600)'",
        library = library.display(),
        directory = directory.path().display()
    );
    let (hostile, other) = (Tree::new(&script), Tree::new("sleep 600"));
    let all = usize::try_from(count).unwrap() + 1;
    wait_until("they run", || hostile.processes().len() == all);
    agent.runs(&[&hostile, &other]);
    assert_agent_is_small_and_on_time(&agent, &other);
}

#[test]
fn a_container_that_forks_without_end_makes_the_agent_neither_large_nor_slow() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(parent), Some(service), Some(jobs)) =
        (Parent::new(), Parent::unrestricted(), Parent::unrestricted())
    else {
        return;
    };
    let agent = Agent::start(&parent.name);
    // As where systemd runs both as services.
    if !runs_as_unit() {
        service.hold_process(agent.pid());
    }
    let held = format!("until grep -q {} /proc/self/cgroup; do sleep 0.1; done;", jobs.name);
    let forks = "(while :; do /bin/true; done) &";
    let hostile = Tree::new(&format!("{held} {} wait", forks.repeat(20)));
    jobs.hold(&hostile);
    wait_until("it forks", || hostile.processes().len() > 20);
    let other = Tree::new("sleep 600");
    agent.runs(&[&hostile, &other]);
    assert_agent_is_small_and_on_time(&agent, &other);
}
