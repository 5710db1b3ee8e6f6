//! Copying the record without holding up heartbeats.

use std::sync::Arc;

use elastane_core::cluster::{ApplicationId, QueueShare};

use super::KeptOfApplications;
use super::cluster::{PastApplication, PastCluster, PastNode};
use super::record::RecordedApplication;
use crate::depository::DepositoryThread;
use crate::service::Service;
use crate::service_lock::ServiceLock;
use crate::settings::ServiceSettings;

/// The record but for running applications, which are copied one by one.
pub(crate) struct PastSnapshot {
    since_ms: i64,
    until_ms: i64,
    nodes: Vec<PastNode>,
    queues: Vec<QueueShare>,
    settings: ServiceSettings,
    ended: Vec<Arc<RecordedApplication>>,
    running: Vec<ApplicationId>,
}

impl PastSnapshot {
    /// None where nothing is recorded.
    pub(crate) fn begin(service: &Service, now_ms: i64) -> Option<Self> {
        let KeptOfApplications { past, settings, .. } = service.kept();
        let nodes = service.cluster().nodes().map(|(_, entry)| PastNode {
            label: Arc::clone(&entry.label),
            registered: entry.registered,
            physical: entry.node.capacity,
        });
        Some(Self {
            since_ms: past.since_ms()?,
            until_ms: now_ms,
            nodes: nodes.collect(),
            queues: past.queues().to_vec(),
            settings: settings.clone(),
            ended: past.all_ended(),
            running: past.all_running(),
        })
    }

    /// The whole, with what the next runs would be planned by.
    pub(crate) fn complete(
        self,
        service: &ServiceLock,
        depository: &DepositoryThread,
    ) -> PastCluster {
        let ended = self.ended.iter().map(|record| RecordedApplication::clone(record));
        let running = self.running.iter().filter_map(|it| so_far(&service.lock(), *it));
        let planned = |record: RecordedApplication| {
            let key = &record.subject.application_key;
            PastApplication {
                demands: depository.look_at_demands(key, &record.settings),
                runs: depository.runs_of(key),
                series: record.series.unwrap_or_default(),
                submitted_ms: record.submitted_ms,
                ended_ms: record.ended_ms,
                containers: record.containers,
                subject: record.subject,
            }
        };
        PastCluster {
            since_ms: self.since_ms,
            until_ms: self.until_ms,
            nodes: self.nodes,
            queues: self.queues,
            applications: ended.chain(running).map(planned).collect(),
            settings: self.settings,
        }
    }
}

/// A running application.
fn so_far(service: &Service, application: ApplicationId) -> Option<RecordedApplication> {
    let KeptOfApplications { past, runs, .. } = service.kept();
    let recorded = past.running(application)?.clone();
    Some(recorded.so_far(runs.open(application)?, runs.settings(application)?))
}
