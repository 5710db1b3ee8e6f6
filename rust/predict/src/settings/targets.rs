//! What is learned: how long a run is, and how much it uses in all.

use elastane_core::{Demand, Resource, Resources};

use crate::recurring::Measure;
use crate::score::amount;

/// A resource that a run used less of than this part of the runs' mean counts as so much: the
/// logarithm of next to nothing would outweigh all the others.
const LEAST_PART: f64 = 1e-3;

/// The length in seconds and, for each resource, all that was used; of memory the mean.
///
/// Totals and not levels: a run on a busy disk uses less for longer, its total stays.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Targets([f64; Targets::COUNT]);

/// By how much a run is missed.
pub(crate) type Missed = [f64; Targets::MEASURES.len()];

impl Targets {
    pub(crate) const COUNT: usize = 5;

    /// What runs are compared in, as those with the same settings are: the first of the targets.
    pub(crate) const MEASURES: [Measure; 3] =
        [Measure::Length, Measure::CpuTime, Measure::MemoryMean];

    /// The words that reports use.
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

    /// One target of all runs; none where no run used any.
    pub(crate) fn logarithms(runs: &[Self], target: usize) -> Option<Vec<f64>> {
        let sum: f64 = runs.iter().map(|run| run.0[target]).sum();
        let least = sum / runs.len() as f64 * LEAST_PART;
        let logarithm = |run: &Self| run.0[target].max(least).ln();
        (least > 0.0).then(|| runs.iter().map(logarithm).collect())
    }

    /// The logarithm of what it was over what is said of it, in each of [`Targets::MEASURES`].
    pub(crate) fn missed(&self, said: &Self) -> Missed {
        std::array::from_fn(|target| {
            let (was, said) = (self.0[target], said.0[target]);
            if said > 0.0 {
                (was / said).max(LEAST_PART).ln()
            } else {
                // None of those that say it used any.
                0.0
            }
        })
    }

    pub(crate) fn length_s(&self) -> f64 {
        self.0[0].max(1e-3)
    }

    /// The mean use over the run.
    pub(crate) fn level(&self) -> Resources {
        let [length_s, cpu, memory, network, disk] = self.0;
        let length_s = length_s.max(1e-3);
        Resources::from_array([cpu / length_s, memory, network / length_s, disk / length_s])
    }

    /// The mean over the resources that were used of |predicted ÷ used − 1|, of totals.
    pub(crate) fn error(&self, was: &Self) -> f64 {
        let total = |of: &Self| of.level() * of.length_s();
        let pairs = total(self)
            .to_array()
            .into_iter()
            .zip(total(was).to_array());
        let misses: Vec<f64> = pairs
            .filter(|(_, was)| *was > 0.0)
            .map(|(said, was)| (said / was - 1.0).abs().min(1.0))
            .collect();
        misses.iter().sum::<f64>() / misses.len().max(1) as f64
    }
}
