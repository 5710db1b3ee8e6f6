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

/// With fewer amounts above a known bound, the quantiles above the bound depend on the shape of the tail alone.
const LEAST_EXCEEDING: f64 = 0.01;

/// Standard deviations at which the exceedance of a normal distribution underflows.
const MOST_DEVIATIONS: f64 = 38.0;

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

    /// The distance of an amount from the center, in standard deviations of the logarithm.
    pub(crate) fn deviations(&self, amount: f64) -> f64 {
        (amount.ln() - self.center) / self.deviation
    }

    /// A quantile of the amount T, given that T is larger than `passed`: the t with
    ///
    /// ```text
    /// P(T ≤ t | T > passed) = (F(t) − F(passed)) ÷ (1 − F(passed)) = part
    /// ```
    ///
    /// F is the distribution of T. With S = 1 − F this is S(t) = (1 − part) · S(passed), and
    /// S(t) = ½·erfc(z ÷ √2) with z = (ln t − center) ÷ deviation.
    ///
    /// None if S(passed) is below 0.01: then the quantile says nothing about earlier runs.
    pub fn quantile_beyond(&self, passed: f64, part: f64) -> Option<f64> {
        let passed = passed.max(0.0);
        if self.deviation <= 0.0 {
            let only = self.center.exp();
            return (only > passed).then_some(only);
        }
        let left = exceedance(self.deviations(passed));
        if left < LEAST_EXCEEDING {
            return None;
        }
        let deviations = exceeded_with((1.0 - part) * left);
        Some((self.center + self.deviation * deviations).exp().max(passed))
    }

    /// One distribution for each of [`Resource::ALL`].
    pub fn of_each_resource(amounts: &[Resources]) -> [Self; 4] {
        Resource::ALL.map(|resource| Self::of(amounts.iter().map(|it| it.get(resource))))
    }
}

/// The probability that a standard normal variable is above `deviations`.
fn exceedance(deviations: f64) -> f64 {
    0.5 * libm::erfc(deviations / std::f64::consts::SQRT_2)
}

/// The inverse of [`exceedance`], by bisection.
fn exceeded_with(probability: f64) -> f64 {
    let (mut low, mut high) = (-MOST_DEVIATIONS, MOST_DEVIATIONS);
    // 76 ÷ 2^48 is below 1e-12.
    for _ in 0..48 {
        let middle = 0.5 * (low + high);
        if exceedance(middle) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests;
