//! When running applications are expected to end, by the lengths of their earlier runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, NodeId};
use elastane_predict::RunLength;
use elastane_runs::{ContainerKind, RunSettings};
use parking_lot::Mutex;
use serde::Serialize;

use crate::depository::DepositoryThread;
use crate::service::Service;

/// Applications that are copied before a heartbeat gets its turn.
const AT_ONCE: usize = 200;
/// Nodes whose containers are copied before a heartbeat gets its turn.
const NODES_AT_ONCE: usize = 50;

/// By YARN's id; those whose end is not predicted are left out.
#[derive(Debug, Serialize)]
pub(crate) struct PredictedEnds {
    predicted_ends: BTreeMap<String, PredictedEnd>,
}

/// Times are Unix time.
#[derive(Debug, Serialize)]
struct PredictedEnd {
    /// The median.
    at_ms: i64,
    /// The 10 % quantile.
    earliest_ms: i64,
    /// The 90 % quantile.
    latest_ms: i64,
    /// The number of earlier runs that it is predicted from.
    runs: usize,
}

impl PredictedEnds {
    /// Applications that wait for a container are left out: the missing container starts later than the others.
    pub(crate) fn of(
        ids: &[String],
        service: &Mutex<Service>,
        depository: &DepositoryThread,
        now_ms: i64,
    ) -> Self {
        let running = running(service.lock().cluster(), ids);
        let mut lengths = HashMap::new();
        for some in running.chunks(AT_ONCE) {
            let snapshots = RunSnapshot::take_all(&service.lock(), some);
            lengths.extend(snapshots.into_iter().filter_map(|run| {
                let length = depository.length(&run.key, &run.settings)?;
                Some((run.application, (run.id, length)))
            }));
        }
        let starts_ms = oldest_starts_ms(service, &lengths);
        let ends = lengths.into_iter().filter_map(|(application, (id, length))| {
            let start_ms = *starts_ms.get(&application)?;
            Some((id, PredictedEnd::of(&length, start_ms, now_ms)?))
        });
        Self { predicted_ends: ends.collect() }
    }
}

impl PredictedEnd {
    /// Of an application whose oldest container of the kind that the length is of started at `start_ms`. A length is
    /// counted from the start of the container, in the profile as well.
    fn of(length: &RunLength, start_ms: i64, now_ms: i64) -> Option<Self> {
        let elapsed_ms = now_ms.saturating_sub(start_ms);
        let range = length.beyond(elapsed_ms as f64)?;
        let end = |length_ms: f64| start_ms.saturating_add(length_ms.round() as i64);
        Some(Self {
            at_ms: end(range.median_ms),
            earliest_ms: end(range.earliest_ms),
            latest_ms: end(range.latest_ms),
            runs: length.runs,
        })
    }
}

/// Which of these applications wait for no container.
fn running(cluster: &Cluster, ids: &[String]) -> Vec<ApplicationId> {
    let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let running = cluster.applications().filter(|(_, application)| {
        application.waiting.or(application.held).is_none() && wanted.contains(&*application.id)
    });
    running.map(|(number, _)| number).collect()
}

/// Plain data of one moment.
struct RunSnapshot {
    application: ApplicationId,
    id: String,
    key: String,
    settings: RunSettings,
}

impl RunSnapshot {
    /// Of those that still run.
    fn take_all(service: &Service, applications: &[ApplicationId]) -> Vec<Self> {
        let (_, runs, _) = service.record();
        let taken = applications.iter().filter_map(|application| {
            let run = runs.open(*application)?;
            Some(Self {
                application: *application,
                id: run.application_id.clone(),
                key: run.application_key.clone(),
                settings: runs.settings(*application)?.clone(),
            })
        });
        taken.collect()
    }
}

/// When the oldest running container of the kind that the length is of started. Executors that ended or were replaced do
/// not count.
fn oldest_starts_ms(
    service: &Mutex<Service>,
    lengths: &HashMap<ApplicationId, (String, RunLength)>,
) -> HashMap<ApplicationId, i64> {
    let mut oldest = HashMap::new();
    if lengths.is_empty() {
        return oldest;
    }
    let nodes: Vec<_> = service.lock().cluster().nodes().map(|(id, _)| id).collect();
    for some in nodes.chunks(NODES_AT_ONCE) {
        let starts = starts(service.lock().cluster(), some);
        for (application, kind, start_ms) in starts {
            if lengths.get(&application).is_some_and(|(_, length)| length.kind == kind) {
                let oldest_ms = oldest.entry(application).or_insert(start_ms);
                *oldest_ms = start_ms.min(*oldest_ms);
            }
        }
    }
    oldest
}

/// The containers of these nodes, and when they started.
fn starts(cluster: &Cluster, nodes: &[NodeId]) -> Vec<(ApplicationId, ContainerKind, i64)> {
    let nodes = nodes.iter().filter_map(|id| cluster.node(*id));
    let containers = nodes.flat_map(|node| node.containers());
    let known = containers.filter_map(|(id, _)| cluster.container(id));
    known.map(|it| (it.application, it.kind, it.start_ms)).collect()
}
