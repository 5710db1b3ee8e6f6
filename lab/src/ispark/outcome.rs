//! The outcome of a run.

use elastane_core::Resources;
use elastane_sim::summary::mean;

use crate::reproduce::median;

/// The result of one allocation on one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct IsparkOutcome {
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// The completion times, in the order of submission.
    pub completions_s: Vec<f64>,
    /// Mean utilization of the cluster until the last end.
    pub utilization: Resources,
    /// Mean utilization of the allocated executors, each by its dominant resource.
    pub executor_utilization: f64,
    /// Events of the run.
    pub counts: IsparkCounts,
}

/// Events of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct IsparkCounts {
    /// Finished iterations of all applications.
    pub iterations: u64,
    /// Executors that were packed into others.
    pub handed_over: u64,
    /// Requests of slow applications to get executors back.
    pub reprovisioned: u64,
    /// Executors that applications got back.
    pub given_back: u64,
}

impl IsparkOutcome {
    /// The mean time from submission to end.
    pub fn mean_completion_s(&self) -> f64 {
        mean(&self.completions_s)
    }

    /// The median time from submission to end.
    pub fn median_completion_s(&self) -> f64 {
        median(&self.completions_s)
    }

    /// The mean over CPU and memory, the only modelled resources.
    pub fn cluster_utilization(&self) -> f64 {
        (self.utilization.cpu_cores + self.utilization.memory_bytes) / 2.0
    }
}

/// Integrates the utilization of executors.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IsparkUsage {
    /// Executor-seconds in use, resource by resource.
    used_s: Resources,
    /// Executor-seconds in use of the dominant resource of each executor.
    dominant_s: f64,
    /// Executor-seconds held.
    held_s: f64,
}

impl IsparkUsage {
    /// Adds idle executors, as while data moves.
    pub(super) fn held(&mut self, executors: usize, length_s: f64) {
        self.held_s += executors as f64 * length_s;
    }

    /// Adds an executor's utilization during an iteration.
    pub(super) fn used(&mut self, usage: Resources, length_s: f64) {
        self.used_s += usage * length_s;
        self.dominant_s += usage.to_array().into_iter().fold(0.0, f64::max) * length_s;
    }

    pub(super) fn of_cluster(&self, room: usize, makespan_s: f64) -> Resources {
        let whole_s = room as f64 * makespan_s;
        self.used_s.map(|used_s| if whole_s > 0.0 { used_s / whole_s } else { 0.0 })
    }

    pub(super) fn of_executors(&self) -> f64 {
        if self.held_s > 0.0 { self.dominant_s / self.held_s } else { 0.0 }
    }
}
