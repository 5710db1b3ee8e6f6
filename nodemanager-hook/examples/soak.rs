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
/// Containers that come or go hold up to thirty files more or less. So no container does while
/// resources are counted for the comparison, and the count must be the same in these exchanges.
const SAME_COUNTS: usize = 3;
const UNTIL_SAME: Duration = Duration::from_secs(60);
const LEAST_SECONDS: u32 = 10;

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
    fn counts(self) -> [usize; 3] {
        [self.descriptors, self.bpf_descriptors, self.groups]
    }
}

fn soak(time: Duration) -> Outcome<Vec<String>> {
    let mut node =
        Node { agent: Agent::start()?, containers: Vec::new(), started: 0, exchanges: 0 };
    let begun = Instant::now();
    come_and_go(&mut node, begun, time / 5)?;
    let early = node.settled()?;
    print("settled", begun.elapsed(), node.exchanges, early);
    come_and_go(&mut node, begun, time)?;
    let late = node.settled()?;
    print("settled", begun.elapsed(), node.exchanges, late);
    let mut problems = growth(early, late);
    drop(node);
    for group in groups() {
        problems.push(format!("{} was not removed", group.display()));
    }
    Ok(problems)
}

/// Replaces containers until `time` after `begun`.
fn come_and_go(node: &mut Node, begun: Instant, time: Duration) -> Outcome<()> {
    let mut line_at = begun;
    while begun.elapsed() < time {
        node.replace()?;
        let now = node.exchange()?;
        if line_at.elapsed() >= BETWEEN_LINES {
            line_at = Instant::now();
            print("soak", begun.elapsed(), node.exchanges, now);
        }
        thread::sleep(BETWEEN_EXCHANGES);
    }
    Ok(())
}

/// An agent and its containers.
struct Node {
    agent: Agent,
    containers: Vec<Container>,
    started: u32,
    exchanges: u32,
}

impl Node {
    /// Ends the oldest containers and starts others.
    fn replace(&mut self) -> Outcome<()> {
        let gone = REPLACED.min(self.containers.len());
        self.containers.drain(..gone);
        while self.containers.len() < CONTAINERS {
            self.started += 1;
            self.containers.push(Container::shell(self.started)?);
        }
        Ok(())
    }

    /// The agent's resources after an exchange with new plans.
    fn exchange(&mut self) -> Outcome<Held> {
        self.exchanges += 1;
        let running = self.containers.iter().map(Container::running).collect();
        let plans = |_: &_| self.containers.iter().map(|one| plan(one, self.exchanges)).collect();
        self.agent.exchange(running, plans)?;
        held(&self.agent)
    }

    /// The agent's resources when the containers' coming and going is over for it.
    fn settled(&mut self) -> Outcome<Held> {
        let deadline = Instant::now() + UNTIL_SAME;
        let mut last = self.exchange()?;
        let mut same = 1;
        while same < SAME_COUNTS {
            if Instant::now() > deadline {
                return Err(
                    format!("the counts still change after {UNTIL_SAME:?}: {last:?}").into()
                );
            }
            thread::sleep(BETWEEN_EXCHANGES);
            let now = self.exchange()?;
            same = if now.counts() == last.counts() { same + 1 } else { 1 };
            last = now;
        }
        Ok(last)
    }
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

fn print(what: &str, elapsed: Duration, exchanges: u32, held: Held) {
    println!(
        "{what} seconds={} exchanges={exchanges} rss_mb={:.1} descriptors={} bpf_descriptors={} groups={}",
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
    let names = ["descriptors", "BPF descriptors", "groups"];
    let allowed = [MAX_GROWTH_DESCRIPTORS, 0, 0];
    for (index, (early, late)) in early.counts().into_iter().zip(late.counts()).enumerate() {
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
