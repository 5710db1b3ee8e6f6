//! When running applications are expected to end, by the lengths of their earlier runs.

use std::collections::{BTreeMap, HashSet};

use elastane_core::cluster::{ApplicationId, applications_after};
use elastane_predict::RunLength;
use elastane_runs::{ContainerKind, RunSettings};
use serde::Serialize;

use crate::depository::DepositoryThread;
use crate::past::KeptOfApplications;
use crate::service::Service;
use crate::service_lock::ServiceLock;

/// Applications that are copied before a heartbeat gets its turn.
const AT_ONCE: usize = 20;
/// Applications that are searched before a heartbeat gets its turn.
const SEARCHED_AT_ONCE: usize = 500;

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
        service: &ServiceLock,
        depository: &DepositoryThread,
        now_ms: i64,
    ) -> Self {
        let running = running(service, ids);
        let mut predicted_ends = BTreeMap::new();
        for some in running.chunks(AT_ONCE) {
            let snapshots = RunSnapshot::take_all(&service.lock(), some);
            predicted_ends.extend(snapshots.into_iter().filter_map(|run| {
                let length = depository.length(&run.key, &run.settings)?;
                let start_ms = *run.starts_ms.get(&length.kind)?;
                Some((run.id, PredictedEnd::of(&length, start_ms, now_ms)?))
            }));
        }
        Self { predicted_ends }
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
fn running(service: &ServiceLock, ids: &[String]) -> Vec<ApplicationId> {
    let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let mut running = Vec::new();
    let mut latest = None;
    loop {
        let service = service.lock();
        let some = applications_after(service.cluster(), latest).take(SEARCHED_AT_ONCE);
        let former = latest;
        for (number, application) in some {
            latest = Some(number);
            let is_waiting = application.waiting.or(application.held).is_some();
            if !is_waiting && wanted.contains(&*application.id) {
                running.push(number);
            }
        }
        if latest == former {
            return running;
        }
    }
}

/// Plain data of one moment.
struct RunSnapshot {
    id: String,
    key: String,
    settings: RunSettings,
    /// When the oldest container of each kind that runs started. Those that ended or were replaced do not count.
    starts_ms: BTreeMap<ContainerKind, i64>,
}

impl RunSnapshot {
    /// Of those that still run.
    fn take_all(service: &Service, applications: &[ApplicationId]) -> Vec<Self> {
        let KeptOfApplications { runs, starts, .. } = service.kept();
        let taken = applications.iter().filter_map(|application| {
            let run = runs.open(*application)?;
            Some(Self {
                starts_ms: starts.oldest_ms(*application),
                id: run.application_id.clone(),
                key: run.application_key.clone(),
                settings: runs.settings(*application)?.clone(),
            })
        });
        taken.collect()
    }
}
