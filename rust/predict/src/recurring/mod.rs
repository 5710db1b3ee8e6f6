//! What the next run of a recurring application is expected to use, from its latest runs.
//!
//! [`predict_next`] says it before the run starts, a [`Tracker`] while it runs.

mod bursts;
mod curve;
mod exclusion;
mod forecast;
mod held_out;
mod late;
mod pool;
mod ranked;
mod selection;
mod spread;
mod tracker;
mod window;

use elastane_core::{ContainerKind, Demand, DemandError, Resources};
use elastane_runs::{Outcome, Run};

pub(crate) use curve::Curve;
pub(crate) use exclusion::OUTLIER_FACTOR;
pub use exclusion::{Excluded, Exclusion, Measure};
pub(crate) use forecast::Forecast;
pub use held_out::HeldOut;
pub use late::LateTracker;
pub(crate) use selection::{DRIFT_FACTOR, LEAST_NEWER, apart, lie_apart, select};
pub use tracker::{Ahead, Tracker};

use crate::score::amount;
use spread::mean;

/// A run that is over, of containers of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    /// Its identity, for reports.
    pub id: String,
    /// When it ended, in Unix milliseconds: newer runs count before older ones. Runs of the same
    /// time are ordered by id.
    pub ended_ms: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// What one container used from its start.
    pub used: Demand,
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
        };
        Ok(run.used(kind)?.map(past))
    }
}

/// How sure one run alone is: no other run tells. It is below the floor that is the default.
pub const ONE_RUN_CONFIDENCE: f64 = 0.5;

/// How the next run is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecurringSettings {
    /// From the latest so many runs.
    pub runs: usize,
    /// The part of the guesses' time that the envelope covers, for each resource, from 0 to 1. A
    /// guess from three runs is too sure, so this is above what is covered of the next run.
    pub coverage: Resources,
    /// The prediction is the request where the confidence is below this.
    pub least_confidence: f64,
}

impl Default for RecurringSettings {
    fn default() -> Self {
        Self {
            runs: 3,
            coverage: Resources::from_array([0.97, 0.96, 0.965, 0.962]),
            least_confidence: 0.6,
        }
    }
}

/// What the next run is expected to use.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The mean of the runs, stretched to one length; all it holds of CPU, network and disk is the
    /// mean of what the runs used.
    pub mean: Demand,
    /// What is exceeded for a small part of the time only. It is longer than the mean: up to the
    /// longest run that is likely.
    pub envelope: Demand,
    /// From 0 to 1: see [`HeldOut::confidence`]; [`ONE_RUN_CONFIDENCE`] with one run.
    pub confidence: f64,
    /// How well the runs predict each other; none with one run.
    pub held_out: Option<HeldOut>,
    /// The ids of the runs it was made from, newest first.
    pub runs: Vec<String>,
    pub(crate) curves: Vec<Curve>,
    pub(crate) prices: [f64; 4],
}

/// What can be said before the next run, and of which runs.
#[derive(Debug, Clone)]
pub struct Outlook {
    /// The prediction, or why the request stands.
    pub prediction: Result<Prediction, NotPredicted>,
    /// The runs that it is not made from.
    pub left_out: Vec<Excluded>,
}

/// Why the request is the prediction.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NotPredicted {
    /// How sure it is shows in at least two runs that predict each other.
    #[error("earlier runs that can be used: {0}, at least 2 are needed")]
    TooFewRuns(usize),
    /// The runs do not predict each other.
    #[error("the confidence is {confidence:.2}, at least {least} is needed")]
    Unsure {
        /// What it is.
        confidence: f64,
        /// What the settings want.
        least: f64,
    },
    /// Amounts that are too large to add up.
    #[error("the runs make no demand: {0}")]
    Demand(#[from] DemandError),
}

/// Predicts the next run of an application. The order of `history` does not matter.
#[must_use]
pub fn predict_next(history: &[PastRun], settings: &RecurringSettings) -> Outlook {
    let (runs, left_out) = select(history, settings.runs);
    Outlook {
        prediction: prediction(&runs, settings),
        left_out,
    }
}

