//! The result of a comparison, and its JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::monotasks::run::Outcome;

/// The metric of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// From the first submission to the last end, in seconds.
    Makespan,
    /// Mean time from a job's submission to its end, in seconds.
    MeanCompletion,
    /// UE of CPU, in percent.
    CpuUsed,
    /// SE of CPU, in percent.
    CpuAllocated,
    /// UE of memory, in percent.
    MemoryUsed,
    /// SE of memory, in percent.
    MemoryAllocated,
    /// How much longer the makespan is than that of the row it is compared with, in percent.
    MakespanGrowth,
    /// How much longer the mean completion is than that of the row it is compared with, in percent.
    CompletionGrowth,
    /// Completion time of one job, counted from 1, in seconds.
    JobCompletion(usize),
}

impl Metric {
    /// Its name in JSON and text, with its unit.
    #[must_use]
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

    /// None where there is nothing to compare with, or no such job.
    pub(super) fn of(self, outcome: &Outcome, base: Option<&Outcome>) -> Option<f64> {
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

/// The whole comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduction {
    /// The source of the published figures.
    pub paper: &'static str,
    /// In the order in which all figures have them.
    pub seeds: Vec<u64>,
    /// In the paper's order.
    pub tables: Vec<Table>,
}

/// One table.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// A short name, as `table-4`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The jobs.
    pub workload: &'static str,
    /// Of the makespan, one a seed.
    pub lower_bound_s: Vec<f64>,
    /// The systems by name.
    #[serde(rename = "policies", serialize_with = "by_name")]
    pub systems: Vec<SystemRow>,
}

/// One system of a table.
#[derive(Debug, Clone, Serialize)]
pub struct SystemRow {
    /// The paper's name for it.
    #[serde(skip)]
    pub name: &'static str,
    /// One a seed.
    pub makespan_s: Vec<f64>,
    /// One a seed.
    pub mean_completion_s: Vec<f64>,
    /// Used over available.
    pub utilization: Utilization,
    /// The table's columns.
    pub figures: Vec<Figure>,
    /// Where ours differs from the published figure in sign or by more than a third, and why.
    pub remarks: Vec<String>,
}

/// Used over available until the end, one a seed.
#[derive(Debug, Clone, Serialize)]
pub struct Utilization {
    /// Of all cores.
    pub cpu: Vec<f64>,
    /// Of all memory.
    pub memory: Vec<f64>,
}

/// A cell of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Its metric.
    #[serde(serialize_with = "metric_name")]
    pub metric: Metric,
    /// None where the paper has nothing.
    pub published: Option<f64>,
    /// One a seed; none where it does not apply.
    pub ours: Vec<f64>,
}

impl Figure {
    /// The median of ours.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        let mut sorted = self.ours.clone();
        sorted.sort_by(f64::total_cmp);
        let above = sorted.get(sorted.len() / 2)?;
        let below = sorted.get((sorted.len() - 1) / 2)?;
        Some(f64::midpoint(*below, *above))
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
