//! The rise and fall of usage over a run, apart from its amounts and length.
//!
//! Each run is divided by its held-out prediction. So the shapes differ from each other as a new run will
//! differ from its prediction, regression errors included.

use elastane_core::{Demand, DemandError, Resources, SLOT_MS, StageEnds};
use serde::{Deserialize, Serialize};

use super::SettingsRun;
use super::targets::Targets;
use crate::recurring::{
    Prediction, UsageCurve, leave_one_out_error, stretched_mean, with_most_memory,
};
use crate::statistics;

/// The number of latest runs that make the mean shape.
const MOST_SHAPES: usize = 9;

/// The number of latest runs whose memory is planned for, as for recurring runs.
const MOST_MEMORY: usize = 3;

/// The bounds of the number of slots of a run that is as long as predicted.
const LEAST_SLOTS: usize = 20;
const MOST_SLOTS: usize = 400;

/// A series for a run of length 1 and mean usage 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit {
    slot_ms: u32,
    slots: Vec<[f64; 4]>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shapes {
    /// The length of a run that is as long as predicted.
    length_ms: f64,
    mean: Unit,
    /// Newest first.
    latest: Vec<Unit>,
}

impl Shapes {
    /// The shapes of runs, the latest last, by their held-out predictions; and the leave-one-out error of
    /// the demand.
    pub(crate) fn of(
        runs: &[&SettingsRun],
        held_out: &[Targets],
    ) -> Result<(Self, f64), DemandError> {
        let mut counts: Vec<usize> = runs.iter().map(|run| run.used.slots().len()).collect();
        counts.sort_unstable();
        let count = counts[counts.len() / 2].clamp(LEAST_SLOTS, MOST_SLOTS);
        let latest = runs.iter().zip(held_out).rev().take(MOST_SHAPES);
        let curves = latest
            .map(|(run, predicted)| Ok(UsageCurve::new(&unit(&run.used, predicted, count)?)))
            .collect::<Result<Vec<_>, DemandError>>()?;
        let error = leave_one_out_error(&curves, |others| {
            let mean = mean(others)?.scaled(1.0, Resources::ONE)?;
            with_most_memory(&mean, &others[..others.len().min(MOST_MEMORY)])
        })?;
        let latest = curves.iter().take(MOST_MEMORY);
        let shapes = Self {
            length_ms: count as f64 * f64::from(SLOT_MS),
            mean: mean(&curves)?,
            latest: latest.map(|curve| Unit::of(curve.used())).collect(),
        };
        Ok((shapes, error))
    }

    /// Predicts a run of this length and these amounts.
    pub(crate) fn prediction(
        &self,
        targets: &Targets,
        confidence: f64,
        runs: Vec<String>,
    ) -> Result<Prediction, DemandError> {
        let stretch = targets.length_s() * 1e3 / self.length_ms;
        let level = targets.level();
        let curves = self
            .latest
            .iter()
            .map(|unit| Ok(UsageCurve::new(&unit.scaled(stretch, level)?)))
            .collect::<Result<Vec<_>, DemandError>>()?;
        let own_length_ms = f64::from(self.mean.slot_ms) * self.mean.slots.len() as f64;
        let mean = self.mean.scaled(targets.length_s() * 1e3 / own_length_ms, level)?;
        let demand = with_most_memory(&mean, &curves)?;
        // Other settings move the ends of stages against each other.
        let stage_ends = StageEnds::default();
        Ok(Prediction { demand, mean, confidence, runs, curves, stage_ends })
    }
}

fn mean(curves: &[UsageCurve]) -> Result<Unit, DemandError> {
    Ok(Unit::of(&stretched_mean(curves)?).with_mean_1())
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
            let values: Vec<f64> = self.slots.iter().map(|slot| slot[resource]).collect();
            let mean = statistics::mean(&values);
            if mean > 0.0 {
                self.slots.iter_mut().for_each(|slot| slot[resource] /= mean);
            }
        }
        self
    }

    /// A run of this length and mean usage, as a multiple of the unit's.
    fn scaled(&self, stretch: f64, level: Resources) -> Result<Demand, DemandError> {
        let slots: Vec<Resources> = self
            .slots
            .iter()
            .map(|slot| Resources::from_array(*slot).zip(level, |shape, level| shape * level))
            .collect();
        let slot_ms = (f64::from(self.slot_ms) * stretch).round().max(1.0);
        Demand::series(slot_ms as u32, &slots)
    }
}

/// A run over its held-out prediction: mean usage 1 and `count` slots where the prediction was exact.
fn unit(used: &Demand, predicted: &Targets, count: usize) -> Result<Demand, DemandError> {
    let curve = UsageCurve::new(used);
    let longer = curve.length_ms() / (predicted.length_s() * 1e3);
    let slots = ((count as f64 * longer).round() as usize).clamp(1, 4 * MOST_SLOTS);
    let level = predicted.level();
    let slots: Vec<Resources> = (0..slots)
        .map(|at| {
            let (from, to) = (at as f64 / slots as f64, (at + 1) as f64 / slots as f64);
            let used = curve.mean(from, to).unwrap_or(Resources::ZERO);
            let part = |used, level| if level > 0.0 { used / level } else { 0.0 };
            used.zip(level, part)
        })
        .collect();
    Demand::series(SLOT_MS, &slots)
}
