//! Scaling factors of a demand, and the least remaining resources for measuring them.

use super::Slow;
use crate::resources::{Resource, Resources};

/// An executor predicted to use less than this part of its node does not need the resource, and a
/// ratio to that prediction means nothing.
const NEXT_TO_NOTHING: f64 = 0.01;

/// Lowest factor: the samples may have met a pause, so half of the prediction stays.
const LEAST_FACTOR: f64 = 0.5;

/// Highest factor: the sample may have met a burst. An input four times as large makes a run longer, not wider.
const MOST_FACTOR: f64 = 4.0;

/// Whether an executor with this prediction needs the resource.
pub(crate) fn needs(resource: Resource, predicted: Resources, capacity: Resources) -> bool {
    let capacity = capacity.get(resource);
    capacity > 0.0 && predicted.get(resource) >= NEXT_TO_NOTHING * capacity
}

/// The first flow resource of which less than `least` of the prediction is left. One is enough: the
/// scarcest resource sets the pace, and more of the others would change nothing.
pub(crate) fn too_little(
    predicted: Resources,
    left: Resources,
    capacity: Resources,
    least: f64,
) -> Option<Resource> {
    Resource::FLOWS.into_iter().find(|resource| {
        needs(*resource, predicted, capacity)
            && left.get(*resource) < least * predicted.get(*resource)
    })
}

/// The range of a prediction over a period, for a progress known to a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: Resources,
    pub(crate) most: Resources,
}

impl Range {
    /// The range with its maximum CPU lowered to the executor's use while throttled: that use shows
    /// where in the range the executor is.
    pub(crate) fn where_throttled(self, slow: Slow) -> Self {
        let Slow::Throttled { cpu_cores, .. } = slow else {
            return self;
        };
        let most = Resources {
            cpu_cores: cpu_cores.max(self.least.cpu_cores).min(self.most.cpu_cores),
            ..self.most
        };
        Self { most, ..self }
    }
}

/// `former` times used over predicted, where more was used than the most predicted, within bounds.
/// No factor is lowered: a slow executor that uses less than predicted is held up or waits, and a
/// lower demand would hold it up more.
pub(crate) fn raised(
    former: Resources,
    used: Resources,
    predicted: Range,
    capacity: Resources,
) -> Resources {
    let factors = Resource::ALL.map(|resource| {
        let former = former.get(resource);
        if !needs(resource, predicted.most, capacity) {
            return former;
        }
        let beyond = used.get(resource) / predicted.most.get(resource);
        bounded(former * beyond.max(1.0))
    });
    Resources::from_array(factors)
}

/// Whether an executor used less than `part` of the prediction of every flow resource that it needs,
/// so that no measured resource sets its pace.
pub(crate) fn uses_less(
    used: Resources,
    predicted: Resources,
    capacity: Resources,
    part: f64,
) -> bool {
    let mut needed = Resource::FLOWS
        .into_iter()
        .filter(|resource| needs(*resource, predicted, capacity))
        .peekable();
    needed.peek().is_some()
        && needed.all(|resource| used.get(resource) < part * predicted.get(resource))
}

pub(crate) fn bounded(factor: f64) -> f64 {
    factor.clamp(LEAST_FACTOR, MOST_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Resources = Resources::from_array([10.0, 100.0, 100.0, 100.0]);
    fn exactly(amounts: Resources) -> Range {
        Range { least: amounts, most: amounts }
    }

    const PREDICTED: Resources = Resources::from_array([2.0, 20.0, 20.0, 20.0]);

    fn of(used: [f64; 4]) -> [f64; 4] {
        raised(Resources::ONE, Resources::from_array(used), exactly(PREDICTED), CAPACITY).to_array()
    }

    #[test]
    fn each_resource_is_raised_by_used_over_predicted_and_none_is_lowered() {
        assert_eq!(of([3.0, 25.0, 10.0, 16.0]), [1.5, 1.25, 1.0, 1.0]);
    }

    #[test]
    fn use_within_the_range_confirms_it_and_use_above_it_counts() {
        let predicted = Range { least: PREDICTED * 0.5, most: PREDICTED * 2.0 };
        let used = Resources::from_array([0.75, 20.0, 40.0, 60.0]);
        let factors = raised(Resources::ONE, used, predicted, CAPACITY);
        assert_eq!(factors.to_array(), [1.0, 1.0, 1.0, 1.5]);
    }

    #[test]
    fn a_throttled_executor_is_compared_with_its_throttled_use_within_the_range() {
        let predicted = Range { least: PREDICTED * 0.5, most: PREDICTED * 2.0 };
        let most_when = |cpu_cores| {
            let slow = Slow::Throttled { times: 2.0, cpu_cores };
            predicted.where_throttled(slow).most.to_array()
        };
        assert_eq!(most_when(2.5), [2.5, 40.0, 40.0, 40.0]);
        assert_eq!([most_when(0.1)[0], most_when(9.0)[0]], [1.0, 4.0]);
        assert_eq!(predicted.where_throttled(Slow::Behind(2.0)), predicted);
    }

    #[test]
    fn factors_stay_within_four() {
        assert_eq!(of([0.0, 200.0, 0.0, 90.0]), [1.0, 4.0, 1.0, 4.0]);
        let twice = raised(Resources::ONE * 3.0, PREDICTED * 2.0, exactly(PREDICTED), CAPACITY);
        assert_eq!(twice.to_array(), [4.0; 4]);
    }

    #[test]
    fn an_executor_with_low_use_of_every_needed_resource_is_held_up() {
        let is_held_up = |used: [f64; 4]| {
            let used = Resources::from_array(used);
            uses_less(used, PREDICTED, CAPACITY, 0.9)
        };
        assert!(is_held_up([1.7, 20.0, 17.0, 17.0]), "memory is no flow resource");
        assert!(!is_held_up([1.7, 20.0, 17.0, 19.0]), "its disk sets the pace");
        let nothing = Resources::ZERO;
        assert!(!uses_less(nothing, nothing, CAPACITY, 0.9));
    }

    #[test]
    fn a_resource_that_is_hardly_needed_or_unknown_keeps_its_factor() {
        let predicted = Resources::from_array([0.05, 20.0, 0.0, 20.0]);
        let capacity = Resources::from_array([10.0, 100.0, 100.0, 0.0]);
        let factors = raised(Resources::ONE, PREDICTED * 2.0, exactly(predicted), capacity);
        assert_eq!(factors.to_array(), [1.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn one_scarce_needed_resource_is_too_little() {
        let left = |left: [f64; 4]| {
            let left = Resources::from_array(left);
            too_little(PREDICTED, left, CAPACITY, 0.1)
        };
        assert_eq!(left([0.2, 0.0, 2.0, 2.0]), None);
        assert_eq!(left([0.2, 0.0, 1.9, 2.0]), Some(Resource::Network));
        let hardly = Resources::from_array([2.0, 20.0, 0.5, 20.0]);
        let left = Resources::from_array([5.0, 0.0, 0.0, 5.0]);
        assert_eq!(too_little(hardly, left, CAPACITY, 0.1), None);
    }
}
