//! The expected usage of the next run of a recurring application, from its latest runs.
//!
//! [`predict_next`] predicts a run before it starts; a [`Tracker`] follows it while it runs.

mod confidence;
mod demand;
mod exclusion;
mod late;
mod log_normal;
mod selection;
mod stages;
mod tracker;
mod usage_curve;

use elastane_core::{ContainerKind, Demand, DemandError, Resources, StageEnds};
use elastane_runs::{Outcome, Run};

pub(crate) use confidence::leave_one_out_error;
pub use confidence::{confidence, demand_error};
pub use demand::mean_between;
pub(crate) use demand::{planned, stretched_mean, with_most_memory};
pub(crate) use exclusion::OUTLIER_FACTOR;
pub use exclusion::{Excluded, Exclusion, Measure};
pub use late::LateTracker;
pub use log_normal::LogNormal;
pub(crate) use selection::{DRIFT_FACTOR, LEAST_NEWER, largest_factor, lie_apart, select};
pub use tracker::{Expectation, Tracker};
pub use usage_curve::{UsageCurve, mean};

use crate::score::amount;

/// A run that is over, of containers of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    /// Its identity, for reports.
    pub id: String,
    /// When it ended, in Unix milliseconds. Runs of the same time are ordered by id.
    pub ended_ms: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// What one container used from its start.
    pub used: Demand,
    /// When the application's stages ended; empty where it told none.
    pub stage_ends: StageEnds,
}

impl PastRun {
    /// The use of the run's containers of this kind; none where it had none.
    ///
    /// # Errors
    /// A series that is no demand.
    pub fn of(run: &Run, kind: ContainerKind) -> Result<Option<Self>, DemandError> {
        let past = |used| Self {
            id: run.application_id.clone(),
            ended_ms: run.ended_ms,
            outcome: run.outcome,
            used,
            stage_ends: run.stage_ends(kind),
        };
        Ok(run.used(kind)?.map(past))
    }

    /// The containers of this kind of some runs. A series that is no demand is left out; profiles report
    /// it.
    pub fn all(runs: &[Run], kind: ContainerKind) -> Vec<Self> {
        runs.iter().filter_map(|run| Self::of(run, kind).ok().flatten()).collect()
    }
}

/// The confidence of a prediction from one run, which no other run confirms. It is below the default
/// floor.
pub const ONE_RUN_CONFIDENCE: f64 = 0.5;

/// How the next run is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecurringSettings {
    /// The number of latest runs to predict from.
    pub runs: usize,
    /// With less confidence the request stands.
    pub least_confidence: f64,
}

impl Default for RecurringSettings {
    fn default() -> Self {
        Self { runs: 3, least_confidence: 0.6 }
    }
}

/// What the next run is expected to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The mean of the runs at the same progress, on the mean of their lengths. Its totals of CPU,
    /// network and disk are the means of the runs' totals.
    pub mean: Demand,
    /// The demand that is planned by: the mean, with the most memory that a run held at the same
    /// progress.
    pub demand: Demand,
    /// From 0 to 1, see [`confidence()`]; [`ONE_RUN_CONFIDENCE`] with one run.
    pub confidence: f64,
    /// The ids of the runs it was made from, newest first.
    pub runs: Vec<String>,
    /// What the runs used; by a model of settings, scaled to the length and the amounts predicted.
    pub curves: Vec<UsageCurve>,
    /// When the application's stages end; empty where the newest run told none.
    pub stage_ends: StageEnds,
}

/// The prediction of the next run.
#[derive(Debug, Clone)]
pub struct NextRun {
    /// The prediction, or why the request stands.
    pub prediction: Result<Prediction, NotPredicted>,
    /// The runs that were left out.
    pub left_out: Vec<Excluded>,
}

/// Why the request is the prediction.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NotPredicted {
    /// Confidence takes two runs that predict each other.
    #[error("earlier runs that can be used: {0}, at least 2 are needed")]
    TooFewRuns(usize),
    /// The runs do not predict each other.
    #[error("the confidence is {0:.2}, at least {1} is needed")]
    Unsure(f64, f64),
    /// Amounts that are too large to add up.
    #[error("the runs make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Predicts the next run of an application. The order of `history` does not matter.
pub fn predict_next(history: &[PastRun], settings: &RecurringSettings) -> NextRun {
    let (runs, left_out) = select(history, settings.runs);
    NextRun { prediction: prediction(&runs, settings.least_confidence), left_out }
}

fn prediction(runs: &[&PastRun], least: f64) -> Result<Prediction, NotPredicted> {
    let curves: Vec<UsageCurve> = runs.iter().map(|run| UsageCurve::new(&run.used)).collect();
    let confidence = match curves.len() {
        0 => return Err(NotPredicted::TooFewRuns(0)),
        1 if ONE_RUN_CONFIDENCE < least => return Err(NotPredicted::TooFewRuns(1)),
        1 => ONE_RUN_CONFIDENCE,
        _ => confidence(leave_one_out_error(&curves, planned)?),
    };
    if confidence < least {
        return Err(NotPredicted::Unsure(confidence, least));
    }
    let mean = stretched_mean(&curves)?;
    Ok(Prediction {
        demand: with_most_memory(&mean, &curves)?,
        mean,
        confidence,
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        curves,
        stage_ends: stages::mean_ends(runs),
    })
}

impl Prediction {
    /// How long the run is expected to be, in milliseconds.
    pub fn length_ms(&self) -> i64 {
        demand::mean_length_ms(&self.curves).round() as i64
    }

    /// The demand as it is kept for its score: each amount rounded up to 12 significant bits, which
    /// compresses well.
    pub fn demand_to_keep(&self) -> Demand {
        const DROPPED: u32 = (1 << 12) - 1;
        let round = |amount: f64| {
            let bits = (amount as f32).to_bits().saturating_add(DROPPED);
            f64::from(f32::from_bits(bits & !DROPPED))
        };
        let slots = self.demand.slots().iter().map(|slot| slot.to_array());
        let slots: Vec<Resources> =
            slots.map(|slot| Resources::from_array(slot.map(round))).collect();
        Demand::series(self.demand.slot_ms(), &slots).unwrap_or_else(|_| self.demand.clone())
    }

    /// All that the run is expected to use: cores, bytes and bytes per second, each times seconds.
    pub fn total(&self) -> Resources {
        amount(&self.mean)
    }
}
