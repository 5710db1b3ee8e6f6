//! What was imported places the next submission of the same application, and of no other.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/cluster_run.rs"]
mod cluster_run;
mod common;
#[path = "../../runtime/tests/common/mod.rs"]
mod runtime;

use std::fs;
use std::path::Path;

use cluster_run::ClusterRun;
use common::{elastane, text};
use elastane_core::cluster::Ask;
use elastane_predict::{ContainerKind, Submission, signature};
use elastane_protocol::{Reply, VERSION, decode};
use runtime::{GB, NODE, commit, free, journal, open_with, register, report, request};
use serde_json::Value;

const EXECUTORS: u32 = 3;

/// With what the shell, and what a list of words, could get wrong.
const FILTER: &str = r#"cost > $5, or it's "free""#;

/// A run of this night.
fn sales<T>(night: u32, make: impl FnOnce(&ClusterRun<'_>) -> T) -> T {
    let day = format!("2026-11-{night:02}");
    let input = format!("hdfs://nn/in/part-{night}");
    make(&ClusterRun {
        number: night,
        name: &format!("Sales {day}"),
        user: "alice",
        queue: "root.etl",
        script: "sales.py",
        arguments: &["--day", &day, "--rounds", "12", &input, FILTER],
        executors: EXECUTORS,
        tasks_of_each: 20,
        task_ms: 3_000,
    })
}

/// The logs of three nights, as the History Server keeps them, become runs. Returns what is printed.
fn import(folder: &Path) -> String {
    let history = folder.join("history");
    fs::create_dir(&history).unwrap();
    for night in 1..=3 {
        sales(night, |run| {
            let mut log = Vec::new();
            run.write_log(&mut log).unwrap();
            fs::write(history.join(format!("{}_1", run.id())), log).unwrap();
        });
    }
    elastane(&[
        "import",
        "spark-eventlog",
        text(&history),
        "--depository",
        text(&folder.join("depository.sqlite")),
    ])
    .printed()
}

/// Submits it and asks for executors of 3 GB on a node of 8 GB. Returns what the journal says of those
/// that were placed, and the CPU weights of the first one's plan with their offsets.
fn placed(folder: &Path, submission: &Submission, now_ms: i64) -> (Vec<Value>, Vec<(u32, f32)>) {
    let elastane = open_with(folder, "enforce", &[("profile.least-confidence", "0.6")]);
    let node = register(&elastane);
    elastane.report(NODE, VERSION, &report(0, &[]), now_ms).unwrap();
    let application = elastane.application_added(submission, now_ms);
    let ask = Ask {
        kind: ContainerKind::DEFAULT_EXECUTOR,
        priority: 0,
        request: request(3),
        count: EXECUTORS,
    };
    elastane.pending(application, ask, now_ms);
    for container in ["first", "second", "third"] {
        if elastane.round(node, free(), now_ms) == Some(vec![application]) {
            commit(&elastane, container, application, node, now_ms);
        }
    }
    let body = report(1, &[("first", 1.0, GB)]);
    let reply = elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    let reply: Reply = decode(VERSION, &reply).unwrap();
    let steps = reply.plans.iter().take(1).flat_map(|plan| &plan.steps);
    let weights = steps.map(|step| (step.offset_ms, step.limits.cpu_weight_cores.unwrap()));
    let weights = weights.collect();
    elastane.close();
    let of_this = |it: &Value| it["kind"] == "placed" && it["application"] == submission.id;
    let placed = journal(folder).into_iter().filter(of_this).collect();
    (placed, weights)
}

#[test]
fn the_next_submission_is_placed_by_imported_runs() {
    let folder = tempfile::tempdir().unwrap();
    let printed = import(folder.path());
    let (next, now_ms) = sales(4, |run| (run.submission(), run.started_ms()));
    let key = signature(&next);
    assert_eq!(printed.matches(&key).count(), 3, "{key} in {printed}");

    let (placed, weights) = placed(folder.path(), &next, now_ms);
    assert_eq!(placed.len(), 3, "three times 3 GB of requests on 8 GB");
    for one in &placed {
        assert!(one["profile"].is_string() && one["by_core"] == true, "{one}");
    }
    let last = placed.last().unwrap();
    assert!(
        last["booked_memory_bytes"].as_u64() > last["physical_memory_bytes"].as_u64(),
        "{last}"
    );
    // Each executor computed on one core for 30 s, and then on a quarter of it.
    assert_eq!(weights, [(0, 1.0), (30_000, 0.25)]);
}

#[test]
fn an_application_of_another_user_queue_program_or_argument_is_placed_by_its_request() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path());
    let others: [fn(&mut ClusterRun<'_>); 4] = [
        |run| run.user = "bob",
        |run| run.queue = "root.adhoc",
        |run| run.script = "stock.py",
        |run| run.arguments = &["--day", "2026-11-05", "--rounds", "12", "full"],
    ];
    for (night, change) in (5..).zip(others) {
        let (other, now_ms) = sales(night, |run| {
            let mut run = run.clone();
            change(&mut run);
            (run.submission(), run.started_ms())
        });
        let (placed, _) = placed(folder.path(), &other, now_ms);
        assert_eq!(placed.len(), 2, "{placed:?}");
        assert!(placed.iter().all(|one| one["profile"].is_null()), "{placed:?}");
    }
}
