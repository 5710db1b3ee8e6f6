//! Usage over time.

use elastane_core::{Resource, Resources};

use super::machine::Stretch;

/// Utilizations of which the share of time above them is reported (Elasecutor, Table VI).
pub const LEVELS: [f64; 3] = [0.7, 0.9, 1.0];

/// A demand at a level only by rounding is not above it.
const LEVEL_TOLERANCE: f64 = 1e-9;

/// The usage of all machines together.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    used: [Sum; 4],
    executors_ms: Sum,
    occupied_ms: Sum,
    above_ms: [[Sum; LEVELS.len()]; 4],
    pub(super) timeline: UseOverTime,
}

/// A sum of integers, which does not depend on the order of the machines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sum(i128);

impl Sum {
    /// Parts per unit. The sum over a year of 10,000 machines stays far below the largest number, and
    /// the rounding error of a year is negligible.
    const PARTS: f64 = (1_u64 << 40) as f64;

    fn parts(amount: f64) -> i128 {
        (amount * Self::PARTS).round() as i128
    }

    pub(super) fn add(&mut self, amount: f64) {
        self.0 += Self::parts(amount);
    }

    pub(super) fn value(self) -> f64 {
        self.0 as f64 / Self::PARTS
    }
}

impl Meter {
    pub(super) fn add(&mut self, stretch: &Stretch, capacity: Resources) {
        let length_ms = stretch.to_ms - stretch.from_ms;
        let used = stretch.usage * (length_ms / 1e3);
        for (sum, used) in self.used.iter_mut().zip(used.to_array()) {
            sum.add(used);
        }
        self.executors_ms.add(length_ms * stretch.executors as f64);
        if stretch.executors > 0 {
            self.occupied_ms.add(length_ms);
        }
        for resource in Resource::ALL {
            let wanted = stretch.wanted.get(resource) - LEVEL_TOLERANCE * capacity.get(resource);
            for (level, above_ms) in LEVELS.iter().zip(&mut self.above_ms[resource as usize]) {
                if wanted > level * capacity.get(resource) {
                    above_ms.add(length_ms);
                }
            }
        }
        self.timeline.add(stretch.from_ms, stretch.to_ms, stretch.usage);
    }

    /// Core-seconds, byte-seconds, bytes, bytes.
    pub(super) fn used(&self) -> Resources {
        Resources::from_array(self.used.map(Sum::value))
    }

    /// Total running time of all executors.
    pub(super) fn executors_ms(&self) -> f64 {
        self.executors_ms.value()
    }

    /// Machine-milliseconds in which an executor ran.
    pub(super) fn occupied_ms(&self) -> f64 {
        self.occupied_ms.value()
    }

    /// Machine-milliseconds in which more than each of [`LEVELS`] was wanted.
    pub(super) fn above_ms(&self) -> [[f64; LEVELS.len()]; 4] {
        self.above_ms.map(|levels| levels.map(Sum::value))
    }
}

/// Use over time, in steps that double when there are too many.
#[derive(Debug, Clone, PartialEq)]
pub struct UseOverTime {
    /// The length of a step.
    pub step_ms: f64,
    /// The integral of use over each step, in milliseconds times the resource's unit.
    integrals: Vec<[Sum; 4]>,
}

const MOST_STEPS: usize = 1_024;

impl Default for UseOverTime {
    fn default() -> Self {
        Self { step_ms: 1_000.0, integrals: Vec::new() }
    }
}

impl UseOverTime {
    pub(super) fn add(&mut self, from_ms: f64, to_ms: f64, usage: Resources) {
        while to_ms > self.step_ms * MOST_STEPS as f64 {
            self.coarsen();
        }
        let usage = usage.to_array();
        // What was used until a moment, so that the parts of two steps add up to that of both.
        let until = |at_ms: f64| usage.map(|usage| Sum::parts(usage * (at_ms - from_ms)));
        let mut counted = [0; 4];
        let mut at_ms = from_ms;
        while at_ms < to_ms {
            let step = (at_ms / self.step_ms) as usize;
            at_ms = ((step + 1) as f64 * self.step_ms).min(to_ms);
            if step >= self.integrals.len() {
                self.integrals.resize(step + 1, <[Sum; 4]>::default());
            }
            let until = until(at_ms);
            for (resource, sum) in self.integrals[step].iter_mut().enumerate() {
                sum.0 += until[resource] - counted[resource];
            }
            counted = until;
        }
    }

    /// The mean use in each step.
    pub fn means(&self) -> impl Iterator<Item = Resources> {
        let step_ms = self.step_ms;
        self.integrals
            .iter()
            .map(move |integral| Resources::from_array(integral.map(Sum::value)) * (1.0 / step_ms))
    }

    fn coarsen(&mut self) {
        self.step_ms *= 2.0;
        let add = |mut sum: [Sum; 4], one: &[Sum; 4]| {
            for (sum, one) in sum.iter_mut().zip(one) {
                sum.0 += one.0;
            }
            sum
        };
        self.integrals = self
            .integrals
            .chunks(2)
            .map(|pair| pair.iter().fold(<[Sum; 4]>::default(), add))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_in_which_machines_are_counted_does_not_matter() {
        // Enough for steps to double between them, and amounts whose sum depends on the order.
        let stretch = |from_ms: f64, number: u32| Stretch {
            from_ms,
            to_ms: from_ms + 2_000.7,
            usage: Resources::from_array(
                [0.1, 1e9 / 3.0, 1e-3, 7e7].map(|a| a * f64::from(number)),
            ),
            wanted: Resources::from_array([4.0; 4]),
            executors: 3,
        };
        let stretches: Vec<_> =
            (0..2_000_u32).map(|number| stretch(f64::from(number) * 1_000.3, number)).collect();
        let capacity = Resources::from_array([1.0; 4]);
        let mut forward = Meter::default();
        let mut backward = Meter::default();
        for (one, other) in stretches.iter().zip(stretches.iter().rev()) {
            forward.add(one, capacity);
            backward.add(other, capacity);
        }
        assert_eq!(forward.used(), backward.used());
        assert_eq!(forward.executors_ms(), backward.executors_ms());
        assert_eq!(forward.above_ms(), backward.above_ms());
        assert_eq!(forward.timeline, backward.timeline);
    }

    #[test]
    fn steps_that_double_keep_the_integral() {
        let usage = Resources::from_array([2.0, 0.0, 0.0, 0.0]);
        let mut timeline = UseOverTime::default();
        timeline.add(500.0, 1_500.0, usage);
        let means: Vec<f64> = timeline.means().map(|mean| mean.cpu_cores).collect();
        assert_eq!(means, [1.0, 1.0]);
        timeline.add(1_500.0, 1_999_500.0, usage);
        let total: f64 = timeline.means().map(|mean| mean.cpu_cores).sum();
        assert_eq!(timeline.step_ms, 2_000.0);
        assert_eq!(total * 2_000.0, 2.0 * 1_999_000.0);
    }
}
