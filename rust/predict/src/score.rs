//! Scores of a prediction against the usage of the run.

use elastane_core::{Demand, Resource, Resources};

/// The score of one prediction of one resource against one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The part of the run's time in which usage was at most the prediction.
    pub coverage: f64,
    /// ∫ predicted ÷ ∫ used over the run; none where none was used.
    pub waste: Option<f64>,
    /// The predicted total, to the prediction's own end, over the used total; none where none was
    /// used.
    pub total: Option<f64>,
}

/// Usage above the prediction by this part counts as covered: series are kept as 32-bit floats.
const ROUNDING: f64 = 1e-6;

/// The score of each resource, in the order of [`Resource::ALL`].
///
/// `bound` is scored for coverage and waste; past its end its last value holds. `total` is the predicted
/// total, in cores, bytes and bytes per second times seconds.
pub fn score(bound: &Demand, total: Resources, used: &Demand) -> [Score; 4] {
    let all_used = amount(used);
    let mut predicted = Resources::ZERO;
    let mut covered_ms = [0.0; 4];
    let slot_ms = i64::from(used.slot_ms());
    let bound_ms = i64::from(bound.slot_ms());
    for (slot, usage) in used.slots().iter().enumerate() {
        let mut from_ms = slot as i64 * slot_ms;
        let end_ms = from_ms + slot_ms;
        while from_ms < end_ms {
            let to_ms = end_ms.min((from_ms / bound_ms + 1) * bound_ms);
            let length_ms = (to_ms - from_ms) as f64;
            let allowed = bound.at(from_ms);
            predicted += allowed * (length_ms / 1e3);
            for (covered_ms, resource) in covered_ms.iter_mut().zip(Resource::ALL) {
                if usage.get(resource) <= allowed.get(resource) * (1.0 + ROUNDING) {
                    *covered_ms += length_ms;
                }
            }
            from_ms = to_ms;
        }
    }
    let length_ms = slot_ms as f64 * used.slots().len() as f64;
    std::array::from_fn(|at| {
        let over_used = |amounts: Resources| {
            let used = all_used.to_array()[at];
            (used > 0.0).then(|| amounts.to_array()[at] / used)
        };
        Score {
            coverage: covered_ms[at] / length_ms,
            waste: over_used(predicted),
            total: over_used(total),
        }
    })
}

/// The total of a series: cores, bytes and bytes per second, each times seconds.
pub fn amount(series: &Demand) -> Resources {
    let sum = series.slots().iter().fold(Resources::ZERO, |sum, slot| sum + *slot);
    sum * (f64::from(series.slot_ms()) / 1e3)
}
