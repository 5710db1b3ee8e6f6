//! One node: its containers, and what is planned on it.

use elastane_core::{Node, Resources};
use serde::Serialize;

use super::container::{ContainerDetails, ContainerSnapshot};
use super::history::NodeHistory;
use super::planned_series::PlannedSeries;
use crate::latest_reports::LatestReports;
use crate::service::Service;

/// Plain data of one moment.
#[derive(Debug)]
pub(crate) struct NodeSnapshot {
    name: String,
    node: Node,
    containers: Vec<ContainerSnapshot>,
}

impl NodeSnapshot {
    /// None for a node that is not known.
    pub(crate) fn take(service: &Service, name: &str, now_ms: i64) -> Option<Self> {
        let cluster = service.cluster();
        let node = cluster.node_named(name)?;
        let (entry, limits) = (cluster.node(node)?, cluster.limits_on(node)?);
        let containers = entry
            .containers()
            .filter_map(|(id, _)| ContainerSnapshot::limited(service, id, &limits, now_ms));
        Some(Self {
            name: name.to_owned(),
            node: entry.node.clone(),
            containers: containers.collect(),
        })
    }

    pub(crate) fn into_details(self, reports: &LatestReports, now_ms: i64) -> NodeDetails {
        let report = reports.of(&self.name);
        let history = NodeHistory::of(&self.name, reports, now_ms);
        let containers = self.containers.into_iter();
        NodeDetails {
            capacity: self.node.capacity,
            planned: PlannedSeries::of(&self.node.available(now_ms)),
            containers: containers.map(|it| it.beside(report.as_ref(), now_ms)).collect(),
            history,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct NodeDetails {
    /// The physical size as measured; 0 where it is not known.
    capacity: Resources,
    planned: PlannedSeries,
    containers: Vec<ContainerDetails>,
    /// None before the agent's first report.
    history: Option<NodeHistory>,
}
