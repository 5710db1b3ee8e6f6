//! Containers that could make the agent large or slow.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, runs_as_unit, set_shares, times_slower, wait_until};
use elastane_protocol::Sample;
use serde_json::Value;

const MOST_RESIDENT_BYTES: u64 = 20 << 20;
const MOST_LATE: Duration = Duration::from_millis(200);
const STEPS: u32 = 40;
const STEP_MS: u32 = 250;
/// Of the test's agent.
const SAMPLE_MS: u32 = 1000;

/// Held by the test whose container is hostile.
static ALONE: Mutex<()> = Mutex::new(());

/// How long this machine stood still, as a thread sees it that wants to run every 10 ms: some virtual machines do for
/// half a second now and then.
struct Stalls {
    stop: Arc<AtomicBool>,
    watch: JoinHandle<Duration>,
}

impl Stalls {
    const EVERY: Duration = Duration::from_millis(10);
    /// A busy machine of two cores lets others wait for less.
    const FROM: Duration = Duration::from_millis(150);

    fn watch() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watch = thread::spawn(move || {
            let mut stalled = Duration::ZERO;
            let mut before = Instant::now();
            while !stopped.load(Ordering::Relaxed) {
                thread::sleep(Self::EVERY);
                let gap = before.elapsed();
                before = Instant::now();
                stalled += if gap >= Self::FROM { gap } else { Duration::ZERO };
            }
            stalled
        });
        Self { stop, watch }
    }

    fn end(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        self.watch.join().unwrap()
    }
}

/// How late the agent took the steps of a plan of another container, by its audit; the longest delay first. It skips a step
/// whose time is over.
fn delays_of_steps(agent: &Agent, tree: &Tree) -> Vec<Duration> {
    let cap_cores = |number: u32| 0.1 + number as f32 / 100.0;
    let steps: Vec<(u32, f32, Option<f32>)> =
        (0..STEPS).map(|number| (number * STEP_MS, 1.0, Some(cap_cores(number)))).collect();
    agent.apply(60_000, vec![tree.plan(&steps)]);
    // The number of each step that was taken, and when.
    let taken = || -> Vec<(u64, u64)> {
        let audited = agent.audited_changes(tree);
        let cap = |entry: &Value| entry["plan"]["cpu_cap_cores"].as_f64();
        let number = |entry: &Value| Some((cap(entry)? * 100.0).round() as u64 - 10);
        audited
            .iter()
            .filter_map(|entry| Some((number(entry)?, entry["unix_ms"].as_u64()?)))
            .collect()
    };
    let last = u64::from(STEPS - 1);
    wait_until("the last step is taken", || taken().iter().any(|(number, _)| *number == last));
    let taken = taken();
    let begun = taken[0].1;
    let due = |number: u64| begun + u64::from(STEP_MS) * number;
    let all =
        taken.iter().map(|(number, at)| Duration::from_millis(at.saturating_sub(due(*number))));
    let skipped = STEPS as usize - taken.len();
    let mut delays: Vec<Duration> =
        all.chain(vec![Duration::from_millis(STEP_MS.into()); skipped]).collect();
    delays.sort_unstable_by(|one, other| other.cmp(one));
    delays
}

fn assert_agent_is_small_and_on_time(agent: &Agent, other: &Tree) {
    let stalls = Stalls::watch();
    let delays = delays_of_steps(agent, other);
    // The longest may be due to a busy machine, and as many more as it stood still.
    let stalled = stalls.end();
    let excused = 1 + stalled.as_millis().div_ceil(STEP_MS.into()) as usize;
    let is_late = delays.get(excused).is_some_and(|delay| *delay >= MOST_LATE * times_slower());
    assert!(!is_late, "{delays:?}, {stalled:?} stalled");
    let resident = agent.resident_bytes();
    assert!(resident < MOST_RESIDENT_BYTES, "{resident}");
    let lengths = || -> Vec<Vec<u32>> {
        let containers = agent.report().containers.into_iter();
        let length = |sample: &Sample| sample.length_ms;
        containers.map(|one| one.samples.iter().map(length).collect()).collect()
    };
    wait_until("samples of both", || {
        let lengths = lengths();
        lengths.len() == 2 && lengths.iter().all(|one| one.len() > 5)
    });
    // The first sample begins with the container's arrival.
    let lengths = lengths();
    let whole = lengths.iter().flat_map(|one| &one[1..]);
    let mut skews: Vec<u32> = whole.map(|length| length.abs_diff(SAMPLE_MS)).collect();
    skews.sort_unstable_by(|one, other| other.cmp(one));
    // A late end makes two samples of each container differ. Two of them are no sign of a slow agent here.
    let most = MOST_LATE.as_millis() as u32 * times_slower();
    assert!(skews[8] < most, "{skews:?}");
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
    // Half of them are stopped. The file of counters that each one has mapped is larger than is read.
    let counters = tempfile::Builder::new().prefix("hsperfdata_").tempdir_in("/tmp").unwrap();
    let script = format!(
        "exec python3 -c '
import mmap, os, signal, time
library = open(\"{library}\", \"rb\")
held = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
for number in range({count}):
    if os.fork() == 0:
        name = \"{counters}/\" + str(os.getpid())
        with open(name, \"wb\") as file: file.truncate(1 << 30)
        counters = mmap.mmap(os.open(name, os.O_RDONLY), 0, prot=mmap.PROT_READ)
        if number % 2: os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(600)
time.sleep(600)'",
        library = library.display(),
        counters = counters.path().display()
    );
    let (hostile, other) = (Tree::new(&script), Tree::new("sleep 600"));
    let all = usize::try_from(count).unwrap() + 1;
    wait_until("they run", || hostile.processes().len() == all);
    agent.runs(&[&hostile, &other]);
    assert_agent_is_small_and_on_time(&agent, &other);
    assert!(agent.troubles("heaps not measured") > 0, "no file of counters was found");
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
        // `CPUWeight=1000`.
        set_shares(&service.cpu, 10_240);
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
