//! How far a run has come, from what it used so far.

use elastane_core::{Demand, Resource, Resources};

use super::curve::Curve;
use super::spread::{Spread, levels};

/// The number of steps that progress is told apart in.
const STEPS: usize = 64;

/// The least deviation of a run's length. Executors start late, idle and are restarted, so time says
/// less of progress than the lengths of earlier runs suggest.
const LEAST_LENGTH_DEVIATION: f64 = 0.25;

/// Use below this part of a run's total does not tell its progress.
const FIRST_PART: f64 = 0.005;

/// Follows one running container.
///
/// Each step of progress has a likelihood: of the time since the start, of the CPU, network and disk
/// used so far, and of the memory held now. Idle time is not progress, so the tracker tolerates late
/// starts and restarts.
#[derive(Debug, Clone)]
pub struct Tracker {
    length: Spread,
    expected: Vec<Expected>,
    elapsed_ms: f64,
    used: Resources,
    latest: Resources,
}

/// What runs had used by the end of a step, and the memory they held in it.
#[derive(Debug, Clone)]
struct Expected {
    used: [Spread; 4],
    memory: Spread,
}

impl Tracker {
    /// Follows a container that has just started, by its demand.
    #[must_use]
    pub fn of_demand(demand: &Demand) -> Self {
        Self::of_runs(&[Curve::new(demand)])
    }

    /// Follows a container that has just started, by earlier runs.
    pub(crate) fn of_runs(runs: &[Curve]) -> Self {
        let expected = (0..STEPS).map(|step| {
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
                used: levels(&used),
                memory: Spread::of(now.map(|it| it.memory_bytes)),
            }
        });
        let length = Spread::of(runs.iter().map(Curve::length_ms));
        Self {
            expected: expected.collect(),
            length: Spread {
                deviation: length.deviation.max(LEAST_LENGTH_DEVIATION),
                ..length
            },
            elapsed_ms: 0.0,
            used: Resources::ZERO,
            latest: Resources::ZERO,
        }
    }

    /// Takes in what was used for the next `length_ms`. Amounts that are not finite and at least 0 are
    /// ignored.
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        if usage.first_invalid().is_none() {
            self.elapsed_ms += f64::from(length_ms);
            self.used += usage * (f64::from(length_ms) / 1e3);
            self.latest = usage;
        }
    }

    /// The part of the run that is done, from 0 to 1: the mean over the likelihoods.
    #[must_use]
    pub fn progress(&self) -> f64 {
        let (sum, weight) = self
            .likelihoods()
            .into_iter()
            .fold((0.0, 0.0), |(sum, weight), (at, likelihood)| {
                (sum + at * likelihood, weight + likelihood)
            });
        sum / weight
    }

    pub(crate) fn elapsed_ms(&self) -> f64 {
        self.elapsed_ms
    }

    pub(crate) fn expected_length_ms(&self) -> f64 {
        self.length.center.exp()
    }

    /// Log-likelihood of the samples at the most likely step. 0 before the first sample.
    pub(super) fn log_likelihood_of_seen(&self) -> f64 {
        if self.elapsed_ms == 0.0 {
            return 0.0;
        }
        let steps = (0..STEPS).map(|step| self.log_likelihood(step));
        steps.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The progress at the end of each step and its likelihood, the most likely 1. Before the first
    /// sample the start alone.
    pub(crate) fn likelihoods(&self) -> Vec<(f64, f64)> {
        if self.elapsed_ms == 0.0 {
            return vec![(0.0, 1.0)];
        }
        let logarithms: Vec<f64> = (0..STEPS).map(|step| self.log_likelihood(step)).collect();
        let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let steps = logarithms.into_iter().enumerate();
        steps
            .map(|(step, logarithm)| (step_span(step).1, (logarithm - most).exp()))
            .collect()
    }

    fn log_likelihood(&self, step: usize) -> f64 {
        let (_, done) = step_span(step);
        let expected = &self.expected[step];
        let by_time = log_likelihood(self.elapsed_ms / done, self.length);
        let by_memory = log_likelihood(self.latest.memory_bytes, expected.memory);
        let by_use: f64 = Resource::FLOWS
            .into_iter()
            .map(|resource| {
                let at = resource as usize;
                let total = self.expected[STEPS - 1].used[at].center.exp();
                let used = self.used.get(resource).max(total * FIRST_PART);
                log_likelihood(used, expected.used[at])
            })
            .sum();
        by_time + by_memory + by_use
    }
}

/// Student's t-distribution with three degrees of freedom: its heavy tails keep one resource that
/// departs from earlier runs from outvoting the others.
fn log_likelihood(amount: f64, spread: Spread) -> f64 {
    const DEGREES: f64 = 3.0;
    if amount <= 0.0 {
        return 0.0;
    }
    let apart = (amount.ln() - spread.center) / spread.deviation;
    -(DEGREES + 1.0) / 2.0 * (1.0 + apart * apart / DEGREES).ln()
}

fn step_span(step: usize) -> (f64, f64) {
    (step as f64 / STEPS as f64, (step + 1) as f64 / STEPS as f64)
}
