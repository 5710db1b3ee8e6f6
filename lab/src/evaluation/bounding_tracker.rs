//! A tracker that also predicts the next usage of a running container.

use elastane_core::{Demand, Resources};
use elastane_predict::progress::{LogNormal, UsageCurve, mean};
use elastane_predict::{Prediction, Tracker};

use super::envelope::{Envelope, bounds, likely_factors};
use super::level;
use super::pool::Pool;

/// Steps of less than this part of the largest likelihood are ignored.
const UNLIKELY: f64 = 0.02;

/// Follows one running container along earlier runs, and predicts its next usage.
#[derive(Debug, Clone)]
pub struct BoundingTracker {
    tracker: Tracker,
    expected_length_ms: f64,
    elapsed_ms: f64,
    curves: Vec<UsageCurve>,
    prices: [f64; 4],
    scales: [f64; 4],
    factors: [[f64; 5]; 4],
}

/// The predicted next usage of a running container.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    /// The mean.
    pub expected: Resources,
    /// A bound as that of the [`Envelope`].
    pub bound: Resources,
}

impl BoundingTracker {
    /// Follows a container that has just started by the runs of its prediction.
    #[must_use]
    pub fn of_prediction(prediction: &Prediction, envelope: &Envelope) -> Self {
        Self::along(prediction.curves.clone(), envelope.prices)
    }

    /// Follows a container that has just started by its demand alone, as the scheduler does. Its
    /// bounds are 0.
    #[must_use]
    pub fn of_demand(demand: &Demand) -> Self {
        Self::along(vec![UsageCurve::new(demand)], [0.0; 4])
    }

    fn along(curves: Vec<UsageCurve>, prices: [f64; 4]) -> Self {
        let levels: Vec<Resources> = curves.iter().map(level).collect();
        Self {
            tracker: Tracker::of_runs(&curves),
            expected_length_ms: LogNormal::of(curves.iter().map(UsageCurve::length_ms))
                .center
                .exp(),
            elapsed_ms: 0.0,
            prices,
            scales: mean(&levels).to_array(),
            factors: likely_factors(&curves),
            curves,
        }
    }

    /// As [`Tracker::observe`].
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        self.tracker.observe(usage, length_ms);
        if usage.first_invalid().is_none() {
            self.elapsed_ms += f64::from(length_ms);
        }
    }

    /// As [`Tracker::progress`].
    #[must_use]
    pub fn progress(&self) -> f64 {
        self.tracker.progress()
    }

    /// The time since the start over the time expected for this progress: above 1 the run is slow. 1
    /// before the first sample.
    #[must_use]
    pub fn slowness(&self) -> f64 {
        let expected_ms = self.progress() * self.expected_length_ms;
        if expected_ms > 0.0 {
            self.elapsed_ms / expected_ms
        } else {
            1.0
        }
    }

    /// The use expected for the next `length_ms`, and its bound.
    #[must_use]
    pub fn next(&self, length_ms: u32) -> Ahead {
        let part = f64::from(length_ms) / self.expected_length_ms;
        let likelihoods = self.tracker.likelihoods();
        let most = likelihoods.iter().fold(0.0_f64, |most, it| most.max(it.1));
        let mut values: [Vec<(f64, f64)>; 4] = Default::default();
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
}
