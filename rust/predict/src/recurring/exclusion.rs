//! The reasons to leave a run out of a prediction.

use elastane_core::{Demand, Resource};
use serde::{Deserialize, Serialize};

use crate::score::amount;

/// A run is an outlier beyond this factor. Repeats differ by up to a factor of two where a disk is
/// throttled.
pub(crate) const OUTLIER_FACTOR: f64 = 2.5;

/// A run that was left out of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Excluded {
    /// The run.
    pub id: String,
    /// The reason.
    pub reason: Exclusion,
}

/// Why a run was left out of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum Exclusion {
    /// It failed or was killed.
    #[error("it failed")]
    Failed,
    /// Its end, or a part of it, was not measured.
    #[error("it was not measured from beginning to end")]
    CutOff,
    /// An outlier among runs with the same settings: the measure, and its value over the others' median.
    #[error("its {name} is {1:.2} times that of the other runs, {least} to {most} is allowed",
        name = .0.name(), least = 1.0 / OUTLIER_FACTOR, most = OUTLIER_FACTOR)]
    Outlier(Measure, f64),
    /// The application changed after it: the measure, and its value over the newest runs' mean.
    #[error("the application changed after it: its {name} is {1:.2} times that of the newest runs",
        name = .0.name())]
    BeforeDrift(Measure, f64),
    /// An outlier among runs with different settings: the measure, and its value over its prediction.
    #[error("its {name} is {1:.2} times the prediction of the other runs for its settings, {least} to \
        {most} is allowed", name = .0.name(), least = 1.0 / OUTLIER_FACTOR, most = OUTLIER_FACTOR)]
    OutlierForSettings(Measure, f64),
    /// The application changed after it, and the effect of the settings does not explain the difference:
    /// the measure, and older over newest runs, each over its prediction.
    #[error("the application changed after it: with equal settings, its {name} would be {1:.2} times \
        that of the newest runs", name = .0.name())]
    BeforeDriftForSettings(Measure, f64),
    /// Its series is no demand.
    #[error("{0}")]
    NoDemand(String),
    /// It is older than the runs that are needed.
    #[error("newer runs are enough")]
    Old,
}

/// A measure by which runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// From start to end.
    Length,
    /// The total CPU time.
    CpuTime,
    /// The largest memory.
    MemoryPeak,
    /// The mean memory, which models of settings predict.
    MemoryMean,
}

impl Measure {
    /// The measures of runs with the same settings.
    pub(super) const ALL: [Measure; 3] = [Measure::Length, Measure::CpuTime, Measure::MemoryPeak];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Length => "length",
            Measure::CpuTime => "CPU time",
            Measure::MemoryPeak => "memory peak",
            Measure::MemoryMean => "mean memory",
        }
    }

    /// The logarithm of the measure of a run; 0 counts as 1e-9.
    pub(super) fn logarithm(self, used: &Demand) -> f64 {
        let length_ms = used.slots().len() as f64 * f64::from(used.slot_ms());
        let measured = match self {
            Measure::Length => length_ms,
            Measure::CpuTime => amount(used).get(Resource::Cpu),
            Measure::MemoryPeak => used.peak().get(Resource::Memory),
            Measure::MemoryMean => amount(used).get(Resource::Memory) / (length_ms / 1e3),
        };
        measured.max(1e-9).ln()
    }
}
