//! How use goes up and down over a run, apart from how much and how long.
//!
//! Each run is divided by what was said of it while it was held out: so what the curves differ by is
//! what a new run will differ by, the miss of the regressions with it.

use elastane_core::{Demand, DemandError, Resource, Resources, SLOT_MS};
use serde::{Deserialize, Serialize};

use super::SettingsRun;
use super::targets::Targets;
use crate::recurring::{Curve, Forecast, HeldOut, Prediction, stretched_mean};
use crate::score::score;

/// Shapes are of the latest so many runs.
const MOST_SHAPES: usize = 9;

/// A tracker follows so many of them, as it does for a recurring run.
const TRACKED: usize = 3;

/// A run that is said to be as long as foreseen has so many slots.
const LEAST_SLOTS: usize = 20;
const MOST_SLOTS: usize = 400;

/// A series for a run of length 1 and mean use 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit {
    slot_ms: u32,
    slots: Vec<[f64; 4]>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shapes {
    /// The length of a run that is as long as foreseen.
    length_ms: f64,
    mean: Unit,
    envelope: Unit,
    tracked: Vec<Unit>,
    prices: [f64; 4],
    coverage: [f64; 4],
    waste: [f64; 4],
    peak_waste: [f64; 4],
}

impl Shapes {
    /// Of runs, the latest last, and what was said of each.
    pub(crate) fn of(
        runs: &[&SettingsRun],
        said: &[Targets],
        coverage: Resources,
    ) -> Result<(Self, HeldOut), DemandError> {
        let mut counts: Vec<usize> = runs.iter().map(|run| run.used.slots().len()).collect();
        counts.sort_unstable();
        let count = counts[counts.len() / 2].clamp(LEAST_SLOTS, MOST_SLOTS);
        let latest = runs.iter().zip(said).rev().take(MOST_SHAPES);
        let curves = latest
            .map(|(run, said)| Ok(Curve::new(&unit(&run.used, said, count)?)))
            .collect::<Result<Vec<_>, DemandError>>()?;
        let forecast = Forecast::new(&curves, SLOT_MS);
        let prices = forecast.prices(coverage);
        let envelope = forecast.envelope(prices)?;
        let held_out = held_out(runs, &curves, &envelope);
        let tracked = curves.iter().take(TRACKED);
        let shapes = Self {
            length_ms: count as f64 * f64::from(SLOT_MS),
            mean: Unit::of(&stretched_mean(&curves)?).with_mean_1(),
            envelope: Unit::of(&envelope),
            tracked: tracked.map(|curve| Unit::of(curve.used())).collect(),
            prices,
            coverage: held_out.coverage,
            waste: held_out.waste,
            peak_waste: held_out.peak_waste,
        };
        Ok((shapes, held_out))
    }

    pub(crate) fn held_out(&self) -> HeldOut {
        HeldOut {
            coverage: self.coverage,
            waste: self.waste,
            peak_waste: self.peak_waste,
        }
    }

    /// A run of this length and these amounts.
    pub(crate) fn prediction(
        &self,
        targets: &Targets,
        confidence: f64,
        runs: Vec<String>,
    ) -> Result<Prediction, DemandError> {
        let slower = targets.length_s() * 1e3 / self.length_ms;
        let level = targets.level();
        // The tracker's curves are the runs' shapes around what is foreseen here.
        let curves = self
            .tracked
            .iter()
            .map(|unit| Ok(Curve::new(&unit.scaled(slower, level)?)))
            .collect::<Result<Vec<_>, DemandError>>()?;
        Ok(Prediction {
            mean: self.mean.lasting(targets.length_s() * 1e3, level)?,
            envelope: self.envelope.scaled(slower, level)?,
            confidence,
            held_out: Some(self.held_out()),
            runs,
            curves,
            prices: self.prices,
        })
    }
}

impl Unit {
    fn of(series: &Demand) -> Self {
        Self {
            slot_ms: series.slot_ms(),
            slots: series.slots().iter().map(|slot| slot.to_array()).collect(),
        }
    }

    fn with_mean_1(mut self) -> Self {
        for resource in 0..4 {
            let sum: f64 = self.slots.iter().map(|slot| slot[resource]).sum();
            let mean = sum / self.slots.len() as f64;
            if mean > 0.0 {
                self.slots
                    .iter_mut()
                    .for_each(|slot| slot[resource] /= mean);
            }
        }
        self
    }

    fn scaled(&self, slower: f64, level: Resources) -> Result<Demand, DemandError> {
        let slots: Vec<Resources> = self
            .slots
            .iter()
            .map(|slot| Resources::from_array(*slot).zip(level, |shape, level| shape * level))
            .collect();
        let slot_ms = (f64::from(self.slot_ms) * slower).round().max(1.0);
        Demand::series(slot_ms as u32, &slots)
    }

    /// As long as that in all, whatever the curve's own length was.
    fn lasting(&self, length_ms: f64, level: Resources) -> Result<Demand, DemandError> {
        let own_ms = f64::from(self.slot_ms) * self.slots.len() as f64;
        self.scaled(length_ms / own_ms, level)
    }
}

/// A run over what was said of it: mean use 1 and `count` slots where it was foreseen.
fn unit(used: &Demand, said: &Targets, count: usize) -> Result<Demand, DemandError> {
    let curve = Curve::new(used);
    let longer = curve.length_ms() / (said.length_s() * 1e3);
    let slots = ((count as f64 * longer).round() as usize).clamp(1, 4 * MOST_SLOTS);
    let level = said.level();
    let slots: Vec<Resources> = (0..slots)
        .map(|at| {
            let (from, to) = (at as f64 / slots as f64, (at + 1) as f64 / slots as f64);
            let used = curve.mean(from, to).unwrap_or(Resources::ZERO);
            used.zip(
                level,
                |used, level| if level > 0.0 { used / level } else { 0.0 },
            )
        })
        .collect();
    Demand::series(SLOT_MS, &slots)
}

/// How well the envelope covers the runs that it was made from, each as it was held out from the
/// regressions, next to the largest use of the other runs.
fn held_out(runs: &[&SettingsRun], curves: &[Curve], envelope: &Demand) -> HeldOut {
    let mut sums = HeldOut {
        coverage: [0.0; 4],
        waste: [0.0; 4],
        peak_waste: [0.0; 4],
    };
    let share = 1.0 / curves.len() as f64;
    for (curve, run) in curves.iter().zip(runs.iter().rev()) {
        let others = runs.iter().filter(|other| other.id != run.id);
        let peak = others.fold(Resources::ZERO, |peak, other| peak.max(other.used.peak()));
        let level = Curve::new(&run.used).level();
        let scores = score(envelope, Resources::ZERO, curve.used());
        for (at, (score, resource)) in scores.into_iter().zip(Resource::ALL).enumerate() {
            let level = level.get(resource);
            let peak_waste = if level > 0.0 {
                peak.get(resource) / level
            } else {
                1.0
            };
            sums.coverage[at] += share * score.coverage;
            sums.waste[at] += share * score.waste.unwrap_or(1.0);
            sums.peak_waste[at] += share * peak_waste;
        }
    }
    sums
}
