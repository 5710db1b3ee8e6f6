//! The result of a comparison, and its JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::monotasks::run::Outcome;
use crate::reproduce::median;

/// The metric of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// From the first submission to the last end, in seconds.
    Makespan,
    /// Mean time from submission to end, in seconds.
    MeanCompletion,
    /// UE of CPU, in percent.
    CpuUsed,
    /// SE of CPU, in percent.
    CpuAllocated,
    /// UE of memory, in percent.
    MemoryUsed,
    /// SE of memory, in percent.
    MemoryAllocated,
    /// Growth of the makespan over the row compared with, in percent.
    MakespanGrowth,
    /// Growth of the mean completion over the row compared with, in percent.
    CompletionGrowth,
    /// Completion time of one job, counted from 1, in seconds.
    JobCompletion(usize),
}

impl Metric {
    /// With the unit.
    pub fn name(self) -> String {
        match self {
            Self::Makespan => "makespan_s".to_owned(),
            Self::MeanCompletion => "mean_completion_s".to_owned(),
            Self::CpuUsed => "ue_cpu_percent".to_owned(),
            Self::CpuAllocated => "se_cpu_percent".to_owned(),
            Self::MemoryUsed => "ue_memory_percent".to_owned(),
            Self::MemoryAllocated => "se_memory_percent".to_owned(),
            Self::MakespanGrowth => "makespan_growth_percent".to_owned(),
            Self::CompletionGrowth => "completion_growth_percent".to_owned(),
            Self::JobCompletion(job) => format!("job_{job}_s"),
        }
    }

    /// None without a row to compare with, or without the job.
    pub(in crate::monotasks) fn of(self, outcome: &Outcome, base: Option<&Outcome>) -> Option<f64> {
        let growth = |now: f64, base: f64| (now / base - 1.0) * 100.0;
        Some(match self {
            Self::Makespan => outcome.makespan_s,
            Self::MeanCompletion => outcome.mean_completion_s(),
            Self::CpuUsed => outcome.cpu_used * 100.0,
            Self::CpuAllocated => outcome.cpu_allocated * 100.0,
            Self::MemoryUsed => outcome.memory_used * 100.0,
            Self::MemoryAllocated => outcome.memory_allocated * 100.0,
            Self::MakespanGrowth => growth(outcome.makespan_s, base?.makespan_s),
            Self::CompletionGrowth => {
                growth(outcome.mean_completion_s(), base?.mean_completion_s())
            }
            Self::JobCompletion(job) => *outcome.completion_s.get(job.checked_sub(1)?)?,
        })
    }
}

/// All tables of a paper.
#[derive(Debug, Clone)]
pub struct Reproduction {
    /// Name, conference and year.
    pub paper: &'static str,
    /// The seeds, in the order of the values of all figures.
    pub seeds: Vec<u64>,
    /// In the paper's order.
    pub tables: Vec<Table>,
}

/// Several systems on one workload.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// A short name, as `table-4`.
    pub name: &'static str,
    /// The table's number and subject.
    pub title: &'static str,
    /// The name of the [`Jobs`](crate::monotasks::Jobs).
    pub workload: &'static str,
    /// The lower bound of the makespan, per seed.
    pub lower_bound_s: Vec<f64>,
    /// In the paper's order.
    #[serde(rename = "policies", serialize_with = "by_name")]
    pub systems: Vec<SystemRow>,
}

/// The results of one system.
#[derive(Debug, Clone, Serialize)]
pub struct SystemRow {
    /// The paper's name of the system.
    #[serde(skip)]
    pub name: &'static str,
    /// One value per seed, as in all lists of values here.
    pub makespan_s: Vec<f64>,
    /// Mean time from submission to end.
    pub mean_completion_s: Vec<f64>,
    /// Of the cluster.
    pub utilization: Utilization,
    /// The table's columns.
    pub figures: Vec<Figure>,
    /// Differences from the published figures in sign or by more than a third, and their reasons.
    pub remarks: Vec<String>,
}

/// Used over available until the end.
#[derive(Debug, Clone, Serialize)]
pub struct Utilization {
    /// Core-seconds, 0 to 1.
    pub cpu: Vec<f64>,
    /// Byte-seconds, 0 to 1.
    pub memory: Vec<f64>,
}

/// A cell of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// The cell's column.
    #[serde(serialize_with = "metric_name")]
    pub metric: Metric,
    /// The published value; None if the paper has none.
    pub published: Option<f64>,
    /// The simulated value per seed; empty if the metric does not apply.
    pub ours: Vec<f64>,
}

impl Figure {
    /// The median of the simulated values.
    pub fn median(&self) -> Option<f64> {
        (!self.ours.is_empty()).then(|| median(&self.ours))
    }
}

fn metric_name<S: Serializer>(metric: &Metric, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&metric.name())
}

fn by_name<S: Serializer>(systems: &[SystemRow], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(systems.len()))?;
    for system in systems {
        map.serialize_entry(system.name, system)?;
    }
    map.end()
}
