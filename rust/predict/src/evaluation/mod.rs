//! Predictions scored against what runs then used, beside plain predictions from the same runs.
//!
//! Nothing that runs in a cluster uses this module.

mod bursts;
mod envelope;
mod history;
mod plain;
mod pool;
mod ranked;
mod tracked;
mod tracker;
mod window;

use elastane_core::{Demand, DemandError};

pub use envelope::Envelope;
pub use history::History;
pub use plain::Plain;
pub use tracked::ProgressMissed;
pub use tracker::{Ahead, BoundingTracker};

use crate::recurring::{
    Excluded, NotPredicted, PastRun, Prediction, RecurringSettings, demand_error, select,
};
use crate::score::{Score, amount, score};
use crate::settings::{Foreseen, NotPlanned, Way};
use tracked::{Tracked, missed};

/// A way to predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The [`Envelope`].
    Envelope,
    /// The demand that the scheduler plans by.
    Demand,
    /// A plain prediction.
    Plain(Plain),
}

impl Method {
    /// The envelope first, then the demand, then the plain ones.
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
    #[must_use]
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
    /// The method.
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
    /// How it was foreseen.
    pub way: Way,
    /// The prediction, or why there is none.
    pub outcome: Result<Scored, NotPlanned>,
    /// The earlier runs that were left out.
    pub left_out: Vec<Excluded>,
}

/// A run that was predicted.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The prediction at submission.
    pub prediction: Prediction,
    /// The envelope of its runs.
    pub envelope: Envelope,
    /// See [`demand_error`].
    pub demand_error: f64,
    /// One for each of [`Method::ALL`], in its order.
    pub methods: Vec<MethodScores>,
    /// The error of its estimated progress.
    pub progress_missed: ProgressMissed,
}

/// Scores what was foreseen of a run against what it used. The plain methods predict from the same runs,
/// or from the latest runs where a model predicts.
#[must_use]
pub fn evaluate_foreseen(
    foreseen: Foreseen,
    history: &[PastRun],
    used: &Demand,
    settings: &RecurringSettings,
) -> Evaluated {
    let outcome = foreseen.prediction.and_then(|prediction| {
        let runs: Vec<Demand> = if foreseen.way == Way::Model {
            let (latest, _) = select(history, settings.runs);
            latest.into_iter().map(|it| it.used.clone()).collect()
        } else {
            let taken = |id: &String| history.iter().find(|run| run.id == *id);
            let taken = prediction.runs.iter().filter_map(taken);
            taken.map(|it| it.used.clone()).collect()
        };
        Ok(scored(prediction, &runs, used).map_err(NotPredicted::from)?)
    });
    Evaluated {
        way: foreseen.way,
        outcome,
        left_out: foreseen.left_out,
    }
}

fn scored(prediction: Prediction, runs: &[Demand], used: &Demand) -> Result<Scored, DemandError> {
    let demand = &prediction.demand;
    let envelope = Envelope::of(&prediction, Envelope::COVERAGE)?;
    let by_runs = Tracked::by_runs(&prediction, &envelope, used);
    let by_demand = Tracked::by_demand(demand, used);
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
        progress_missed: missed(&by_runs, &by_demand, prediction.length_ms()),
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
