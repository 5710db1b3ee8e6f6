//! How long a round and its commit take on four threads at once, as with asynchronous scheduling: alone, and while
//! the status is read without a pause, every node reports each 3 s and the bookable capacity is followed.
//!
//! `cargo run --release -p elastane-runtime --example contention -- [nodes 1000] [applications 1000] [seconds 10]`

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, NodeId, Request};
use elastane_predict::{ContainerKind, Submission};
use elastane_protocol::{CanLimit, Capacity, Report, Usage, VERSION, encode};
use elastane_runtime::{Elastane, RuntimeSettings};

const THREADS: usize = 4;
const PREFIX: &str = "yarn.scheduler.elastane.";
const GB: u64 = 1 << 30;
const NODE: Request = Request { memory_bytes: 64 * GB, vcores: 32 };
const ASK: Request = Request { memory_bytes: 2 * GB, vcores: 1 };

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, otherwise: u64| arguments.get(at).map_or(Ok(otherwise), |it| it.parse());
    let (node_count, applications) = (number(0, 1_000)?, number(1, 1_000)?);
    let lasts = Duration::from_secs(number(2, 10)?);
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let configuration = BTreeMap::from([
        (format!("{PREFIX}mode"), "enforce".to_owned()),
        // While nothing runs beside the rounds, the nodes do not report; a round on a stale node is none.
        (format!("{PREFIX}report.missed"), "100".to_owned()),
        (format!("{PREFIX}depository.file"), path("depository.sqlite")),
        (format!("{PREFIX}journal.file"), path("decisions.jsonl")),
    ]);
    let elastane = Elastane::open(RuntimeSettings::from_configuration(&configuration, true)?)?;
    let nodes: Vec<(String, NodeId)> = (0..node_count)
        .map(|number| format!("node-{number}:1"))
        .map(|name| (name.clone(), elastane.node_added(&name, NODE)))
        .collect();
    let clock = Instant::now();
    for (name, _) in &nodes {
        report(&elastane, name, 0)?;
    }
    for number in 0..applications {
        let application = elastane.application_added(&submission(number), 0);
        let kind = ContainerKind::DEFAULT_EXECUTOR;
        elastane.pending(application, Ask { kind, priority: 0, request: ASK, count: 1_000 }, 0);
    }
    for is_busy in [false, true] {
        let mut times = measure(&elastane, &nodes, clock, lasts, is_busy)?;
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
        println!(
            "contention threads={THREADS} nodes={node_count} applications={applications} beside={} rounds={} \
             median_us={:.1} p99_us={:.1} longest_us={:.0}",
            if is_busy { "status,reports,bookable" } else { "nothing" },
            times.len(),
            at(0.5),
            at(0.99),
            at(1.0),
        );
    }
    elastane.close();
    Ok(())
}

/// The time of each round with its commit and its container's end.
fn measure(
    elastane: &Elastane,
    nodes: &[(String, NodeId)],
    clock: Instant,
    lasts: Duration,
    is_busy: bool,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let containers = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let now_ms = || i64::try_from(clock.elapsed().as_millis()).unwrap_or(i64::MAX);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (containers, is_over, now_ms) = (&containers, &is_over, &now_ms);
                scope.spawn(move || {
                    let mut times = Vec::new();
                    for (_, node) in nodes.iter().cycle().skip(thread * nodes.len() / THREADS) {
                        if is_over.load(Relaxed) {
                            break;
                        }
                        let container = containers.fetch_add(1, Relaxed).to_string();
                        let begun = Instant::now();
                        let order = elastane.round(*node, NODE, now_ms()).unwrap_or_default();
                        if let Some(application) = order.first() {
                            place(elastane, &container, *application, *node, now_ms());
                        }
                        times.push(begun.elapsed());
                    }
                    times
                })
            })
            .collect();
        let beside = scope.spawn(|| -> Result<(), String> {
            let begun = Instant::now();
            while begun.elapsed() < lasts {
                if !is_busy {
                    thread::sleep(Duration::from_millis(10));
                    continue;
                }
                // All nodes each 3 s, and the rest of the time the status.
                for some in nodes.chunks(nodes.len().div_ceil(30).max(1)) {
                    let turn = Instant::now();
                    for (name, _) in some {
                        report(elastane, name, now_ms()).map_err(|error| error.to_string())?;
                    }
                    elastane.bookable_changes(usize::MAX, now_ms());
                    while turn.elapsed() < Duration::from_millis(100) {
                        let _ = elastane.status(now_ms());
                    }
                }
            }
            Ok(())
        });
        let beside = beside.join().map_err(|_| "the thread beside panicked")?;
        is_over.store(true, Relaxed);
        let mut times = Vec::new();
        for worker in workers {
            times.extend(worker.join().map_err(|_| "a worker panicked")?);
        }
        beside?;
        Ok(times)
    })
}

fn place(
    elastane: &Elastane,
    container: &str,
    application: ApplicationId,
    node: NodeId,
    now_ms: i64,
) {
    let request = CommitRequest {
        container,
        application,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: ASK,
        may_refuse: true,
        start_ms: now_ms,
    };
    if elastane.commit(request, now_ms) {
        elastane.finished(container, now_ms);
    }
}

fn report(elastane: &Elastane, node: &str, now_ms: i64) -> Result<(), Box<dyn Error>> {
    let capacity = Capacity {
        cpu_cores: 32.0,
        memory_bytes: NODE.memory_bytes,
        network_bytes_per_s: 0,
        disk_bytes_per_s: 0,
    };
    let report = Report {
        agent_run: 1,
        sequence: 0,
        can_limit: CanLimit::default(),
        capacity,
        containers_usage: Usage::default(),
        node_usage: Usage::default(),
        pressure: None,
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers: Vec::new(),
    };
    elastane.report(node, VERSION, &encode(&report)?, now_ms)?;
    Ok(())
}

fn submission(number: u64) -> Submission {
    Submission {
        id: format!("application_1_{number:04}"),
        name: format!("application {number}"),
        user: "somebody".to_owned(),
        queue: format!("root.q{}", number % 200),
        application_type: "SPARK".to_owned(),
        ..Submission::default()
    }
}
