//! The targets of the regressions: the length of a run and its total usage.

use elastane_core::{Demand, Resource, Resources};

use crate::recurring::Measure;
use crate::score::amount;
use crate::statistics::mean;

/// The least usage, as a part of the runs' mean. Without it the logarithm of almost no usage would
/// outweigh the other runs.
const LEAST_PART: f64 = 1e-3;

/// The length in seconds and the total usage of each resource; of memory, the mean.
///
/// Totals instead of levels: a run on a busy disk uses less per second for longer; its total stays the
/// same.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Targets([f64; Targets::COUNT]);

/// The log-errors of a prediction, in the order of [`Targets::MEASURES`].
pub(crate) type LogErrors = [f64; Targets::MEASURES.len()];

impl Targets {
    pub(crate) const COUNT: usize = 5;

    /// The measures in which runs are compared; they are the first targets.
    pub(crate) const MEASURES: [Measure; 3] =
        [Measure::Length, Measure::CpuTime, Measure::MemoryMean];

    /// The names in reports.
    pub(crate) const NAMES: [&str; Self::COUNT] = ["length", "cpu", "memory", "network", "disk"];

    pub(crate) fn of(used: &Demand) -> Self {
        let length_s = f64::from(used.slot_ms()) / 1e3 * used.slots().len() as f64;
        let mut targets = [length_s; Self::COUNT];
        let used = amount(used);
        for (target, resource) in targets[1..].iter_mut().zip(Resource::ALL) {
            *target = used.get(resource);
            if resource == Resource::Memory {
                *target /= length_s;
            }
        }
        Self(targets)
    }

    pub(crate) fn set(&mut self, target: usize, value: f64) {
        self.0[target] = value;
    }

    /// The logarithms of one target over all runs; none where no run used the resource.
    pub(crate) fn logarithms(runs: &[Self], target: usize) -> Option<Vec<f64>> {
        let sum: f64 = runs.iter().map(|run| run.0[target]).sum();
        let least = sum / runs.len() as f64 * LEAST_PART;
        let logarithm = |run: &Self| run.0[target].max(least).ln();
        (least > 0.0).then(|| runs.iter().map(logarithm).collect())
    }

    /// The logarithm of actual over predicted, in each of [`Targets::MEASURES`].
    pub(crate) fn log_errors(&self, predicted: &Self) -> LogErrors {
        std::array::from_fn(|target| {
            let (actual, predicted) = (self.0[target], predicted.0[target]);
            if predicted > 0.0 {
                (actual / predicted).max(LEAST_PART).ln()
            } else {
                // None of the runs behind the prediction used the resource.
                0.0
            }
        })
    }

    pub(crate) fn length_s(&self) -> f64 {
        self.0[0].max(1e-3)
    }

    /// The mean usage over the run.
    pub(crate) fn level(&self) -> Resources {
        let [length_s, cpu, memory, network, disk] = self.0;
        let length_s = length_s.max(1e-3);
        Resources::from_array([cpu / length_s, memory, network / length_s, disk / length_s])
    }

    /// The mean of |predicted ÷ used − 1|, at most 1, over the totals of the resources that were used.
    pub(crate) fn error(&self, actual: &Self) -> f64 {
        let total = |of: &Self| of.level() * of.length_s();
        let pairs = total(self).to_array().into_iter().zip(total(actual).to_array());
        let errors: Vec<f64> = pairs
            .filter(|(_, actual)| *actual > 0.0)
            .map(|(predicted, actual)| (predicted / actual - 1.0).abs().min(1.0))
            .collect();
        mean(&errors)
    }
}
