//! Measures an agent beside containers over some exchanges.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{ContainerPlan, Limits, Report, RunningContainer, Step, encode};

use crate::{
    figures::Figures,
    reference::{Reading, Reference},
    support::{Agent, Container, Outcome},
};

/// Without a plan, and again with one.
const EXCHANGES: u32 = 5;
pub const BETWEEN_EXCHANGES: Duration = Duration::from_secs(3);
/// The offset of the step whose delay is measured.
const STEP_MS: u32 = 1500;

/// An agent's cost over some exchanges.
struct Cost {
    cpu_percent: f64,
    reference: Reading,
    resident_mb: f64,
    report_bytes: usize,
    skew_p99_ms: f64,
}

/// Starts an agent; measures it without a plan, then with one.
pub fn measure(containers: &[Container]) -> Outcome<Figures> {
    let begun = Instant::now();
    let agent = Agent::start()?;
    agent.collect()?;
    let start_ms = begun.elapsed().as_secs_f64() * 1e3;
    let running: Vec<RunningContainer> = containers.iter().map(Container::running).collect();
    let observed = cost(&agent, &running, false)?;
    let limited = cost(&agent, &running, true)?;
    // Reading the files a thousand times a second would disturb what is measured above.
    let apply_ms = apply_ms(&agent, &running)?;
    Ok(Figures {
        containers: running.len(),
        cpu_percent: limited.cpu_percent,
        reference_percent: limited.reference.cpu_percent,
        resident_mb: limited.resident_mb,
        report_bytes: limited.report_bytes,
        skew_p99_ms: limited.skew_p99_ms.max(observed.skew_p99_ms),
        apply_ms,
        start_ms,
        observed_cpu_percent: observed.cpu_percent,
        observed_reference_percent: observed.reference.cpu_percent,
        late_ms: limited.reference.late_ms.max(observed.reference.late_ms),
        processes_on_node: processes_on_node()?,
    })
}

fn cost(agent: &Agent, running: &[RunningContainer], is_limited: bool) -> Outcome<Cost> {
    let exchange = || {
        agent.exchange(running.to_vec(), |report| match is_limited {
            true => running.iter().map(|one| plan(one, report)).collect(),
            false => Vec::new(),
        })
    };
    // The first exchange makes groups and moves processes once.
    exchange()?;
    let reference = Reference::start(running)?;
    let (begun, before) = (Instant::now(), agent.cpu_nanoseconds()?);
    let mut ends = Vec::new();
    let mut newest = None;
    for _ in 0..EXCHANGES {
        thread::sleep(BETWEEN_EXCHANGES);
        let report = exchange()?;
        ends.extend(sample_ends_ms(&report, begun));
        newest = Some(report);
    }
    let used = agent.cpu_nanoseconds()? - before;
    let cpu_percent = used as f64 / begun.elapsed().as_nanos() as f64 * 100.0;
    let reference = reference.stop()?;
    let report = newest.ok_or("no exchange")?;
    let limited = report.containers.iter().filter(|one| one.limits.is_some());
    let (limited, expected) = (limited.count(), running.len() * usize::from(is_limited));
    if limited != expected {
        return Err(format!("{limited} containers are limited, not {expected}").into());
    }
    Ok(Cost {
        cpu_percent,
        reference,
        resident_mb: agent.resident_mb()?,
        report_bytes: encode(&report)?.len(),
        skew_p99_ms: skew_p99_ms(&ends),
    })
}

/// New limits with each report.
fn plan(container: &RunningContainer, report: &Report) -> ContainerPlan {
    let more = (report.sequence % 2) as f32;
    let step = |offset_ms, cap_cores| Step {
        offset_ms,
        limits: Limits {
            cpu_weight_cores: Some(1.0 + more),
            cpu_cap_cores: Some(cap_cores),
            memory_bytes: Some(256 << 20),
            network_weight_bytes_per_s: Some(1 << 20),
            ..Limits::default()
        },
    };
    ContainerPlan {
        container: container.container.clone(),
        steps: vec![step(0, 0.5), step(STEP_MS, 0.6 + more / 10.0)],
    }
}

/// Each sample's sequence number and its end on this program's clock.
fn sample_ends_ms(report: &Report, begun: Instant) -> Vec<(u64, f64)> {
    let now_ms = begun.elapsed().as_secs_f64() * 1e3;
    let samples = report.containers.iter().flat_map(|one| &one.samples);
    samples.map(|sample| (sample.sequence, now_ms - f64::from(sample.age_ms))).collect()
}

/// How far sample ends lie from a grid of 3 s. The grid's phase is the median of all samples.
fn skew_p99_ms(ends: &[(u64, f64)]) -> f64 {
    let off = |(sequence, end_ms): &(u64, f64)| end_ms - *sequence as f64 * 3e3;
    let mut places: Vec<f64> = ends.iter().map(off).collect();
    places.sort_by(f64::total_cmp);
    let Some(middle) = places.get(places.len() / 2).copied() else {
        return f64::INFINITY;
    };
    let mut skews: Vec<f64> = places.iter().map(|place| (place - middle).abs()).collect();
    skews.sort_by(f64::total_cmp);
    skews[skews.len() * 99 / 100]
}

/// The time from a step's begin until the last group's file holds its limit.
fn apply_ms(agent: &Agent, running: &[RunningContainer]) -> Outcome<f64> {
    let step = |offset_ms, cap_cores| Step {
        offset_ms,
        limits: Limits {
            cpu_weight_cores: Some(1.0),
            cpu_cap_cores: Some(cap_cores),
            ..Limits::default()
        },
    };
    let steps = |container: &RunningContainer| ContainerPlan {
        container: container.container.clone(),
        steps: vec![step(0, 0.25), step(STEP_MS, 0.75)],
    };
    // The agent counts from its receipt of the plan, right after this.
    let mut sent = Instant::now();
    agent.exchange(running.to_vec(), |_| {
        sent = Instant::now();
        running.iter().map(steps).collect()
    })?;
    let due = sent + Duration::from_millis(STEP_MS.into());
    let mut waiting: Vec<PathBuf> = running.iter().filter_map(cap_file).collect();
    if waiting.len() != running.len() {
        return Err(format!("{} of {} groups are there", waiting.len(), running.len()).into());
    }
    while !waiting.is_empty() {
        if due.elapsed() > BETWEEN_EXCHANGES {
            return Err(format!("{} groups never got their step", waiting.len()).into());
        }
        waiting
            .retain(|file| fs::read_to_string(file).is_ok_and(|text| !text.starts_with("75000")));
        thread::sleep(Duration::from_millis(1));
    }
    Ok(due.elapsed().as_secs_f64() * 1e3)
}

fn cap_file(container: &RunningContainer) -> Option<PathBuf> {
    let below = Path::new(&Agent::parent()).join(&container.container);
    let mounts = ["cpu/", "cpu,cpuacct/", ""].map(|mount| Path::new("/sys/fs/cgroup").join(mount));
    let files = ["cpu.cfs_quota_us", "cpu.max"];
    let mut all = mounts.iter().flat_map(|mount| files.map(|file| mount.join(&below).join(file)));
    all.find(|file| file.exists())
}

fn processes_on_node() -> Outcome<usize> {
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let entries = fs::read_dir("/proc")?.flatten();
    let names = entries.map(|entry| entry.file_name());
    Ok(names.filter(|name| name.to_str().is_some_and(is_process)).count())
}
