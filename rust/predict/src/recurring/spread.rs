//! How far the next run may be from the latest ones, in length and in level.

use elastane_core::{Resource, Resources};

/// A log-normal guess at a quantity of the next run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// The mean of the logarithm.
    pub(crate) center: f64,
    /// Its deviation.
    pub(crate) deviation: f64,
}

/// Before a run is seen, lengths and levels are taken to differ by about a tenth from run to run:
/// what Elasecutor's Table IV has at the 90th to 99th percentile.
const PRIOR_DEVIATION: f64 = 0.1;

/// What that counts against runs: as much as one.
const PRIOR_WEIGHT: f64 = 1.0;

/// Deviations from the mean that stand for a normal distribution, alike in weight: the middles of
/// nine parts of it.
const NORMAL: [f64; 9] = [-1.59, -0.97, -0.59, -0.28, 0.0, 0.28, 0.59, 0.97, 1.59];

/// As [`NORMAL`], in five parts.
const NORMAL_COARSE: [f64; 5] = [-1.28, -0.52, 0.0, 0.52, 1.28];

impl Spread {
    /// From what runs had; amounts of 0 say nothing.
    pub(crate) fn of(amounts: impl Iterator<Item = f64>) -> Self {
        let logarithms: Vec<f64> = amounts.filter(|it| *it > 0.0).map(f64::ln).collect();
        let count = logarithms.len() as f64;
        if logarithms.is_empty() {
            return Self {
                center: 0.0,
                deviation: PRIOR_DEVIATION,
            };
        }
        let center = logarithms.iter().sum::<f64>() / count;
        let squares: f64 = logarithms.iter().map(|it| (it - center).powi(2)).sum();
        let prior = PRIOR_WEIGHT * PRIOR_DEVIATION.powi(2);
        let variance = (prior + squares) / (PRIOR_WEIGHT + count - 1.0);
        Self {
            center,
            // The center itself is known from so many runs only.
            deviation: (variance * (1.0 + 1.0 / count)).sqrt(),
        }
    }

    /// Amounts that are alike in likelihood.
    pub(crate) fn likely(self) -> [f64; 9] {
        NORMAL.map(|normal| (self.center + normal * self.deviation).exp())
    }

    /// Factors around 1 that are alike in likelihood.
    pub(crate) fn factors(self) -> [f64; 5] {
        NORMAL_COARSE.map(|normal| (normal * self.deviation).exp())
    }
}

/// The spread of each resource's level.
pub(crate) fn levels(levels: &[Resources]) -> [Spread; 4] {
    Resource::ALL.map(|resource| Spread::of(levels.iter().map(|level| level.get(resource))))
}

pub(crate) fn mean(amounts: &[Resources]) -> Resources {
    let sum = amounts.iter().fold(Resources::ZERO, |sum, it| sum + *it);
    sum * (1.0 / amounts.len().max(1) as f64)
}
