//! A tracker that also predicts the next usage of a running container.

use elastane_core::{Demand, Resources};
use elastane_predict::progress::{LogNormal, UsageCurve};
use elastane_predict::{Prediction, Tracker};

use super::envelope::{Envelope, LikelyValues, bounds, likely_factors, mean_level};

/// Steps of less than this part of the largest likelihood are ignored.
const UNLIKELY: f64 = 0.02;

/// Follows one running container along earlier runs, and predicts its next usage.
#[derive(Debug, Clone)]
pub struct BoundingTracker {
    tracker: Tracker,
    expected_length_ms: f64,
    curves: Vec<UsageCurve>,
    prices: [f64; 4],
    scales: [f64; 4],
    factors: [[f64; 5]; 4],
}

/// The predicted next usage of a running container.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    /// The mean over the likely progress of the container.
    pub expected: Resources,
    /// As the bound of the [`Envelope`].
    pub bound: Resources,
}

impl BoundingTracker {
    /// Follows a container that has just started by the runs of its prediction.
    pub fn of_prediction(prediction: &Prediction, envelope: &Envelope) -> Self {
        Self::along(prediction.curves.clone(), envelope.prices)
    }

    /// Follows a container that has just started by its demand alone, as the scheduler does. Its
    /// bounds are 0.
    pub fn of_demand(demand: &Demand) -> Self {
        Self::along(vec![UsageCurve::new(demand)], [0.0; 4])
    }

    fn along(curves: Vec<UsageCurve>, prices: [f64; 4]) -> Self {
        Self {
            tracker: Tracker::of_runs(&curves),
            expected_length_ms: LogNormal::of(curves.iter().map(UsageCurve::length_ms))
                .center
                .exp(),
            prices,
            scales: mean_level(&curves),
            factors: likely_factors(&curves),
            curves,
        }
    }

    /// Adds a sample: the mean usage of the last `length_ms`.
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        self.tracker.observe(usage, length_ms);
    }

    /// The estimated part of the run that is over, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.tracker.progress()
    }

    /// The use expected for the next `length_ms`, and its bound.
    pub fn next(&self, length_ms: u32) -> Ahead {
        let part = f64::from(length_ms) / self.expected_length_ms;
        let likelihoods = self.tracker.likelihoods();
        let most = likelihoods.iter().fold(0.0_f64, |most, it| most.max(it.1));
        let mut values = LikelyValues::new(self.factors);
        let (mut sum, mut weight) = (Resources::ZERO, 0.0);
        for (at, likelihood) in likelihoods {
            if likelihood < most * UNLIKELY {
                continue;
            }
            // Past the end the last use holds.
            let from = at.min(1.0 - part).max(0.0);
            for curve in &self.curves {
                for (usage, overlap) in curve.between(from - part / 2.0, from + 1.5 * part) {
                    let likely = likelihood * overlap;
                    sum += usage * likely;
                    weight += likely;
                    values.add(usage, likely);
                }
            }
        }
        Ahead {
            expected: if weight > 0.0 { sum * (1.0 / weight) } else { Resources::ZERO },
            bound: bounds(&values.into_pools(), self.prices, self.scales),
        }
    }
}
