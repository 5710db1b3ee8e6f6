//! The longest time for which a question of people holds the lock on a large cluster, as a multiple of a fixed
//! computation in the same run. `make bench-questions` runs this in an optimized build.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that prints its figures")]

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, NodeId, Request};
use elastane_predict::{ContainerKind, Submission};
use elastane_protocol::{CanLimit, Capacity, Report, Usage, VERSION, encode};
use serde_json::json;

use super::timed::take_holds;
use crate::{Elastane, RuntimeSettings};

const NODES: usize = 5_000;
const WAITING: usize = 10_000;
const RUNNING: usize = 1_000;
const ON_EACH_NODE: usize = 8;
/// On the node that is asked about.
const ON_ONE_NODE: usize = 60;
const GB: u64 = 1 << 30;
const NODE: Request = Request { memory_bytes: 64 * GB, vcores: 64 };
const ASK: Request = Request { memory_bytes: GB, vcores: 1 };
/// Does not fit beside the containers of any node.
const LARGE_ASK: Request = Request { memory_bytes: 60 * GB, vcores: 1 };
const NOW_MS: i64 = 1_000_000;
/// Other programs on the machine can only make a hold longer, so the shortest of this many equal holds counts.
const ASKED_TIMES: usize = 15;
const NAMES: usize = 200_000;
/// A prime, so that a copy takes names from all over.
const STRIDE: usize = 7_919;

#[test]
#[ignore = "the bound is that of an optimized build: make bench-questions"]
fn no_question_holds_the_lock_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = large_cluster(folder.path());
    let names = |from, count| (from..from + count).map(application_name).collect::<Vec<_>>();
    let on_many: Vec<String> = (0..RUNNING).map(|node| container_name(node, 0)).collect();
    let applications = [names(0, RUNNING), names(RUNNING, WAITING)].concat();
    // Each with its bound, two to three times the usual ratio.
    let questions = [
        ("plan", 1.5, json!({"about": "plan", "label": null})),
        ("node", 0.5, json!({"about": "node", "node": node_name(0)})),
        ("containers", 3.0, json!({"about": "containers", "containers": on_many})),
        ("applications", 1.5, json!({"about": "predicted-ends", "applications": applications})),
    ];

    let reference = Reference::new();
    let mut too_long = Vec::new();
    let mut check = |name: &str, most_ratio: f64, ask: &dyn Fn() -> usize| {
        let Asked { holds, whole, answer_bytes } = shortest(ask);
        let (number, longest) = holds.iter().enumerate().max_by_key(|(_, hold)| **hold).unwrap();
        let longest_us = longest.as_secs_f64() * 1e6;
        let reference_us = reference.time_us();
        let ratio = longest_us / reference_us;
        println!(
            "lock {name} holds={} longest={number} longest_us={longest_us:.0} reference_us={reference_us:.1} ratio={ratio:.2} \
             whole_ms={:.1} answer_bytes={answer_bytes}",
            holds.len(),
            whole.as_secs_f64() * 1e3
        );
        if ratio > most_ratio {
            too_long.push(format!("{name}: {ratio:.2} times the reference, at most {most_ratio}"));
        }
    };
    check("status", 5.0, &|| elastane.status(NOW_MS).len());
    for (name, most_ratio, question) in &questions {
        check(name, *most_ratio, &|| elastane.answer(&question.to_string(), NOW_MS).unwrap().len());
    }
    assert_eq!(too_long, Vec::<String>::new());
    elastane.close();
}

/// A question that was asked several times.
struct Asked {
    /// The shortest time of each hold.
    holds: Vec<Duration>,
    /// The shortest time until the answer.
    whole: Duration,
    answer_bytes: usize,
}

