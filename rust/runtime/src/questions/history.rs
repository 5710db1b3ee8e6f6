//! What the containers of a node used lately, beside what was planned for them then.

use serde::Serialize;

use crate::latest_reports::LatestReports;
use crate::use_history::Use;

/// Of the containers that run, and those that ended lately.
#[derive(Debug, Serialize)]
pub(crate) struct NodeHistory {
    /// How long ago each step was, oldest first.
    age_ms: Vec<i64>,
    containers: Vec<ContainerHistory>,
}

/// Amounts at each step; none where it was not measured.
#[derive(Debug, Serialize)]
struct ContainerHistory {
    container: String,
    cpu_cores: Vec<Option<f64>>,
    memory_bytes: Vec<Option<f64>>,
    network_bytes_per_s: Vec<Option<f64>>,
    disk_bytes_per_s: Vec<Option<f64>>,
    planned_cpu_cores: Vec<Option<f64>>,
    planned_memory_bytes: Vec<Option<f64>>,
    planned_network_bytes_per_s: Vec<Option<f64>>,
    planned_disk_bytes_per_s: Vec<Option<f64>>,
}

impl NodeHistory {
    /// None before the first report of the node's agent.
    pub(crate) fn of(node: &str, reports: &LatestReports, now_ms: i64) -> Option<Self> {
        let (times_ms, containers) = reports.history_of(node)?;
        Some(Self {
            age_ms: times_ms.iter().map(|at_ms| now_ms - at_ms).collect(),
            containers: containers.into_iter().map(ContainerHistory::of).collect(),
        })
    }
}

impl ContainerHistory {
    fn of((container, steps): (String, Vec<Option<Use>>)) -> Self {
        let column = |of: fn(Use) -> f64| steps.iter().map(|step| step.map(of)).collect();
        Self {
            container,
            cpu_cores: column(|it| it.used.cpu_cores),
            memory_bytes: column(|it| it.used.memory_bytes),
            network_bytes_per_s: column(|it| it.used.network_bytes_per_s),
            disk_bytes_per_s: column(|it| it.used.disk_bytes_per_s),
            planned_cpu_cores: column(|it| it.planned.cpu_cores),
            planned_memory_bytes: column(|it| it.planned.memory_bytes),
            planned_network_bytes_per_s: column(|it| it.planned.network_bytes_per_s),
            planned_disk_bytes_per_s: column(|it| it.planned.disk_bytes_per_s),
        }
    }
}
