//! What the REST answers about advice.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) is_recording: bool,
    /// A replay is under way.
    pub(super) is_working: bool,
    /// [`Advice`] of the latest finished replay, as it came.
    pub(super) advice: Option<Value>,
    /// Why the last replay gave no advice.
    pub(super) failure: Option<String>,
}

impl Answer {
    pub(super) fn as_of_ms(&self) -> Option<i64> {
        self.advice.as_ref()?["as_of_ms"].as_i64()
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Advice {
    pub(super) as_of_ms: i64,
    pub(super) took_s: f64,
    /// The record begins here.
    pub(super) since_ms: i64,
    /// Why there are no figures.
    problem: Option<String>,
    /// Applications and containers that ended, and are compared.
    pub(super) applications: usize,
    pub(super) containers: usize,
    /// Applications that began before the record or had not ended.
    pub(super) not_compared: usize,
    /// Applications that had not run before.
    pub(super) first_runs: usize,
    /// Applications without a measured container.
    pub(super) left_out: usize,
    recorded: Option<Figures>,
    capacity: Option<Figures>,
    enforce: Option<Figures>,
    pub(super) replay_error: Option<ReplayError>,
    pub(super) containers_earlier: usize,
    pub(super) mean_earlier_s: f64,
    pub(super) queues: Vec<QueueAdvice>,
    pub(super) by_application: Vec<ApplicationAdvice>,
    pub(super) more_applications: usize,
    pub(super) assumptions: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Figures {
    pub(super) makespan_s: f64,
    pub(super) mean_completion_s: f64,
    pub(super) mean_wait_s: f64,
    /// Hours in which a node had a container.
    pub(super) node_hours: f64,
}

/// The replay as CapacityScheduler over what happened, less 1: 0.04 is 4 % too long.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct ReplayError {
    pub(super) mean_completion: f64,
    pub(super) makespan: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct QueueAdvice {
    pub(super) queue: String,
    pub(super) applications: usize,
    #[serde(flatten)]
    pub(super) gain: Gain,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ApplicationAdvice {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) user: String,
    pub(super) queue: String,
    #[serde(flatten)]
    pub(super) gain: Gain,
}

/// Of an application; of a queue the means and sums over its applications.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Gain {
    pub(super) containers: usize,
    pub(super) containers_earlier: usize,
    pub(super) mean_earlier_s: f64,
    pub(super) recorded_completion_s: f64,
    pub(super) capacity_completion_s: f64,
    pub(super) enforce_completion_s: f64,
    /// Its part of the hours in which nodes had a container; an older ResourceManager does not tell it.
    #[serde(default)]
    pub(super) capacity_node_hours: Option<f64>,
    #[serde(default)]
    pub(super) enforce_node_hours: Option<f64>,
}

/// Advice that has figures.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    pub(super) advice: &'a Advice,
    pub(super) recorded: Figures,
    pub(super) capacity: Figures,
    pub(super) enforce: Figures,
}

impl Advice {
    /// Without figures, why there are none.
    pub(super) fn comparison(&self) -> Result<Comparison<'_>, &str> {
        match (&self.problem, self.recorded, self.capacity, self.enforce) {
            (Some(problem), ..) => Err(problem),
            (None, Some(recorded), Some(capacity), Some(enforce)) => {
                Ok(Comparison { advice: self, recorded, capacity, enforce })
            }
            _ => Err("the replay has no figures"),
        }
    }
}
