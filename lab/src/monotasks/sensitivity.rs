//! How the benefit of each part of Ursa depends on parameters that the paper does not publish.

use elastane_sim::parallel::in_parallel;

use super::comparison::Metric;
use super::job::{Job, Kind};
use super::parameters::{Parameters, Workers};
use super::run::{Outcome, Stuck, simulate};
use super::system::{JobOrder, Removed, System};
use super::workload::Jobs;
use crate::reproduce::Measured;
use crate::variation::{Variation, variation};

/// A variation's change.
#[derive(Debug, Clone, Copy)]
pub enum ChangedParameter {
    /// Of the parameters of Ursa's workers.
    Workers(fn(&mut Workers)),
    /// Of the generated jobs.
    Jobs(fn(&mut [Job])),
}

/// The first changes nothing.
pub const VARIATIONS: &[Variation<ChangedParameter>] = &[
    workers("as it is", "", |_| ()),
    workers("round", "1 s", |it| it.round_s = 1.0),
    workers("round", "3 s", |it| it.round_s = 3.0),
    workers("F in the score", "", |it| it.score_by_f = true),
    workers("F in the score", "round of 3 s", |it| {
        it.score_by_f = true;
        it.round_s = 3.0;
    }),
    workers("F, and W 0.0003", "EPT 1 s, memory 1.5 times", |it| {
        it.score_by_f = true;
        it.order_weight = 0.0003;
        it.expected_processing_s = 1.0;
        it.admitted_memory = 1.5;
    }),
    workers("EPT", "2 s", |it| it.expected_processing_s = 2.0),
    workers("EPT", "10 s", |it| it.expected_processing_s = 10.0),
    workers("EPT", "20 s", |it| it.expected_processing_s = 20.0),
    workers("memory promised", "2 times", |it| it.admitted_memory = 2.0),
    workers("memory promised", "2 times, EPT 20 s", |it| {
        it.admitted_memory = 2.0;
        it.expected_processing_s = 20.0;
    }),
    variation(
        "tasks of a stage",
        "unlike in network to CPU",
        ChangedParameter::Jobs(tell_tasks_apart),
    ),
];

const fn workers(
    parameter: &'static str,
    value: &'static str,
    change: fn(&mut Workers),
) -> Variation<ChangedParameter> {
    variation(parameter, value, ChangedParameter::Workers(change))
}

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

/// How much longer a time is without a part, in percent of the time with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The removed part.
    pub removed: Removed,
    /// The order of jobs, with and without the part.
    pub order: JobOrder,
    /// The growth of the makespan or of the mean completion.
    pub grows: Metric,
}

const fn cost(removed: Removed, order: JobOrder, grows: Metric) -> Cost {
    Cost { removed, order, grows }
}

const EJF: JobOrder = JobOrder::EarliestFirst;
const SRJF: JobOrder = JobOrder::SmallestRemainingFirst;

/// The costs that the paper publishes.
pub const COSTS: [Cost; 8] = [
    cost(Removed::StageAwareness, EJF, Metric::MakespanGrowth),
    cost(Removed::StageAwareness, EJF, Metric::CompletionGrowth),
    cost(Removed::StageAwareness, SRJF, Metric::MakespanGrowth),
    cost(Removed::StageAwareness, SRJF, Metric::CompletionGrowth),
    cost(Removed::OrderOfMonotasks, EJF, Metric::CompletionGrowth),
    cost(Removed::OrderOfJobs, EJF, Metric::CompletionGrowth),
    cost(Removed::NetworkDemand, EJF, Metric::MakespanGrowth),
    cost(Removed::NetworkDemand, EJF, Metric::CompletionGrowth),
];

impl Cost {
    /// A description with the workload.
    pub fn words(&self) -> String {
        let what = match self.grows {
            Metric::MakespanGrowth => "makespan",
            _ => "mean completion",
        };
        let without = match self.removed {
            Removed::StageAwareness => "stage awareness",
            Removed::NetworkDemand => "network demand",
            Removed::OrderOfJobs => "order of jobs",
            Removed::OrderOfMonotasks => "order of monotasks",
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
}

/// The costs `of` under a variation, in their order. The result does not depend on the number of
/// threads.
pub fn costs(
    of: &[Cost],
    variation: &Variation<ChangedParameter>,
    seeds: &[u64],
    threads: usize,
) -> Result<Vec<Measured>, Stuck> {
    let mut parameters = Parameters::default();
    let mut reshape: fn(&mut [Job]) = |_| ();
    match variation.change {
        ChangedParameter::Workers(change) => change(&mut parameters.workers),
        ChangedParameter::Jobs(change) => reshape = change,
    }
    let seeded = in_parallel(seeds.len(), threads, |at| {
        let draw = |jobs: Jobs| {
            let mut jobs = jobs.draw(seeds[at]);
            reshape(&mut jobs);
            jobs
        };
        one_seed(of, &draw, &parameters)
    })?;
    let of_all_seeds =
        |at: usize| Measured { values: seeded.iter().map(|costs| costs[at]).collect() };
    Ok((0..of.len()).map(of_all_seeds).collect())
}

/// One value for each of `of`. Costs that need the same run share it.
fn one_seed(
    of: &[Cost],
    draw: &dyn Fn(Jobs) -> Vec<Job>,
    parameters: &Parameters,
) -> Result<Vec<f64>, Stuck> {
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
            let without = run(cost.jobs(), System::ursa_without(cost.removed, cost.order))?;
            // Growth has a value whenever there is an outcome to compare with.
            Ok(cost.grows.of(&without, Some(&with)).unwrap_or(f64::NAN))
        })
        .collect()
}
