//! Predictions scored against the usage of the runs, beside plain predictions from the same runs.

mod bounding_tracker;
mod bursts;
mod envelope;
mod history;
mod plain;
mod pool;
mod tracked;

use elastane_core::{Demand, DemandError, Resources};
use elastane_predict::progress::UsageCurve;
use elastane_predict::{
    Excluded, Foreseen, NotPlanned, NotPredicted, PastRun, Prediction, RecurringSettings, Score,
    Way, amount, demand_error, predict_next, score,
};

pub use bounding_tracker::{Ahead, BoundingTracker};
pub use envelope::Envelope;
pub use history::History;
pub use plain::Plain;
pub use tracked::ProgressMissed;

use tracked::{Tracked, missed};

/// A prediction that is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The bound of [`Envelope`].
    Envelope,
    /// The demand that the scheduler plans by.
    Demand,
    /// A baseline.
    Plain(Plain),
}

impl Method {
    /// In the order of reports.
    pub const ALL: [Method; 7] = [
        Method::Envelope,
        Method::Demand,
        Method::Plain(Plain::ConstantPeak),
        Method::Plain(Plain::ConstantMean),
        Method::Plain(Plain::StretchedMean),
        Method::Plain(Plain::WindowMaximum10s),
        Method::Plain(Plain::WindowMaximum30s),
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Envelope => "envelope",
            Method::Demand => "demand",
            Method::Plain(plain) => plain.name(),
        }
    }
}

/// The scores of one method on one run, in the order of [`elastane_core::Resource::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodScores {
    /// The scored method.
    pub method: Method,
    /// Predicted once, before the run started.
    pub at_submission: [Score; 4],
    /// Each slot predicted from the slots before it: the demand by a tracker of the demand, as in the
    /// scheduler, the others by a tracker of the runs.
    pub tracked: [Score; 4],
}

/// One run as predicted from the runs before it.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// How the run was predicted.
    pub way: Way,
    /// The scores, or why there is no prediction.
    pub outcome: Result<Scored, NotPlanned>,
    /// Earlier runs that were not predicted from, and why.
    pub left_out: Vec<Excluded>,
}

/// A prediction and its scores.
#[derive(Debug, Clone)]
pub struct Scored {
    /// As made before the run started.
    pub prediction: Prediction,
    /// Of the runs of the prediction.
    pub envelope: Envelope,
    /// See [`demand_error`].
    pub demand_error: f64,
    /// One for each of [`Method::ALL`], in its order.
    pub methods: Vec<MethodScores>,
    /// The error of the estimated progress.
    pub progress_missed: ProgressMissed,
}

/// Scores the prediction of the next run against its usage. The plain methods predict from the same runs,
/// or from the latest runs where a model predicts.
pub fn evaluate_foreseen(
    foreseen: Foreseen,
    history: &[PastRun],
    next: &PastRun,
    settings: &RecurringSettings,
) -> Evaluated {
    let outcome = foreseen.prediction.and_then(|prediction| {
        let ids = if foreseen.way == Way::Model {
            let any = RecurringSettings { least_confidence: 0.0, ..*settings };
            predict_next(history, &any).prediction?.runs
        } else {
            prediction.runs.clone()
        };
        let runs: Vec<Demand> = ids
            .iter()
            .filter_map(|id| history.iter().find(|run| run.id == *id))
            .map(|run| run.used.clone())
            .collect();
        Ok(scored(prediction, &runs, next).map_err(NotPredicted::from)?)
    });
    Evaluated { way: foreseen.way, outcome, left_out: foreseen.left_out }
}

fn scored(prediction: Prediction, runs: &[Demand], next: &PastRun) -> Result<Scored, DemandError> {
    let used = &next.used;
    let demand = &prediction.demand;
    let envelope = Envelope::of(&prediction, Envelope::COVERAGE)?;
    let of_runs = BoundingTracker::of_prediction(&prediction, &envelope);
    let by_runs = Tracked::by(of_runs, used);
    let by_demand = Tracked::by(BoundingTracker::of_demand(demand), used);
    let mut methods = vec![
        MethodScores {
            method: Method::Envelope,
            at_submission: score(&envelope.bound, prediction.total(), used),
            tracked: by_runs.score(&by_runs.bounds, Some(&by_runs.expected))?,
        },
        read_at(Method::Demand, demand, &by_demand)?,
    ];
    for plain in Plain::ALL {
        let predicted = plain.predict(runs)?;
        methods.push(read_at(Method::Plain(plain), &predicted, &by_runs)?);
    }
    Ok(Scored {
        demand_error: demand_error(demand, used)?,
        progress_missed: missed(&by_runs, &by_demand, &prediction, &next.stage_ends),
        methods,
        envelope,
        prediction,
    })
}

/// The scores of a prediction; tracked, it is read at a tracker's progress.
fn read_at(
    method: Method,
    predicted: &Demand,
    tracked: &Tracked<'_>,
) -> Result<MethodScores, DemandError> {
    let used = tracked.used;
    Ok(MethodScores {
        method,
        at_submission: score(predicted, amount(predicted), used),
        tracked: tracked.score(&tracked.read(predicted), None)?,
    })
}

fn level(curve: &UsageCurve) -> Resources {
    curve.mean(0.0, 1.0).unwrap_or(Resources::ZERO)
}
