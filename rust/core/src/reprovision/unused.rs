//! Detection of demand that a run keeps leaving unused.

use super::factors::{bounded, needs};
use crate::resources::{Resource, Resources};

/// Number of consecutive samples that have to show unused demand: half a minute, longer than the
/// pauses between bursts.
const SAMPLES: u32 = 10;

/// The lowered demand exceeds the measured use by this fraction.
const MARGIN: f64 = 0.2;

/// Smaller reductions than a fifth are skipped: each change of a demand moves limits.
const WORTH_IT: f64 = 0.8;

/// An executor that uses this part of its lowered demand needs more.
const NEEDS_MORE_FROM: f64 = 0.98;

/// Consecutive samples of an executor that is on time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Unused {
    samples: u32,
    used: Resources,
    predicted: Resources,
    /// Largest part of the predicted memory in use.
    memory_part: f64,
}

impl Unused {
    /// Adds a sample. Returns the sufficient part of the prediction for each resource; none before
    /// enough samples.
    pub(crate) fn add(
        &mut self,
        used: Resources,
        predicted: Resources,
        capacity: Resources,
    ) -> Option<Resources> {
        self.samples += 1;
        self.used += used;
        self.predicted += predicted;
        if predicted.memory_bytes > 0.0 {
            let part = used.memory_bytes / predicted.memory_bytes;
            self.memory_part = self.memory_part.max(part);
        }
        if self.samples < SAMPLES {
            return None;
        }
        let Self { used, predicted, memory_part, samples } = std::mem::take(self);
        let mean = predicted * (1.0 / f64::from(samples));
        let enough = Resource::ALL.map(|resource| {
            let part = match resource {
                Resource::Memory => memory_part,
                _ => used.get(resource) / predicted.get(resource),
            };
            let enough = part * (1.0 + MARGIN);
            if needs(resource, mean, capacity) && enough <= WORTH_IT {
                bounded(enough)
            } else {
                1.0
            }
        });
        Some(Resources::from_array(enough))
    }
}

/// `lowered`, reset to 1 for each resource that is used to the full.
pub(crate) fn restored(lowered: Resources, used: Resources, predicted: Resources) -> Resources {
    let restored = Resource::ALL.map(|resource| {
        let needs_more = used.get(resource) >= NEEDS_MORE_FROM * predicted.get(resource);
        if needs_more { 1.0 } else { lowered.get(resource) }
    });
    Resources::from_array(restored)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Resources = Resources::from_array([10.0; 4]);
    const PREDICTED: Resources = Resources::from_array([2.0, 4.0, 2.0, 0.01]);

    fn after(samples: &[[f64; 4]]) -> Option<[f64; 4]> {
        let mut unused = Unused::default();
        let results = samples
            .iter()
            .map(|used| unused.add(Resources::from_array(*used), PREDICTED, CAPACITY));
        results.last().flatten().map(Resources::to_array)
    }

    #[test]
    fn half_a_minute_of_low_use_lowers_the_demand_with_a_margin() {
        let sample = [1.0, 2.0, 2.0, 0.0];
        assert_eq!(after(&[sample; 9]), None);
        assert_eq!(after(&[sample; 10]), Some([0.6, 0.6, 1.0, 1.0]));
    }

    #[test]
    fn a_demand_is_never_lowered_below_half() {
        assert_eq!(after(&[[0.0; 4]; 10]), Some([0.5, 0.5, 0.5, 1.0]));
    }

    #[test]
    fn one_burst_keeps_the_memory_and_one_of_cpu_counts_as_a_tenth() {
        let mut samples = [[1.0, 2.0, 2.0, 0.0]; 10];
        samples[4] = [2.0, 3.9, 2.0, 0.0];
        let enough = after(&samples).unwrap();
        assert!((enough[0] - 0.66).abs() < 1e-9, "{enough:?}");
        assert_eq!(enough[1], 1.0);
    }

    #[test]
    fn a_resource_used_to_the_full_is_restored() {
        let lowered = Resources::from_array([0.6, 0.7, 1.0, 1.0]);
        let used = Resources::from_array([1.99, 3.0, 0.0, 0.0]);
        let restored = restored(lowered, used, PREDICTED);
        assert_eq!(restored.to_array(), [1.0, 0.7, 1.0, 1.0]);
    }
}
