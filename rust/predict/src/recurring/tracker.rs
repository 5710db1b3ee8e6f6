//! The progress of a run, estimated from its usage so far.

use std::sync::Arc;

use elastane_core::{Demand, Resource, Resources};

use super::log_normal::LogNormal;
use super::usage_curve::UsageCurve;

/// The number of steps that progress is divided into.
const STEPS: usize = 64;

/// The least deviation of a run's length. Executors start late, idle and are restarted, so time is a
/// weaker sign of progress than the lengths of earlier runs suggest.
const LEAST_LENGTH_DEVIATION: f64 = 0.25;

/// Usage below this part of a run's total says nothing about progress.
const FIRST_PART: f64 = 0.005;

/// What a run is expected to have used, step by step. It takes 5 KB, so the trackers of an application share it.
#[derive(Debug)]
pub struct Expectation {
    length: LogNormal,
    steps: Vec<Expected>,
}

/// Follows one running container.
///
/// Each step of progress has a likelihood: of the time since the start, of the CPU, network and disk
/// used so far, and of the memory held now. Idle time is not progress, so the tracker tolerates late
/// starts and restarts.
#[derive(Debug, Clone)]
pub struct Tracker {
    expectation: Arc<Expectation>,
    elapsed_ms: f64,
    used: Resources,
    latest: Resources,
}

/// The usage of earlier runs up to the end of a step, and their memory in it.
#[derive(Debug)]
struct Expected {
    used: [LogNormal; 4],
    memory: LogNormal,
}

impl Expectation {
    /// By a container's demand.
    pub fn of_demand(demand: &Demand) -> Self {
        Self::of_runs(&[UsageCurve::new(demand)])
    }

    /// By earlier runs.
    pub fn of_runs(runs: &[UsageCurve]) -> Self {
        let steps = (0..STEPS).map(|step| {
            let (from, to) = step_span(step);
            let used: Vec<Resources> = runs
                .iter()
                .map(|run| {
                    let level = run.mean(0.0, to).unwrap_or(Resources::ZERO);
                    let floor = run.total() * FIRST_PART;
                    (level * (to * run.length_ms() / 1e3)).max(floor)
                })
                .collect();
            let now = runs.iter().filter_map(|run| run.mean(from, to));
            Expected {
                used: LogNormal::of_each_resource(&used),
                memory: LogNormal::of(now.map(|it| it.memory_bytes)),
            }
        });
        let length = LogNormal::of(runs.iter().map(UsageCurve::length_ms));
        Self {
            steps: steps.collect(),
            length: LogNormal { deviation: length.deviation.max(LEAST_LENGTH_DEVIATION), ..length },
        }
    }
}

impl Tracker {
    /// Follows a container that has just started.
    pub fn new(expectation: Arc<Expectation>) -> Self {
        Self { expectation, elapsed_ms: 0.0, used: Resources::ZERO, latest: Resources::ZERO }
    }

    /// Follows a container that has just started, by its demand.
    pub fn of_demand(demand: &Demand) -> Self {
        Self::new(Arc::new(Expectation::of_demand(demand)))
    }

    /// Follows a container that has just started, by earlier runs.
    pub fn of_runs(runs: &[UsageCurve]) -> Self {
        Self::new(Arc::new(Expectation::of_runs(runs)))
    }

    /// Adds the usage of the next `length_ms`. Amounts that are not finite and at least 0 are ignored.
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        if usage.first_invalid().is_none() {
            self.elapsed_ms += f64::from(length_ms);
            self.used += usage * (f64::from(length_ms) / 1e3);
            self.latest = usage;
        }
    }

    /// The part of the run that is done, from 0 to 1: the mean of the steps, weighted by likelihood.
    pub fn progress(&self) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (at, likelihood) in self.likelihoods() {
            sum += at * likelihood;
            weight += likelihood;
        }
        sum / weight
    }

    /// Log-likelihood of the samples at the most likely step. 0 before the first sample.
    pub(super) fn greatest_log_likelihood(&self) -> f64 {
        if self.elapsed_ms == 0.0 {
            return 0.0;
        }
        greatest(&self.log_likelihoods())
    }

    /// The progress at the end of each step and its likelihood, the most likely 1. Before the first
    /// sample the start alone.
    pub fn likelihoods(&self) -> Vec<(f64, f64)> {
        if self.elapsed_ms == 0.0 {
            return vec![(0.0, 1.0)];
        }
        let logarithms = self.log_likelihoods();
        let most = greatest(&logarithms);
        let steps = logarithms.into_iter().enumerate();
        steps.map(|(step, logarithm)| (step_span(step).1, (logarithm - most).exp())).collect()
    }

    fn log_likelihoods(&self) -> Vec<f64> {
        (0..STEPS).map(|step| self.log_likelihood(step)).collect()
    }

    fn log_likelihood(&self, step: usize) -> f64 {
        let (_, done) = step_span(step);
        let Expectation { length, steps } = &*self.expectation;
        let expected = &steps[step];
        let by_time = log_likelihood(self.elapsed_ms / done, *length);
        let by_memory = log_likelihood(self.latest.memory_bytes, expected.memory);
        let by_usage: f64 = Resource::FLOWS
            .into_iter()
            .map(|resource| {
                let at = resource as usize;
                let total = steps[STEPS - 1].used[at].center.exp();
                let used = self.used.get(resource).max(total * FIRST_PART);
                log_likelihood(used, expected.used[at])
            })
            .sum();
        by_time + by_memory + by_usage
    }
}

/// Student's t-distribution with three degrees of freedom: its heavy tails keep one resource that
/// departs from earlier runs from outvoting the others.
fn log_likelihood(amount: f64, expected: LogNormal) -> f64 {
    const DEGREES: f64 = 3.0;
    if amount <= 0.0 {
        return 0.0;
    }
    let deviations = (amount.ln() - expected.center) / expected.deviation;
    -(DEGREES + 1.0) / 2.0 * (1.0 + deviations * deviations / DEGREES).ln()
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn step_span(step: usize) -> (f64, f64) {
    (step as f64 / STEPS as f64, (step + 1) as f64 / STEPS as f64)
}
