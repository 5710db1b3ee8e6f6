//! The outcome of a run.

use elastane_core::{Resource, Resources};
use elastane_sim::summary::{mean, quantile};

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// From submission to end, in the order of submission.
    pub completions_s: Vec<f64>,
    /// Mean use of the cluster until the last end, as a part of what it has room for.
    pub utilization: Resources,
    /// Mean use of the executors that were held, each by the resource that it uses most of, as a
    /// part of their size.
    pub executor_utilization: f64,
    /// Counts of events.
    pub counts: Counts,
}

/// Counts of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Iterations.
    pub iterations: u64,
    /// Executors that handed over.
    pub handed_over: u64,
    /// Times that an application was slow and asked for executors back.
    pub reprovisioned: u64,
    /// Executors that were given back to it.
    pub given_back: u64,
}

impl Outcome {
    /// The mean completion time.
    #[must_use]
    pub fn mean_completion_s(&self) -> f64 {
        mean(&self.completions_s)
    }

    /// The median completion time.
    #[must_use]
    pub fn median_completion_s(&self) -> f64 {
        let mut sorted = self.completions_s.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.5)
    }

    /// The mean over CPU and memory, which are all that is modelled.
    #[must_use]
    pub fn cluster_utilization(&self) -> f64 {
        (self.utilization.cpu_cores + self.utilization.memory_bytes) / 2.0
    }
}

/// Adds up what executors use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Executor-seconds in use, resource by resource.
    used_s: Resources,
    /// Executor-seconds in use of the resource that each uses most of.
    dominant_s: f64,
    /// Executor-seconds held.
    held_s: f64,
}

impl Usage {
    /// Adds executors that are held and use nothing, as while data moves.
    pub(super) fn held(&mut self, executors: usize, length_s: f64) {
        self.held_s += executors as f64 * length_s;
    }

    /// One executor's use over an iteration that it was held for.
    pub(super) fn used(&mut self, usage: Resources, length_s: f64) {
        self.used_s += usage * length_s;
        let dominant = Resource::ALL.map(|resource| usage.get(resource));
        self.dominant_s += dominant.into_iter().fold(0.0, f64::max) * length_s;
    }

    pub(super) fn of_cluster(&self, room: usize, makespan_s: f64) -> Resources {
        let whole_s = room as f64 * makespan_s;
        self.used_s
            .map(|used_s| if whole_s > 0.0 { used_s / whole_s } else { 0.0 })
    }

    pub(super) fn of_executors(&self) -> f64 {
        if self.held_s > 0.0 {
            self.dominant_s / self.held_s
        } else {
            0.0
        }
    }
}