fn prediction(runs: &[&PastRun], settings: &RecurringSettings) -> Result<Prediction, NotPredicted> {
    let curves: Vec<Curve> = runs.iter().map(|run| Curve::new(&run.used)).collect();
    let held_out = match curves.len() {
        0 => return Err(NotPredicted::TooFewRuns(0)),
        1 => None,
        _ => Some(HeldOut::of(&curves, settings.coverage)?),
    };
    let confidence = held_out.map_or(ONE_RUN_CONFIDENCE, |it| it.confidence());
    let least = settings.least_confidence;
    if confidence < least {
        return Err(if held_out.is_none() {
            NotPredicted::TooFewRuns(1)
        } else {
            NotPredicted::Unsure { confidence, least }
        });
    }
    let forecast = Forecast::new(&curves, slot_ms(&curves));
    let prices = forecast.prices(settings.coverage);
    Ok(Prediction {
        mean: stretched_mean(&curves)?,
        envelope: forecast.envelope(prices)?,
        confidence,
        held_out,
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        curves,
        prices,
    })
}

impl Prediction {
    /// How long the run is expected to be, in milliseconds.
    #[must_use]
    pub fn length_ms(&self) -> i64 {
        mean_length_ms(&self.curves).round() as i64
    }

    /// What the next run is placed by: the mean, with the most memory that a run held at the same
    /// progress. CPU and bandwidth above a prediction are shared out and cost time; memory above it
    /// cannot be shared out and costs the container.
    ///
    /// # Errors
    /// Amounts that are too large to add up.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let slots = self.mean.slots();
        let count = slots.len() as f64;
        let slots: Vec<Resources> = slots
            .iter()
            .enumerate()
            .map(|(at, slot)| {
                let (from, to) = (at as f64 / count, (at + 1) as f64 / count);
                let runs = self.curves.iter().flat_map(|it| it.between(from, to));
                let held = runs.map(|(usage, _)| usage.memory_bytes);
                Resources {
                    memory_bytes: held.fold(0.0, f64::max),
                    ..*slot
                }
            })
            .collect();
        Demand::series(self.mean.slot_ms(), &slots)
    }

    /// All that the run is expected to use: cores, bytes and bytes per second, each times seconds.
    #[must_use]
    pub fn total(&self) -> Resources {
        amount(&self.mean)
    }
}

pub(crate) fn slot_ms(curves: &[Curve]) -> u32 {
    curves
        .iter()
        .map(Curve::slot_ms)
        .min()
        .unwrap_or(elastane_core::SLOT_MS)
}

pub(crate) fn mean_length_ms(curves: &[Curve]) -> f64 {
    let sum: f64 = curves.iter().map(Curve::length_ms).sum();
    sum / curves.len().max(1) as f64
}

/// The mean of the runs at the same progress; past all of their ends nothing.
pub(crate) fn mean_between(curves: &[Curve], from: f64, to: f64) -> Resources {
    let means: Vec<Resources> = curves.iter().filter_map(|it| it.mean(from, to)).collect();
    mean(&means)
}

/// A run that is throttled uses less for longer, so its level alone would count for too much: what
/// flows is scaled to the mean of the runs' totals.
pub(crate) fn stretched_mean(curves: &[Curve]) -> Result<Demand, DemandError> {
    let slot_ms = slot_ms(curves);
    let length_ms = mean_length_ms(curves);
    let count = (length_ms / f64::from(slot_ms)).round().max(1.0) as usize;
    let slots: Vec<Resources> = (0..count)
        .map(|at| {
            mean_between(
                curves,
                at as f64 / count as f64,
                (at + 1) as f64 / count as f64,
            )
        })
        .collect();
    let totals: Vec<Resources> = curves.iter().map(Curve::total).collect();
    let stretched = amount(&Demand::series(slot_ms, &slots)?);
    let scale = mean(&totals).zip(
        stretched,
        |total, made| {
            if made > 0.0 { total / made } else { 1.0 }
        },
    );
    let scale = Resources {
        memory_bytes: 1.0,
        ..scale
    };
    let slots: Vec<Resources> = slots
        .into_iter()
        .map(|slot| slot.zip(scale, |amount, factor| amount * factor))
        .collect();
    Demand::series(slot_ms, &slots)
}
