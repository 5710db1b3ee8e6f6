//! How the benefit of each part of Ursa depends on parameters that the paper does not publish.

use elastane_sim::parallel::in_parallel;

use super::job::{Job, Kind, MonotaskError};
use super::parameters::Parameters;
use super::run::{Outcome, simulate};
use super::system::{JobOrder, Placement, System, WorkerSettings};
use super::workload::Jobs;
use crate::reproduce::Measured;
use crate::variation::{Variation, variation};

/// The inputs of a run that a variation changes.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    /// The parameters of the model.
    pub parameters: Parameters,
    /// Changes the generated jobs.
    pub reshape: fn(&mut [Job]),
}

/// A variation's change.
pub type Change = fn(&mut Conditions);

/// The first changes nothing.
pub const VARIATIONS: &[Variation<Change>] = &[
    variation("as it is", "", |_| ()),
    variation("round", "1 s", |it| it.parameters.workers.round_s = 1.0),
    variation("round", "3 s", |it| it.parameters.workers.round_s = 3.0),
    variation("F in the score", "", |it| {
        it.parameters.workers.score_by_f = true
    }),
    variation("F in the score", "round of 3 s", |it| {
        it.parameters.workers.score_by_f = true;
        it.parameters.workers.round_s = 3.0;
    }),
    variation("F, and W 0.0003", "EPT 1 s, memory 1.5 times", |it| {
        it.parameters.workers.score_by_f = true;
        it.parameters.workers.order_weight = 0.0003;
        it.parameters.workers.expected_processing_s = 1.0;
        it.parameters.workers.admitted_memory = 1.5;
    }),
    variation("EPT", "2 s", |it| {
        it.parameters.workers.expected_processing_s = 2.0
    }),
    variation("EPT", "10 s", |it| {
        it.parameters.workers.expected_processing_s = 10.0
    }),
    variation("EPT", "20 s", |it| {
        it.parameters.workers.expected_processing_s = 20.0
    }),
    variation("memory promised", "2 times", |it| {
        it.parameters.workers.admitted_memory = 2.0;
    }),
    variation("memory promised", "2 times, EPT 20 s", |it| {
        it.parameters.workers.admitted_memory = 2.0;
        it.parameters.workers.expected_processing_s = 20.0;
    }),
    variation("tasks of a stage", "unlike in network to CPU", |it| {
        it.reshape = tell_tasks_apart;
    }),
];

/// Tasks fetch 1.9 times and compute 0.1 times as much, or the reverse, in turn, so that the totals of
/// a stage stay.
fn tell_tasks_apart(jobs: &mut [Job]) {
    for stage in jobs.iter_mut().flat_map(|job| &mut job.stages) {
        for (at, task) in stage.tasks.iter_mut().enumerate() {
            let network = if at % 2 == 0 { 1.9 } else { 0.1 };
            task.work[Kind::Network as usize] *= network;
            task.work[Kind::Cpu as usize] *= 2.0 - network;
        }
    }
}

/// The part of Ursa that is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// No bonus for a stage that can be placed whole.
    StageAwareness,
    /// D and Inc of the network do not count.
    NetworkDemand,
    /// JO: stages are placed as they become ready.
    JobOrder,
    /// MO: queues run monotasks as they come.
    MonotaskOrder,
}

/// The time that is compared with and without the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grows {
    /// From the first submission to the last end.
    Makespan,
    /// Mean time from a job's submission to its end.
    MeanCompletion,
}

impl Grows {
    fn percent(self, with: &Outcome, without: &Outcome) -> f64 {
        let [with_s, without_s] = [with, without].map(|outcome| match self {
            Self::Makespan => outcome.makespan_s,
            Self::MeanCompletion => outcome.mean_completion_s(),
        });
        (without_s / with_s - 1.0) * 100.0
    }
}

/// How much longer a time is without a part, in percent of the time with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The removed part.
    pub removed: Removed,
    /// The order of jobs.
    pub order: JobOrder,
    /// The compared time.
    pub grows: Grows,
}

const fn cost(removed: Removed, order: JobOrder, grows: Grows) -> Cost {
    Cost {
        removed,
        order,
        grows,
    }
}

const EJF: JobOrder = JobOrder::EarliestFirst;
const SRJF: JobOrder = JobOrder::SmallestRemainingFirst;

