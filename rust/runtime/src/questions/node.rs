//! One node: its containers, and what is planned on it.

use elastane_core::{Available, Cluster, Demand, Node, Resources, SLOT_MS};
use serde::Serialize;

use super::container::{ContainerDetails, ContainerSnapshot};
use crate::latest_reports::LatestReports;

/// Ten minutes.
const PLANNED_SLOTS: i64 = 200;

/// Plain data of one moment.
#[derive(Debug)]
pub(crate) struct NodeSnapshot {
    name: String,
    node: Node,
    containers: Vec<ContainerSnapshot>,
}

impl NodeSnapshot {
    /// None for a node that is not known.
    pub(crate) fn take(cluster: &Cluster, name: &str) -> Option<Self> {
        let entry = cluster.node(cluster.node_named(name)?)?;
        let containers = entry.containers();
        let containers = containers.filter_map(|(id, _)| ContainerSnapshot::take(cluster, id));
        Some(Self {
            name: name.to_owned(),
            node: entry.node.clone(),
            containers: containers.collect(),
        })
    }

    pub(crate) fn into_details(self, reports: &LatestReports, now_ms: i64) -> NodeDetails {
        let report = reports.of(&self.name);
        let containers = self.containers.into_iter();
        NodeDetails {
            capacity: self.node.capacity,
            planned: PlannedSeries::of(&self.node.available(now_ms)),
            containers: containers.map(|it| it.beside(report.as_deref(), now_ms)).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct NodeDetails {
    /// The physical size as measured; 0 where it is not known.
    capacity: Resources,
    planned: PlannedSeries,
    containers: Vec<ContainerDetails>,
}

/// The planned use of all containers together in each slot from now on.
#[derive(Debug, Serialize)]
struct PlannedSeries {
    slot_ms: u32,
    cpu_cores: Vec<f64>,
    memory_bytes: Vec<f64>,
    network_bytes_per_s: Vec<f64>,
    disk_bytes_per_s: Vec<f64>,
}

impl PlannedSeries {
    fn of(available: &Available) -> Self {
        let until_ms = PLANNED_SLOTS * i64::from(SLOT_MS);
        let nothing = Demand::for_life(Resources::ZERO);
        let capacity = available.capacity();
        let mut slots = Vec::new();
        for segment in available.segments(&nothing, until_ms) {
            let planned = capacity - segment.available;
            // The amounts at the beginning of each slot that begins in the segment.
            while slots.len() as i64 * i64::from(SLOT_MS) < segment.to_ms.min(until_ms) {
                slots.push(planned.map(|amount| amount.max(0.0)));
            }
        }
        let column = |of: fn(&Resources) -> f64| slots.iter().map(of).collect();
        Self {
            slot_ms: SLOT_MS,
            cpu_cores: column(|it| it.cpu_cores),
            memory_bytes: column(|it| it.memory_bytes),
            network_bytes_per_s: column(|it| it.network_bytes_per_s),
            disk_bytes_per_s: column(|it| it.disk_bytes_per_s),
        }
    }
}

#[cfg(test)]
mod tests;
