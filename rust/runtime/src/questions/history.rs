//! What the containers of a node used lately, beside what was planned for them.

use std::collections::HashMap;

use serde::Serialize;

use super::container::ContainerSnapshot;
use crate::latest_reports::LatestReports;
use crate::use_history::{Use, UseHistory};

/// Of the containers that run, and those that ended lately.
#[derive(Debug, Serialize)]
pub(crate) struct NodeHistory {
    /// How long ago each step was, oldest first.
    age_ms: Vec<i64>,
    containers: Vec<ContainerHistory>,
}

/// Amounts at each step; none where it was not measured, or nothing is known of it any more.
#[derive(Debug, Serialize)]
struct ContainerHistory {
    container: String,
    cpu_cores: Vec<Option<f32>>,
    memory_bytes: Vec<Option<f64>>,
    planned_cpu_cores: Vec<Option<f64>>,
    planned_memory_bytes: Vec<Option<f64>>,
}

impl NodeHistory {
    /// None before the first report of the node's agent.
    pub(crate) fn of(
        node: &str,
        running: &[ContainerSnapshot],
        reports: &LatestReports,
        now_ms: i64,
    ) -> Option<Self> {
        let read = |history: &UseHistory| (history.times_ms(), history.containers());
        let (times_ms, containers) = reports.history_of(node, read)?;
        let running: HashMap<_, _> = running.iter().map(|it| (it.id(), it)).collect();
        let of = |(container, used): (String, Vec<Option<Use>>)| {
            let planned = |at_ms: &i64| running.get(container.as_str())?.planned_at(*at_ms);
            let planned: Vec<_> = times_ms.iter().map(planned).collect();
            ContainerHistory {
                cpu_cores: used.iter().map(|it| it.map(|it| it.cpu_cores)).collect(),
                memory_bytes: used.iter().map(|it| it.map(|it| it.memory_bytes.into())).collect(),
                planned_cpu_cores: planned.iter().map(|it| it.map(|it| it.cpu_cores)).collect(),
                planned_memory_bytes: planned
                    .iter()
                    .map(|it| it.map(|it| it.memory_bytes))
                    .collect(),
                container,
            }
        };
        Some(Self {
            age_ms: times_ms.iter().map(|at_ms| now_ms - at_ms).collect(),
            containers: containers.into_iter().map(of).collect(),
        })
    }
}
