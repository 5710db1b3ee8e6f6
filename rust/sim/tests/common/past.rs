//! What happened in a small cluster.
#![allow(dead_code, clippy::expect_used, reason = "a helper of tests")]

use elastane_core::cluster::{Basis, Demands, NodeId, Predicted, QueueShare, Request};
use elastane_core::{ContainerKind, Demand, Resources, SLOT_MS};
use elastane_runs::{LedgerSubject, RunSeries};
use elastane_runtime::{PastApplication, PastCluster, PastContainer, PastNode, ServiceSettings};

pub const GB: u64 = 1 << 30;
pub const SINCE_MS: i64 = 1_700_000_000_000;
pub const EXECUTOR: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;
pub const MASTER: ContainerKind = ContainerKind::ApplicationMaster;

/// An eighth of a node's CPU and memory.
pub const LITTLE: Resources = Resources {
    cpu_cores: 0.5,
    memory_bytes: 0.5 * GB as f64,
    network_bytes_per_s: 0.0,
    disk_bytes_per_s: 0.0,
};

pub fn request(gb: u64) -> Request {
    Request { memory_bytes: gb * GB, vcores: 1 }
}

pub fn container(
    kind: ContainerKind,
    gb: u64,
    [asked_s, started_s, ended_s]: [i64; 3],
) -> PastContainer {
    let at_ms = |seconds: i64| SINCE_MS + seconds * 1_000;
    PastContainer {
        kind,
        node: NodeId(0),
        label: "".into(),
        request: request(gb),
        asked_ms: at_ms(asked_s),
        started_ms: at_ms(started_s),
        ended_ms: Some(at_ms(ended_s)),
    }
}

/// An application whose containers use [`LITTLE`], which is known; its series is as long as its longest container's life.
pub fn application(
    number: usize,
    submitted_s: i64,
    containers: Vec<PastContainer>,
) -> PastApplication {
    let life_ms = |it: &PastContainer| it.ended_ms.unwrap_or_default() - it.started_ms;
    let series = |kind: ContainerKind| {
        let lives = containers.iter().filter(|it| it.kind == kind).map(life_ms);
        let slots = lives.max()? as usize / SLOT_MS as usize;
        Some(RunSeries {
            stage_ends_ms: Vec::new(),
            kind,
            containers: 1,
            slots: vec![LITTLE; slots],
        })
    };
    let series: Vec<RunSeries> = [MASTER, EXECUTOR].into_iter().filter_map(series).collect();
    let predicted = series.iter().map(|it| {
        let demand = Demand::series(SLOT_MS, &it.slots).expect("a series");
        let basis = Basis::Profile("known".into());
        (it.kind, Predicted::of(demand, 0.2, basis))
    });
    PastApplication {
        subject: LedgerSubject {
            application_id: format!("application_1_{number:04}"),
            queue: "root.a".to_owned(),
            application_key: format!("key-{number}"),
            application_name: format!("name-{number}"),
            user: "ada".to_owned(),
        },
        submitted_ms: SINCE_MS + submitted_s * 1_000,
        ended_ms: containers.iter().filter_map(|it| it.ended_ms).max(),
        demands: Demands::from_iter(predicted),
        runs: 2,
        containers,
        series,
    }
}

/// One node of 4 GB and 4 cores.
pub fn past(applications: Vec<PastApplication>) -> PastCluster {
    let last_ms = applications.iter().filter_map(|it| it.ended_ms).max();
    let physical = Resources {
        cpu_cores: 4.0,
        memory_bytes: 4.0 * GB as f64,
        network_bytes_per_s: 1e9,
        disk_bytes_per_s: 1e9,
    };
    PastCluster {
        since_ms: SINCE_MS,
        until_ms: last_ms.unwrap_or(SINCE_MS),
        nodes: vec![PastNode {
            label: "".into(),
            registered: Request { memory_bytes: 4 * GB, vcores: 4 },
            physical,
        }],
        queues: vec![queue("root.a", 1.0, 1.0)],
        applications,
        settings: ServiceSettings::default(),
    }
}

pub fn queue(path: &str, capacity: f64, maximum: f64) -> QueueShare {
    QueueShare { queue: path.to_owned(), is_leaf: true, capacity, maximum, ..QueueShare::default() }
}

/// Three applications, each with one executor that fills the node by request, one after the other.
pub fn in_turn() -> Vec<PastApplication> {
    let one = |number: usize| {
        let started_s = 120 * number as i64;
        let executor = container(EXECUTOR, 4, [0, started_s, started_s + 120]);
        application(number, 0, vec![executor])
    };
    (0..3).map(one).collect()
}

#[track_caller]
pub fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}
