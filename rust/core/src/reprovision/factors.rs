//! By how much a demand is scaled, and when there is enough left to find out.

use crate::resources::{Resource, Resources};

/// Below this part of its node an executor needs next to nothing of a resource, and a ratio to that
/// says nothing.
const NEXT_TO_NOTHING: f64 = 0.01;

/// A window is one sample of a run whose use comes in bursts: it may have met a pause. Half of what
/// was predicted stays, so that the next one is measured against something.
const LEAST_FACTOR: f64 = 0.5;

/// A burst is no level either. An input that is four times as large makes a run longer, not wider.
const MOST_FACTOR: f64 = 4.0;

/// Whether an executor needs this resource, of which so much is predicted.
pub(crate) fn needs(resource: Resource, predicted: Resources, capacity: Resources) -> bool {
    let capacity = capacity.get(resource);
    capacity > 0.0 && predicted.get(resource) >= NEXT_TO_NOTHING * capacity
}

/// The first resource that work flows through of which less than `least` of what is predicted is
/// left. One is enough: what runs out sets the pace, and more of the others would change nothing.
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

/// What is predicted for a stretch of time by a progress that is known to a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: Resources,
    pub(crate) most: Resources,
}

/// `former` times used over predicted, within bounds; unchanged where what was used lies within the
/// range of the prediction. Memory is not lowered: what is held now says nothing of the peak to come,
/// and too little of it costs the container.
pub(crate) fn measured(
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
        let used = used.get(resource);
        let nearest = used.clamp(predicted.least.get(resource), predicted.most.get(resource));
        if nearest <= 0.0 {
            return former;
        }
        let factor = bounded(former * used / nearest);
        if resource == Resource::Memory {
            factor.max(former)
        } else {
            factor
        }
    });
    Resources::from_array(factors)
}

pub(crate) fn bounded(factor: f64) -> f64 {
    factor.clamp(LEAST_FACTOR, MOST_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Resources = Resources::from_array([10.0, 100.0, 100.0, 100.0]);
    const ONE: Resources = Resources::from_array([1.0; 4]);
    fn exactly(amounts: Resources) -> Range {
        Range {
            least: amounts,
            most: amounts,
        }
    }

    const PREDICTED: Resources = Resources::from_array([2.0, 20.0, 20.0, 20.0]);

    fn of(used: [f64; 4]) -> [f64; 4] {
        measured(
            ONE,
            Resources::from_array(used),
            exactly(PREDICTED),
            CAPACITY,
        )
        .to_array()
    }

    #[test]
    fn each_resource_is_scaled_by_used_over_predicted() {
        assert_eq!(of([3.0, 25.0, 10.0, 16.0]), [1.5, 1.25, 0.5, 0.8]);
    }

    #[test]
    fn what_lies_within_the_range_confirms_it_and_beyond_its_end_counts() {
        let predicted = Range {
            least: PREDICTED * 0.5,
            most: PREDICTED * 2.0,
        };
        let used = Resources::from_array([0.75, 20.0, 40.0, 60.0]);
        let factors = measured(ONE, used, predicted, CAPACITY);
        assert_eq!(factors.to_array(), [0.75, 1.0, 1.0, 1.5]);
    }

    #[test]
    fn factors_stay_between_half_and_four() {
        assert_eq!(of([0.0, 200.0, 0.0, 90.0]), [0.5, 4.0, 0.5, 4.0]);
        let twice = measured(ONE * 3.0, PREDICTED * 2.0, exactly(PREDICTED), CAPACITY);
        assert_eq!(twice.to_array(), [4.0; 4]);
    }

    #[test]
    fn memory_is_not_lowered() {
        assert_eq!(of([2.0, 5.0, 20.0, 20.0]), [1.0; 4]);
    }

    #[test]
    fn a_resource_that_is_hardly_needed_or_not_known_is_left_alone() {
        let predicted = Resources::from_array([0.05, 20.0, 0.0, 20.0]);
        let capacity = Resources::from_array([10.0, 100.0, 100.0, 0.0]);
        let factors = measured(ONE, PREDICTED * 2.0, exactly(predicted), capacity);
        assert_eq!(factors.to_array(), [1.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn one_needed_resource_that_is_short_is_too_little() {
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
