//! How far a run has come, from what it used so far, and what it will use next.

use elastane_core::{Demand, Resource, Resources};

use super::Prediction;
use super::curve::Curve;
use super::forecast::{bounds, likely_factors};
use super::pool::Pool;
use super::spread::{Spread, levels, mean};

/// Progress is told apart in so many steps.
const STEPS: usize = 64;

/// Steps less likely than this part of the likeliest are left out of what comes next.
const UNLIKELY: f64 = 0.02;

/// How much a run's time says of its progress: executors start late, idle and are restarted, so it
/// says less than the lengths of earlier runs would have it.
const LEAST_LENGTH_DEVIATION: f64 = 0.25;

/// What is used before this part of a run's total says nothing of its progress.
const FIRST_PART: f64 = 0.005;

/// Follows one running container.
///
/// Each step of progress has a likelihood: by the time since the start, by what was used so far of
/// CPU, network and disk against what earlier runs had used by that step, and by the memory held now
/// against theirs. Time in which nothing is used is no progress, so a late start or a restart is
/// stood.
#[derive(Debug, Clone)]
pub struct Tracker {
    curves: Vec<Curve>,
    prices: [f64; 4],
    scales: [f64; 4],
    factors: [[f64; 5]; 4],
    length: Spread,
    /// What earlier runs had used by the end of each step, and held in it.
    expected: Vec<Expected>,
    elapsed_ms: f64,
    used: Resources,
    latest: Resources,
}

#[derive(Debug, Clone)]
struct Expected {
    used: [Spread; 4],
    memory: Spread,
}

impl Tracker {
    /// Of a container that has just started.
    #[must_use]
    pub fn new(prediction: &Prediction) -> Self {
        Self::along(prediction.curves.clone(), prediction.prices)
    }

    /// Of a container that has just started and of which nothing is known but its demand. Its
    /// progress is told by that, and nothing bounds [`next`](Tracker::next).
    #[must_use]
    pub fn of_demand(demand: &Demand) -> Self {
        Self::along(vec![Curve::new(demand)], [0.0; 4])
    }

    fn along(curves: Vec<Curve>, prices: [f64; 4]) -> Self {
        let run_levels: Vec<Resources> = curves.iter().map(Curve::level).collect();
        let expected = (0..STEPS).map(|step| {
            let (from, to) = step_span(step);
            let used: Vec<Resources> = curves
                .iter()
                .map(|curve| {
                    let level = curve.mean(0.0, to).unwrap_or(Resources::ZERO);
                    let floor = curve.total() * FIRST_PART;
                    (level * (to * curve.length_ms() / 1e3)).max(floor)
                })
                .collect();
            let now: Vec<Resources> = curves.iter().filter_map(|it| it.mean(from, to)).collect();
            Expected {
                used: levels(&used),
                memory: Spread::of(now.iter().map(|it| it.memory_bytes)),
            }
        });
        let length = Spread::of(curves.iter().map(Curve::length_ms));
        Self {
            prices,
            scales: mean(&run_levels).to_array(),
            factors: likely_factors(&curves),
            length: Spread {
                deviation: length.deviation.max(LEAST_LENGTH_DEVIATION),
                ..length
            },
            expected: expected.collect(),
            elapsed_ms: 0.0,
            used: Resources::ZERO,
            latest: Resources::ZERO,
            curves,
        }
    }

    /// Takes in what was used for the next so many milliseconds. Amounts that are not finite and at
    /// least 0 are not taken in.
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        if usage.first_invalid().is_none() {
            self.elapsed_ms += f64::from(length_ms);
            self.used += usage * (f64::from(length_ms) / 1e3);
            self.latest = usage;
        }
    }

    /// The part of the run that is done, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        if self.elapsed_ms == 0.0 {
            return 0.0;
        }
        let steps = self.likelihoods().into_iter().enumerate();
        let (sum, weight) = steps.fold((0.0, 0.0), |(sum, weight), (step, likelihood)| {
            let (_, to) = step_span(step);
            (sum + to * likelihood, weight + likelihood)
        });
        sum / weight
    }

    /// The time that the run has taken over what it was expected to take to get here: above 1 it is
    /// slow. 1 before anything was seen.
    #[must_use]
    pub fn slowness(&self) -> f64 {
        let expected_ms = self.progress() * self.length.center.exp();
        if expected_ms > 0.0 {
            self.elapsed_ms / expected_ms
        } else {
            1.0
        }
    }

    /// What the next so many milliseconds are expected to use, and what bounds it as the envelope
    /// does.
    #[must_use]
    pub fn next(&self, length_ms: u32) -> Ahead {
        let part = f64::from(length_ms) / self.length.center.exp();
        let likelihoods = self.likelihoods();
        let likeliest = likelihoods.iter().copied().fold(0.0, f64::max);
        let mut values: [Vec<(f64, f64)>; 4] = Default::default();
        let (mut sum, mut weight) = (Resources::ZERO, 0.0);
        for (step, likelihood) in likelihoods.into_iter().enumerate() {
            if likelihood < likeliest * UNLIKELY {
                continue;
            }
            let at = if self.elapsed_ms == 0.0 {
                0.0
            } else {
                step_span(step).1
            };
            // Past the end the last of it holds.
            let from = at.min(1.0 - part).max(0.0);
            for curve in &self.curves {
                for (usage, overlap) in curve.between(from - part / 2.0, from + 1.5 * part) {
                    let likely = likelihood * overlap;
                    sum += usage * likely;
                    weight += likely;
                    for ((values, factors), used) in
                        values.iter_mut().zip(self.factors).zip(usage.to_array())
                    {
                        values.extend(factors.map(|factor| (used * factor, likely)));
                    }
                }
            }
        }
        Ahead {
            expected: if weight > 0.0 {
                sum * (1.0 / weight)
            } else {
                Resources::ZERO
            },
            bound: bounds(&values.map(Pool::new), self.prices, self.scales),
        }
    }

    /// The logarithm of how likely what was seen is at the step at which it is the likeliest. Says
    /// something beside that of another tracker that has seen the same; 0 before anything was seen.
    pub(super) fn log_likelihood_of_seen(&self) -> f64 {
        if self.elapsed_ms == 0.0 {
            return 0.0;
        }
        let steps = (0..STEPS).map(|step| self.log_likelihood(step));
        steps.fold(f64::NEG_INFINITY, f64::max)
    }

    /// How likely it is that the run is at the end of each step, the likeliest 1.
    fn likelihoods(&self) -> Vec<f64> {
        if self.elapsed_ms == 0.0 {
            return vec![1.0];
        }
        let logarithms: Vec<f64> = (0..STEPS).map(|step| self.log_likelihood(step)).collect();
        let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logarithms.into_iter().map(|it| (it - most).exp()).collect()
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

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    /// The mean.
    pub expected: Resources,
    /// What is exceeded for a small part of the time only.
    pub bound: Resources,
}

/// Student's distribution with three degrees of freedom: one resource that goes another way than in
/// earlier runs does not outvote the others.
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