/// All costs of the study.
pub const COSTS: [Cost; 8] = [
    cost(Removed::StageAwareness, EJF, Grows::Makespan),
    cost(Removed::StageAwareness, EJF, Grows::MeanCompletion),
    cost(Removed::StageAwareness, SRJF, Grows::Makespan),
    cost(Removed::StageAwareness, SRJF, Grows::MeanCompletion),
    cost(Removed::MonotaskOrder, EJF, Grows::MeanCompletion),
    cost(Removed::JobOrder, EJF, Grows::MeanCompletion),
    cost(Removed::NetworkDemand, EJF, Grows::Makespan),
    cost(Removed::NetworkDemand, EJF, Grows::MeanCompletion),
];

impl Cost {
    /// A description with the workload.
    #[must_use]
    pub fn words(&self) -> String {
        let what = match self.grows {
            Grows::Makespan => "makespan",
            Grows::MeanCompletion => "mean completion",
        };
        let without = match self.removed {
            Removed::StageAwareness => "stage awareness",
            Removed::NetworkDemand => "network demand",
            Removed::JobOrder => "order of jobs",
            Removed::MonotaskOrder => "order of monotasks",
        };
        let order = match self.order {
            JobOrder::EarliestFirst => "EJF",
            JobOrder::SmallestRemainingFirst => "SRJF",
        };
        let jobs = self.jobs().name();
        format!("{what} of {order} without {without} above that with it, {jobs}, %")
    }

    /// The workload on which the paper removed the part.
    fn jobs(&self) -> Jobs {
        match self.removed {
            Removed::StageAwareness => Jobs::Mixed,
            _ => Jobs::ExpectableMixed,
        }
    }

    fn system(&self) -> System {
        let ursa = WorkerSettings::ursa(self.order);
        System::Workers(match self.removed {
            Removed::StageAwareness | Removed::NetworkDemand => WorkerSettings {
                placement: Placement::Ursa {
                    by_stage: self.removed != Removed::StageAwareness,
                    by_network: self.removed != Removed::NetworkDemand,
                },
                ..ursa
            },
            Removed::JobOrder => WorkerSettings {
                orders_jobs: false,
                ..ursa
            },
            Removed::MonotaskOrder => WorkerSettings {
                orders_monotasks: false,
                ..ursa
            },
        })
    }
}

/// The costs `of` under a variation, in their order. The result does not depend on the number of
/// threads.
///
/// # Errors
/// The first run, in the order of the seeds, that failed.
pub fn costs(
    of: &[Cost],
    variation: &Variation<Change>,
    seeds: &[u64],
    threads: usize,
) -> Result<Vec<Measured>, MonotaskError> {
    let mut conditions = Conditions {
        parameters: Parameters::default(),
        reshape: |_| (),
    };
    (variation.change)(&mut conditions);
    let seeded = in_parallel(seeds.len(), threads, |at| {
        let draw = |jobs: Jobs| {
            let mut jobs = jobs.draw(seeds[at]);
            (conditions.reshape)(&mut jobs);
            jobs
        };
        one_seed(of, &draw, &conditions.parameters)
    })?;
    let of_all_seeds = |at: usize| Measured {
        values: seeded.iter().map(|costs| costs[at]).collect(),
    };
    Ok((0..of.len()).map(of_all_seeds).collect())
}

/// One value for each of `of`. Costs that need the same run share it.
fn one_seed(
    of: &[Cost],
    draw: &dyn Fn(Jobs) -> Vec<Job>,
    parameters: &Parameters,
) -> Result<Vec<f64>, MonotaskError> {
    let mut done: Vec<(Jobs, System, Outcome)> = Vec::new();
    let mut run = |jobs: Jobs, system: System| {
        let known = done
            .iter()
            .find(|(of, on, _)| (*of, *on) == (jobs, system))
            .map(|(_, _, outcome)| outcome.clone());
        match known {
            Some(outcome) => Ok(outcome),
            None => {
                let outcome = simulate(&draw(jobs), &system, parameters, |_, _| {})?;
                done.push((jobs, system, outcome.clone()));
                Ok(outcome)
            }
        }
    };
    of.iter()
        .map(|cost| {
            let with = run(cost.jobs(), System::ursa(cost.order))?;
            let without = run(cost.jobs(), cost.system())?;
            Ok(cost.grows.percent(&with, &without))
        })
        .collect()
}
