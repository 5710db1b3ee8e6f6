//! How well an application's runs predict each other.

use elastane_core::{DemandError, Resources};

use super::curve::Curve;
use super::forecast::Forecast;
use super::slot_ms;
use crate::score::score;

/// Each run predicted from the others: the means over the runs, in the order of
/// [`elastane_core::Resource::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// The part of a run's time that its use stayed under the envelope.
    pub coverage: [f64; 4],
    /// ∫ envelope ÷ ∫ used.
    pub waste: [f64; 4],
    /// The same of the largest value of the other runs, for life.
    pub peak_waste: [f64; 4],
}

/// As much of the next run's time is to be covered.
const WANTED_COVERAGE: f64 = 0.95;

impl HeldOut {
    pub(crate) fn of(curves: &[Curve], coverage: Resources) -> Result<Self, DemandError> {
        let mut sums = Self {
            coverage: [0.0; 4],
            waste: [0.0; 4],
            peak_waste: [0.0; 4],
        };
        let share = 1.0 / curves.len() as f64;
        for (at, held_out) in curves.iter().enumerate() {
            let mut others = curves.to_vec();
            others.remove(at);
            let forecast = Forecast::new(&others, slot_ms(&others));
            let envelope = forecast.envelope(forecast.prices(coverage))?;
            let scores = score(&envelope, Resources::ZERO, held_out.used());
            let peak = others
                .iter()
                .fold(Resources::ZERO, |peak, it| peak.max(it.used().peak()));
            let level = held_out.level().to_array();
            for (at, score) in scores.into_iter().enumerate() {
                sums.coverage[at] += share * score.coverage;
                // What was not used at all wastes nothing worth a name.
                sums.waste[at] += share * score.waste.unwrap_or(1.0);
                let peak_waste = peak.to_array()[at] / level[at];
                sums.peak_waste[at] += share * if level[at] > 0.0 { peak_waste } else { 1.0 };
            }
        }
        Ok(sums)
    }

    /// From 0 to 1: the least resource's coverage over 95 %, times how much the envelope saves: the
    /// mean over the resources of the constant peak's waste over its own, both at most 1.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let least = self.coverage.into_iter().fold(1.0, f64::min);
        let saved = self.peak_waste.iter().zip(self.waste);
        let saved: f64 = saved
            .map(|(peak, own)| (peak / own.max(1e-9)).min(1.0))
            .sum();
        (least / WANTED_COVERAGE).min(1.0) * saved / 4.0
    }
}
