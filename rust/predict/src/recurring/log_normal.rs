//! How far a run may be from the latest ones, in length and in level.

use elastane_core::{Resource, Resources};

use crate::statistics::mean;

/// A log-normal distribution of a quantity of the next run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    /// The mean of the logarithm.
    pub center: f64,
    /// The standard deviation of the logarithm.
    pub deviation: f64,
}

/// Prior: lengths and levels differ by a tenth from run to run, Elasecutor's Table IV at the 90th to
/// 99th percentile.
const PRIOR_DEVIATION: f64 = 0.1;

/// The prior weighs as much as one run.
const PRIOR_WEIGHT: f64 = 1.0;

impl LogNormal {
    /// The distribution of the next amount, estimated from the amounts of earlier runs; zeros are
    /// ignored.
    pub fn of(amounts: impl Iterator<Item = f64>) -> Self {
        let logarithms: Vec<f64> = amounts.filter(|it| *it > 0.0).map(f64::ln).collect();
        let count = logarithms.len() as f64;
        if logarithms.is_empty() {
            return Self { center: 0.0, deviation: PRIOR_DEVIATION };
        }
        let center = mean(&logarithms);
        let squares: f64 = logarithms.iter().map(|it| (it - center).powi(2)).sum();
        let prior = PRIOR_WEIGHT * PRIOR_DEVIATION.powi(2);
        let variance = (prior + squares) / (PRIOR_WEIGHT + count - 1.0);
        Self {
            center,
            // The center is estimated from these runs, too.
            deviation: (variance * (1.0 + 1.0 / count)).sqrt(),
        }
    }

    /// One distribution for each of [`Resource::ALL`].
    pub fn of_each_resource(amounts: &[Resources]) -> [Self; 4] {
        Resource::ALL.map(|resource| Self::of(amounts.iter().map(|it| it.get(resource))))
    }
}
