//! One container: what is planned for it, and what it used last.

use std::collections::HashMap;

use elastane_core::cluster::{Basis, Container, NodeLimits};
use elastane_core::{Resource, Resources, Running};
use serde::Serialize;

use super::limits::{LimitDetails, LimitsSnapshot};
use crate::latest_reports::{ArrivedReport, LatestReports};
use crate::limit_changes::{LimitChange, LimitChangeDetails};
use crate::measured_container::MeasuredContainer;
use crate::service::Service;

/// Plain data of one moment.
#[derive(Debug)]
pub(crate) struct ContainerSnapshot {
    id: String,
    application: String,
    node: String,
    container: Container,
    running: Running,
    corrected_by: Resources,
    limits: Option<LimitsSnapshot>,
    limit_changes: Vec<LimitChange>,
}

impl ContainerSnapshot {
    /// None for a container that does not run.
    pub(crate) fn take(service: &Service, id: &str, now_ms: i64) -> Option<Self> {
        let node = service.cluster().container(id)?.node;
        let limits = service.cluster().limits_on(node)?;
        Self::limited(service, id, &limits, now_ms)
    }

    /// One that runs on the node of `limits`.
    pub(crate) fn limited(
        service: &Service,
        id: &str,
        limits: &NodeLimits<'_>,
        now_ms: i64,
    ) -> Option<Self> {
        let cluster = service.cluster();
        let container = cluster.container(id)?;
        let node = cluster.node(container.node)?;
        let application = cluster.application(container.application);
        Some(Self {
            id: id.to_owned(),
            application: application.map(|it| it.id.clone()).unwrap_or_default(),
            node: node.name.clone(),
            running: node.node.get(container.executor)?.clone(),
            corrected_by: cluster.corrected_by(id),
            limits: limits.of_container(container).map(|limits| LimitsSnapshot {
                container: limits,
                settings: service.kept().settings.plan,
                decides: cluster.decides(container.node, now_ms),
            }),
            limit_changes: service.limit_changes.of(container.node, id),
            container: container.clone(),
        })
    }

    /// Of those that run.
    pub(crate) fn take_all(service: &Service, ids: &[String], now_ms: i64) -> Vec<Self> {
        ids.iter().filter_map(|id| Self::take(service, id, now_ms)).collect()
    }

    /// Containers of any nodes. Each node's report is decoded once.
    pub(crate) fn all_details(
        snapshots: Vec<Self>,
        reports: &LatestReports,
        now_ms: i64,
    ) -> Vec<ContainerDetails> {
        let mut by_node: HashMap<String, Option<ArrivedReport>> = HashMap::new();
        let details = |snapshot: Self| {
            let node = by_node.entry(snapshot.node.clone());
            let report = node.or_insert_with_key(|node| reports.of(node));
            snapshot.beside(report.as_ref(), now_ms)
        };
        snapshots.into_iter().map(details).collect()
    }

    /// Beside the newest report of its node.
    pub(crate) fn beside(self, report: Option<&ArrivedReport>, now_ms: i64) -> ContainerDetails {
        let reported = report.and_then(|report| report.of(&self.id));
        let measured = reported.and_then(|(at_ms, samples)| {
            let measured = MeasuredContainer::of(samples)?;
            let age_ms = now_ms - at_ms + i64::from(samples.samples.last()?.age_ms);
            Some(LatestMeasurement { age_ms, measured })
        });
        let limits = report.zip(self.limits).map(|(report, limits)| {
            let in_force = reported.and_then(|(_, samples)| samples.limits);
            limits.details(report.can_limit(), &in_force.unwrap_or_default(), now_ms)
        });
        let Container { kind, request, start_ms, basis, margin, .. } = self.container;
        let planned = self.running.expected_at(now_ms);
        let ends_in_ms = self.running.end_from(now_ms);
        ContainerDetails {
            container: self.id,
            application: self.application,
            node: self.node,
            application_master: kind.is_application_master(),
            request_priority: kind.priority(),
            running_for_ms: (now_ms - start_ms).max(0),
            ends_in_ms,
            requested_memory_bytes: request.memory_bytes,
            requested_vcores: request.vcores,
            by_others: matches!(basis, Some(Basis::Others)),
            profile: basis.as_ref().and_then(Basis::profile).map(|key| key.to_string()),
            margin_percent: 100.0 * margin,
            corrected_by: Resource::ALL.map(|resource| self.corrected_by.get(resource)),
            planned,
            measured,
            limits,
            limit_changes: self.limit_changes.iter().map(LimitChange::details).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ContainerDetails {
    container: String,
    application: String,
    node: String,
    application_master: bool,
    /// An application master has none.
    request_priority: Option<i32>,
    running_for_ms: i64,
    /// None where its end is not predicted, or is past.
    ends_in_ms: Option<i64>,
    requested_memory_bytes: u64,
    requested_vcores: u32,
    /// The key of the profile that it is planned by; none without one.
    profile: Option<String>,
    /// Whether it is planned by what others used of their requests; with neither, it is the request.
    by_others: bool,
    /// The safety margin of the demand.
    margin_percent: f64,
    /// The corrected over the first predicted demand: CPU, memory, network, disk.
    corrected_by: [f64; 4],
    /// What it is expected to use now.
    planned: Resources,
    /// None before its first sample.
    measured: Option<LatestMeasurement>,
    /// Those planned or in force; none before the first report of the node's agent.
    limits: Option<Vec<LimitDetails>>,
    /// The latest changes of what is planned for now, newest first.
    limit_changes: Vec<LimitChangeDetails>,
}

#[derive(Debug, Serialize)]
struct LatestMeasurement {
    /// Since the end of the sample.
    age_ms: i64,
    #[serde(flatten)]
    measured: MeasuredContainer,
}
