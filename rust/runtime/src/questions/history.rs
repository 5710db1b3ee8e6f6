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
    cpu_cores: Vec<Option<f32>>,
    memory_bytes: Vec<Option<f64>>,
    planned_cpu_cores: Vec<Option<f32>>,
    planned_memory_bytes: Vec<Option<f64>>,
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
        fn column<T>(steps: &[Option<Use>], of: impl Fn(Use) -> T) -> Vec<Option<T>> {
            steps.iter().map(|step| step.map(&of)).collect()
        }
        Self {
            container,
            cpu_cores: column(&steps, |it| it.cpu_cores),
            memory_bytes: column(&steps, |it| it.memory_bytes.into()),
            planned_cpu_cores: column(&steps, |it| it.planned[0]),
            planned_memory_bytes: column(&steps, |it| it.planned[1].into()),
        }
    }
}