fn shortest(ask: &dyn Fn() -> usize) -> Asked {
    let once = || {
        take_holds();
        let begun = Instant::now();
        let answer_bytes = ask();
        Asked { whole: begun.elapsed(), holds: take_holds(), answer_bytes }
    };
    let mut shortest = once();
    for _ in 1..ASKED_TIMES {
        let Asked { holds, whole, .. } = once();
        assert_eq!(holds.len(), shortest.holds.len(), "each time the same is done");
        shortest.whole = whole.min(shortest.whole);
        for (shortest, hold) in shortest.holds.iter_mut().zip(holds) {
            *shortest = hold.min(*shortest);
        }
    }
    shortest
}

/// Looks up and copies 1,000 names of many, which are rarely in a cache, as a step of a snapshot does.
struct Reference(HashMap<usize, String>);

impl Reference {
    fn new() -> Self {
        Self((0..NAMES).map(|number| (number, application_name(number))).collect())
    }

    /// The shortest time of several.
    fn time_us(&self) -> f64 {
        let time = |from: usize| {
            let begun = Instant::now();
            let others = (from..).step_by(STRIDE).map(|number| number % NAMES);
            let copied: Vec<String> = others.take(1_000).map(|it| self.0[&it].clone()).collect();
            black_box(copied);
            begun.elapsed()
        };
        (0..50).map(time).min().unwrap().as_secs_f64() * 1e6
    }
}

/// All nodes report and have containers, and no node has room for what the applications wait for.
fn large_cluster(folder: &Path) -> Elastane {
    let path = |name: &str| folder.join(name).display().to_string();
    let configuration: BTreeMap<String, String> = [
        ("mode", "enforce".to_owned()),
        ("depository.file", path("depository.sqlite")),
        ("journal.file", path("decisions.jsonl")),
    ]
    .into_iter()
    .map(|(key, value)| (format!("yarn.scheduler.elastane.{key}"), value))
    .collect();
    let settings = RuntimeSettings::from_configuration(&configuration, true).unwrap();
    let elastane = Elastane::open(settings).unwrap();
    let nodes: Vec<NodeId> =
        (0..NODES).map(|number| elastane.node_added(&node_name(number), NODE)).collect();
    (0..NODES).for_each(|number| report(&elastane, number));
    let applications: Vec<ApplicationId> = (0..RUNNING + WAITING)
        .map(|number| elastane.application_added(&submission(number), NOW_MS))
        .collect();
    for (number, node) in nodes.iter().enumerate() {
        for on_node in 0..if number == 0 { ON_ONE_NODE } else { ON_EACH_NODE } {
            let application = applications[number % RUNNING];
            place(&elastane, &container_name(number, on_node), application, *node);
        }
    }
    for application in &applications[RUNNING..] {
        let kind = ContainerKind::DEFAULT_EXECUTOR;
        let ask = Ask { kind, priority: 0, request: LARGE_ASK, count: 10 };
        elastane.pending(*application, ask, NOW_MS);
    }
    for node in nodes.iter().take(50) {
        elastane.round(*node, NODE, NOW_MS);
    }
    elastane
}

fn place(elastane: &Elastane, container: &str, application: ApplicationId, node: NodeId) {
    let commit = CommitRequest {
        container,
        application,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: ASK,
        may_refuse: false,
        start_ms: NOW_MS,
    };
    assert!(elastane.commit(commit, NOW_MS));
}

fn report(elastane: &Elastane, node: usize) {
    let capacity = Capacity {
        cpu_cores: 64.0,
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
    elastane.report(&node_name(node), VERSION, &encode(&report).unwrap(), NOW_MS).unwrap();
}

fn submission(number: usize) -> Submission {
    Submission {
        id: application_name(number),
        name: format!("application {number}"),
        user: "somebody".to_owned(),
        queue: format!("root.q{}", number % 200),
        application_type: "SPARK".to_owned(),
        ..Submission::default()
    }
}

fn node_name(number: usize) -> String {
    format!("node-{number}.example.com:8041")
}

fn application_name(number: usize) -> String {
    format!("application_1763000000000_{number:05}")
}

fn container_name(node: usize, on_node: usize) -> String {
    format!("container_1763000000000_{:05}_01_{:06}", node % RUNNING, node * 100 + on_node)
}
