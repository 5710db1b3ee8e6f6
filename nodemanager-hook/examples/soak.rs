//! 50 containers come and go for a long time, with a new plan in each exchange. The agent's resources
//! must not grow.
//!
//! `cargo run --release -p elastane-agent --example soak -- SECONDS` prints a line every 10 s. The
//! exit code is 1 if memory, descriptors, groups or BPF objects have grown.
#![allow(clippy::print_stdout)]

mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{ContainerPlan, Limits, Step};
use support::{Agent, Container, Outcome};

const CONTAINERS: usize = 50;
/// The number of containers replaced in each exchange.
const REPLACED: usize = 5;
const BETWEEN_EXCHANGES: Duration = Duration::from_secs(1);
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// The allowed growth of the allocator after the first fifth of the time.
const MAX_GROWTH_MB: f64 = 2.0;
/// A connection that is being answered, and the files read for it.
const MAX_GROWTH_DESCRIPTORS: usize = 4;
/// A count includes what is open for a moment: up to fifteen files of containers that have just come
/// or gone. What leaks stays, so the least of the counts in a tenth of the time is compared:
/// the second one, and the last one.
const TENTHS: u32 = 10;
/// With less, a tenth of the time can pass without an exchange.
const LEAST_SECONDS: u32 = 60;

fn main() -> ExitCode {
    let first = env::args().nth(1);
    if first.as_deref() == Some("run") {
        return elastane_agent::main();
    }
    let seconds = first.as_deref().unwrap_or("1800").parse::<u32>();
    let Some(seconds) = seconds.ok().filter(|seconds| *seconds >= LEAST_SECONDS) else {
        let given = first.unwrap_or_default();
        eprintln!("soak: SECONDS = {given}: allowed is a whole number from {LEAST_SECONDS} on");
        return ExitCode::from(2);
    };
    match soak(Duration::from_secs(seconds.into())) {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in problems {
                eprintln!("soak: {problem}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The agent's resources at one moment.
#[derive(Debug, Clone, Copy)]
struct Held {
    resident_mb: f64,
    descriptors: usize,
    bpf_descriptors: usize,
    groups: usize,
}

impl Held {
    fn least(self, other: Option<Self>) -> Self {
        let other = other.unwrap_or(self);
        Self {
            resident_mb: self.resident_mb.min(other.resident_mb),
            descriptors: self.descriptors.min(other.descriptors),
            bpf_descriptors: self.bpf_descriptors.min(other.bpf_descriptors),
            groups: self.groups.min(other.groups),
        }
    }
}

fn soak(time: Duration) -> Outcome<Vec<String>> {
    let agent = Agent::start()?;
    let mut numbers = 1..;
    let mut containers = Vec::new();
    let begun = Instant::now();
    let mut line_at = begun;
    let mut early: Option<Held> = None;
    let mut late: Option<Held> = None;
    let mut exchanges = 0u32;
    while begun.elapsed() < time {
        let gone = REPLACED.min(containers.len());
        containers.drain(..gone);
        for number in numbers.by_ref().take(CONTAINERS - containers.len()) {
            containers.push(Container::shell(number)?);
        }
        exchanges += 1;
        let running = containers.iter().map(Container::running).collect();
        agent.exchange(running, |_| containers.iter().map(|one| plan(one, exchanges)).collect())?;
        let now = held(&agent)?;
        let (elapsed, tenth) = (begun.elapsed(), time / TENTHS);
        if (tenth..tenth * 2).contains(&elapsed) {
            early = Some(now.least(early));
        } else if elapsed >= tenth * (TENTHS - 1) {
            late = Some(now.least(late));
        }
        if line_at.elapsed() >= BETWEEN_LINES {
            line_at = Instant::now();
            print(begun.elapsed(), exchanges, now);
        }
        thread::sleep(BETWEEN_EXCHANGES);
    }
    let (Some(early), Some(late)) = (early, late) else {
        return Err("the machine is too slow: a tenth of the time had no exchange".into());
    };
    print(begun.elapsed(), exchanges, held(&agent)?);
    let mut problems = growth(early, late);
    drop(containers);
    drop(agent);
    for group in groups() {
        problems.push(format!("{} was not removed", group.display()));
    }
    Ok(problems)
}

/// New limits in each exchange.
fn plan(container: &Container, exchange: u32) -> ContainerPlan {
    let more = f32::from((exchange % 4) as u8) / 10.0;
    let step = |offset_ms, cap_cores| Step {
        offset_ms,
        limits: Limits {
            cpu_weight_cores: Some(1.0 + more),
            cpu_cap_cores: Some(cap_cores),
            memory_bytes: Some((64 + u64::from(exchange % 4)) << 20),
            network_weight_bytes_per_s: Some(1 << 20),
            network_cap_bytes_per_s: Some(u64::from(1 + exchange % 4) << 20),
            ..Limits::default()
        },
    };
    ContainerPlan {
        container: container.id.clone(),
        steps: vec![step(0, 0.5 + more), step(500, 0.6 + more)],
    }
}

fn held(agent: &Agent) -> Outcome<Held> {
    let (descriptors, bpf_descriptors) = agent.descriptors()?;
    Ok(Held {
        resident_mb: agent.resident_mb()?,
        descriptors,
        bpf_descriptors,
        groups: groups().len(),
    })
}

fn print(elapsed: Duration, exchanges: u32, held: Held) {
    println!(
        "soak seconds={} exchanges={exchanges} rss_mb={:.1} descriptors={} bpf_descriptors={} groups={}",
        elapsed.as_secs(),
        held.resident_mb,
        held.descriptors,
        held.bpf_descriptors,
        held.groups
    );
}

fn growth(early: Held, late: Held) -> Vec<String> {
    let mut problems = Vec::new();
    if late.resident_mb > early.resident_mb + MAX_GROWTH_MB {
        problems.push(format!(
            "resident memory grew from {:.1} to {:.1} MB, {MAX_GROWTH_MB} more are allowed",
            early.resident_mb, late.resident_mb
        ));
    }
    let counts = |held: Held| [held.descriptors, held.bpf_descriptors, held.groups];
    let names = ["descriptors", "BPF descriptors", "groups"];
    let allowed = [MAX_GROWTH_DESCRIPTORS, 0, 0];
    for (index, (early, late)) in counts(early).into_iter().zip(counts(late)).enumerate() {
        let (what, more) = (names[index], allowed[index]);
        if late > early + more {
            problems.push(format!("{what} grew from {early} to {late}, {more} more are allowed"));
        }
    }
    problems
}

/// The agent's groups, in all hierarchies.
fn groups() -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(root).into_iter().flatten().flatten();
    let places = hierarchies.map(|entry| entry.path()).chain([root.to_owned()]);
    let mut groups = Vec::new();
    for place in places {
        let parent = place.join(Agent::parent());
        if let Ok(entries) = fs::read_dir(&parent) {
            let directories = entries.flatten().filter(|entry| entry.path().is_dir());
            groups.extend(directories.map(|entry| entry.path()));
            groups.push(parent);
        }
    }
    groups
}
