//! The outcome of a run.

use elastane_core::Resources;
use elastane_core::reprovision::Reprovisioned;

use super::forecasts::ForecastStart;
use super::meter::{LEVELS, Meter, UseOverTime};

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedRun {
    /// The policy's name.
    pub policy: &'static str,
    /// In the order of the workload.
    pub applications: Vec<ApplicationOutcome>,
    /// From the first submission to the last end, in seconds.
    pub makespan_s: f64,
    /// Mean use over capacity, from the first submission to the last end.
    pub utilization: Resources,
    /// The part of the machines' time in which more than 70, 90 and 100 % of each resource was
    /// wanted, in the order of [`elastane_core::Resource::ALL`].
    pub time_above: [[f64; LEVELS.len()]; 4],
    /// Work that was done, lost work included: core-seconds, byte-seconds held, bytes, bytes.
    pub work_done: Resources,
    /// Total running time of all executors, in seconds.
    pub executors_s: f64,
    /// Total time in which a machine had an executor, in seconds.
    pub occupied_s: f64,
    /// Use of all machines over time.
    pub timeline: UseOverTime,
    /// The recorded node.
    pub packing: Packing,
    /// Counts of events.
    pub counts: Counts,
    /// Corrections of running containers.
    pub reprovisioned: Vec<Reprovisioned>,
    /// Expected starts and the truth.
    pub forecasts: Vec<ForecastStart>,
}

/// Counts of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Containers that were placed.
    pub placed: u64,
    /// Executors that were killed for want of memory.
    pub killed: u64,
    /// Executors that were released because they were idle.
    pub released: u64,
    /// Rounds that the core was asked for.
    pub rounds: u64,
    /// All events.
    pub events: u64,
}

/// One application.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ApplicationOutcome {
    /// Its name.
    pub name: String,
    /// Its submission, in seconds from the start of the simulation.
    pub submitted_s: f64,
    /// When it had to be done; none without a deadline.
    pub deadline_s: Option<f64>,
    /// When its first executor started.
    pub started_s: f64,
    /// When each of its executors first started, by their numbers.
    #[serde(skip)]
    pub starts_s: Vec<f64>,
    /// When its last executor ended.
    pub ended_s: f64,
    /// Its part of [`SimulatedRun::occupied_s`]: a machine's time is divided among its executors by the dominant shares
    /// of their requests.
    #[serde(skip)]
    pub occupied_s: f64,
}

impl ApplicationOutcome {
    /// From submission to end.
    pub fn completion_s(&self) -> f64 {
        self.ended_s - self.submitted_s
    }

    /// Whether it ended after its deadline.
    pub fn missed_deadline(&self) -> bool {
        self.deadline_s.is_some_and(|deadline_s| self.ended_s > deadline_s)
    }
}

/// The use of one node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Packing {
    /// The node's size.
    pub capacity: Resources,
    /// In the order of time.
    pub pieces: Vec<PackingPiece>,
}

/// The use of one application on the node over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackingPiece {
    /// Its place in the workload.
    pub application: usize,
    /// From when on, in milliseconds.
    pub from_ms: f64,
    /// Until when.
    pub to_ms: f64,
    /// The amounts.
    pub usage: Resources,
}

impl SimulatedRun {
    pub(super) fn new(
        policy: &'static str,
        applications: Vec<ApplicationOutcome>,
        meter: Meter,
        machines: usize,
        capacity: Resources,
    ) -> Self {
        let submitted_s = applications.iter().map(|one| one.submitted_s);
        let first_s = submitted_s.min_by(f64::total_cmp).unwrap_or(0.0);
        let ended_s = applications.iter().map(|one| one.ended_s);
        let last_s = ended_s.max_by(f64::total_cmp).unwrap_or(0.0);
        let makespan_s = last_s - first_s;
        let part = |amount: f64, whole: f64| if whole > 0.0 { amount / whole } else { 0.0 };
        let whole_ms = makespan_s * 1e3 * machines as f64;
        Self {
            policy,
            applications,
            makespan_s,
            utilization: meter.used().share_of(capacity * makespan_s),
            time_above: meter
                .above_ms()
                .map(|levels| levels.map(|above_ms| part(above_ms, whole_ms))),
            work_done: meter.used(),
            executors_s: meter.executors_ms() / 1e3,
            occupied_s: meter.occupied_ms() / 1e3,
            timeline: meter.timeline,
            packing: Packing::default(),
            counts: Counts::default(),
            reprovisioned: Vec::new(),
            forecasts: Vec::new(),
        }
    }

    /// Each application's completion time, the shortest first.
    pub fn completions_s(&self) -> Vec<f64> {
        let completions = self.applications.iter();
        let mut completions: Vec<f64> = completions.map(ApplicationOutcome::completion_s).collect();
        completions.sort_by(f64::total_cmp);
        completions
    }

    /// The number of applications that ended after their deadline.
    pub fn missed_deadlines(&self) -> usize {
        self.applications.iter().filter(|one| one.missed_deadline()).count()
    }

    /// The mean completion time; 0 without applications.
    pub fn mean_completion_s(&self) -> f64 {
        crate::summary::mean(&self.completions_s())
    }

    /// The median completion time; 0 without applications.
    pub fn median_completion_s(&self) -> f64 {
        crate::summary::quantile(&self.completions_s(), 0.5)
    }

    /// The completion time that one in twenty exceeds; 0 without applications.
    pub fn p95_completion_s(&self) -> f64 {
        crate::summary::quantile(&self.completions_s(), 0.95)
    }
}
