//! What was used when.

use elastane_core::{Resource, Resources};

use super::machine::Stretch;

/// Utilizations of which the share of time above them is reported (Elasecutor, Table VI).
pub const LEVELS: [f64; 3] = [0.7, 0.9, 1.0];

/// A demand at a level only by rounding is not above it.
const LEVEL_TOLERANCE: f64 = 1e-9;

/// What all machines together used.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    /// Core-seconds, byte-seconds, bytes, bytes.
    pub(super) used: Resources,
    /// For how long executors ran, all together.
    pub(super) executors_ms: f64,
    /// Machine-milliseconds in which more than each of [`LEVELS`] was wanted.
    pub(super) above_ms: [[f64; LEVELS.len()]; 4],
    pub(super) timeline: Timeline,
}

impl Meter {
    pub(super) fn add(&mut self, stretch: &Stretch, capacity: Resources) {
        let length_ms = stretch.to_ms - stretch.from_ms;
        self.used += stretch.usage * (length_ms / 1e3);
        self.executors_ms += length_ms * stretch.executors as f64;
        for resource in Resource::ALL {
            let wanted = stretch.wanted.get(resource) - LEVEL_TOLERANCE * capacity.get(resource);
            for (level, above_ms) in LEVELS.iter().zip(&mut self.above_ms[resource as usize]) {
                if wanted > level * capacity.get(resource) {
                    *above_ms += length_ms;
                }
            }
        }
        self.timeline
            .add(stretch.from_ms, stretch.to_ms, stretch.usage);
    }
}

/// Use over time, in steps that double when there are too many.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// How long a step is.
    pub step_ms: f64,
    /// The integral of use over each step, in milliseconds times the resource's unit.
    integrals: Vec<Resources>,
}

const MOST_STEPS: usize = 1_024;

impl Default for Timeline {
    fn default() -> Self {
        Self {
            step_ms: 1_000.0,
            integrals: Vec::new(),
        }
    }
}

impl Timeline {
    pub(super) fn add(&mut self, from_ms: f64, to_ms: f64, usage: Resources) {
        while to_ms > self.step_ms * MOST_STEPS as f64 {
            self.coarsen();
        }
        let mut from_ms = from_ms;
        while from_ms < to_ms {
            let step = (from_ms / self.step_ms) as usize;
            let end_ms = ((step + 1) as f64 * self.step_ms).min(to_ms);
            if step >= self.integrals.len() {
                self.integrals.resize(step + 1, Resources::ZERO);
            }
            self.integrals[step] += usage * (end_ms - from_ms);
            from_ms = end_ms;
        }
    }

    /// The mean use in each step.
    pub fn means(&self) -> impl Iterator<Item = Resources> {
        let step_ms = self.step_ms;
        self.integrals
            .iter()
            .map(move |integral| *integral * (1.0 / step_ms))
    }

    fn coarsen(&mut self) {
        self.step_ms *= 2.0;
        let add = |sum: Resources, one: &Resources| sum + *one;
        self.integrals = self
            .integrals
            .chunks(2)
            .map(|pair| pair.iter().fold(Resources::ZERO, add))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_double_keep_the_integral() {
        let usage = Resources::from_array([2.0, 0.0, 0.0, 0.0]);
        let mut timeline = Timeline::default();
        timeline.add(500.0, 1_500.0, usage);
        let means: Vec<f64> = timeline.means().map(|mean| mean.cpu_cores).collect();
        assert_eq!(means, [1.0, 1.0]);
        timeline.add(1_500.0, 1_999_500.0, usage);
        let total: f64 = timeline.means().map(|mean| mean.cpu_cores).sum();
        assert_eq!(timeline.step_ms, 2_000.0);
        assert_eq!(total * 2_000.0, 2.0 * 1_999_000.0);
    }
}
