//! Why a run is not part of a prediction.

use elastane_core::{Demand, Resource};
use serde::{Deserialize, Serialize};

use crate::score::amount;

/// Repeats differ by a factor of two where a disk is throttled; beyond this one is something else.
pub(crate) const OUTLIER_FACTOR: f64 = 2.5;

/// A run that is not part of a prediction, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Excluded {
    /// The run.
    pub id: String,
    /// What is wrong with it.
    pub reason: Exclusion,
}

/// Why a run is not part of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum Exclusion {
    /// It failed or was killed.
    #[error("it failed")]
    Failed,
    /// Its end, or a part of it, was not seen.
    #[error("it was not seen from beginning to end")]
    CutOff,
    /// It stands alone, far from the other runs.
    #[error("its {} is {factor:.2} times that of the other runs, {least} to {most} is allowed",
        measure.name(), least = 1.0 / OUTLIER_FACTOR, most = OUTLIER_FACTOR)]
    Outlier {
        /// In what.
        measure: Measure,
        /// Its own over the others' median.
        factor: f64,
    },
    /// The application changed after it.
    #[error("the application changed after it: its {} is {factor:.2} times that of the newest runs",
        measure.name())]
    BeforeDrift {
        /// In what.
        measure: Measure,
        /// Its own over the newest runs' mean.
        factor: f64,
    },
    /// It is far from what the runs with other settings say of it.
    #[error("its {} is {factor:.2} times what the other runs say of its settings, {least} to {most} \
        is allowed", measure.name(), least = 1.0 / OUTLIER_FACTOR, most = OUTLIER_FACTOR)]
    OutlierForSettings {
        /// In what.
        measure: Measure,
        /// Its own over what is said of it.
        factor: f64,
    },
    /// With the same settings the application uses something else since.
    #[error("the application changed after it: settings apart, its {} was {factor:.2} times that of \
        the newest runs", measure.name())]
    BeforeDriftForSettings {
        /// In what.
        measure: Measure,
        /// The older runs' over the newest runs', each over what is said of it.
        factor: f64,
    },
    /// It is not among the latest runs that are looked at.
    #[error("newer runs are enough")]
    Old,
}

/// What runs are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// From start to end.
    Length,
    /// All CPU time.
    CpuTime,
    /// The most memory.
    MemoryPeak,
    /// The mean of the memory: what models of settings say.
    MemoryMean,
}

impl Measure {
    /// Of runs with the same settings.
    pub(super) const ALL: [Measure; 3] = [Measure::Length, Measure::CpuTime, Measure::MemoryPeak];

    /// The words that reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Measure::Length => "length",
            Measure::CpuTime => "CPU time",
            Measure::MemoryPeak => "memory peak",
            Measure::MemoryMean => "mean memory",
        }
    }

    /// The logarithm of what it is in a run; what is 0 counts as the least there is.
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
