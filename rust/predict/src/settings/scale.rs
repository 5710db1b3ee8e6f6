//! Settings as points, each axis standardized.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use elastane_runs::Feature;
use serde::{Deserialize, Serialize};

use super::{NotForeseen, Settings};
use crate::statistics;

/// A setting may lie outside the range of the runs by this factor.
const BEYOND: f64 = 1.25;

/// One setting that differed from run to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Axis {
    name: String,
    least: f64,
    most: f64,
    /// Whether the axis is the logarithm: where all values are above 0, so that doubling the input is the
    /// same step from one gigabyte as from ten.
    is_logarithmic: bool,
    mean: f64,
    deviation: f64,
}

/// The settings that differed, each with mean 0 and deviation 1, and the constant ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scale {
    axes: Vec<Axis>,
    /// The settings that never differed: the effect of another value is not known.
    always: BTreeMap<String, f64>,
}

impl Scale {
    /// The scale of the settings of runs. Settings that only some runs have are ignored.
    pub(crate) fn of<'s>(runs: impl Iterator<Item = &'s Settings> + Clone) -> Self {
        let mut values: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
        for (name, value) in runs.clone().flat_map(|settings| &settings.0) {
            values.entry(name).or_default().push(*value);
        }
        let count = runs.count();
        let mut scale = Self { axes: Vec::new(), always: BTreeMap::new() };
        for (name, values) in values {
            match Axis::of(name, &values) {
                Some(axis) if values.len() == count => scale.axes.push(axis),
                Some(_) => {}
                None => {
                    let value = values.first().copied();
                    scale.always.extend(value.map(|it| (name.clone(), it)));
                }
            }
        }
        scale
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    pub(crate) fn features(&self) -> Vec<Feature> {
        let feature = |axis: &Axis| {
            let range = axis.predictable();
            Feature { name: axis.name.clone(), least: *range.start(), most: *range.end() }
        };
        self.axes.iter().map(feature).collect()
    }

    pub(crate) fn point(&self, settings: &Settings) -> Result<Vec<f64>, NotForeseen> {
        for (setting, always) in &self.always {
            if let Some(value) = settings.0.get(setting).filter(|value| *value != always) {
                return Err(NotForeseen::Always(setting.clone(), *value, *always));
            }
        }
        self.axes.iter().map(|axis| axis.at(settings)).collect()
    }
}

impl Axis {
    fn of(name: &str, values: &[f64]) -> Option<Self> {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(least.is_finite() && most.is_finite() && least < most) {
            return None;
        }
        let mut axis = Self {
            name: name.to_owned(),
            least,
            most,
            is_logarithmic: least > 0.0,
            mean: 0.0,
            deviation: 1.0,
        };
        let coordinates: Vec<f64> = values.iter().map(|value| axis.coordinate(*value)).collect();
        let mean = statistics::mean(&coordinates);
        let squares: Vec<f64> = coordinates.iter().map(|it| (it - mean).powi(2)).collect();
        axis.mean = mean;
        axis.deviation = statistics::mean(&squares).sqrt();
        Some(axis)
    }

    fn coordinate(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.ln() } else { value };
        (value - self.mean) / self.deviation
    }

    /// The range that can be predicted.
    fn predictable(&self) -> RangeInclusive<f64> {
        if self.is_logarithmic {
            return self.least / BEYOND..=self.most * BEYOND;
        }
        let beyond = (self.most - self.least) * (BEYOND - 1.0);
        self.least - beyond..=self.most + beyond
    }

    fn at(&self, settings: &Settings) -> Result<f64, NotForeseen> {
        match settings.0.get(&self.name) {
            None => Err(NotForeseen::Missing(self.name.clone())),
            Some(value) if !self.predictable().contains(value) => {
                Err(NotForeseen::Beyond(self.name.clone(), *value, self.predictable()))
            }
            Some(value) => Ok(self.coordinate(*value)),
        }
    }
}
