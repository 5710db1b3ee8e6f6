//! Predictions against what runs then used, beside plain predictions from the same runs.

use elastane_core::{Demand, DemandError};

use crate::plain::Plain;
use crate::recurring::{Excluded, NotPredicted, PastRun, Prediction, RecurringSettings, select};
use crate::score::{Score, amount, score};
use crate::settings::{Foreseen, NotPlanned, Way};
use crate::tracked::{ProgressMissed, Tracked, missed};

/// Who predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The envelope of [`predict_next`].
    Envelope,
    /// What the scheduler plans by, see [`Prediction::demand`].
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

    /// The words that reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Envelope => "envelope",
            Method::Demand => "demand",
            Method::Plain(plain) => plain.name(),
        }
    }
}

/// How one method did on one run, each resource in the order of [`elastane_core::Resource::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodScores {
    /// Whose.
    pub method: Method,
    /// Predicted once, before the run started.
    pub at_submission: [Score; 4],
    /// Each slot predicted from the slots before it: the demand as the scheduler does it, by a
    /// tracker of the demand, the others by one of the runs.
    pub tracked: [Score; 4],
}

/// One run and how it was predicted from those before it.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// By what it was foreseen.
    pub way: Way,
    /// The prediction, or why there is none.
    pub outcome: Result<Scored, NotPlanned>,
    /// The earlier runs that it was not made from.
    pub left_out: Vec<Excluded>,
}

/// A run that was predicted.
#[derive(Debug, Clone)]
pub struct Scored {
    /// What was predicted at submission.
    pub prediction: Prediction,
    /// One for each of [`Method::ALL`], in its order.
    pub methods: Vec<MethodScores>,
    /// How far off its progress was said to be.
    pub progress_missed: ProgressMissed,
}

/// Scores what was foreseen of a run against what it used. The plain methods predict from the same
/// runs, beside a model of many runs from the latest; where the envelope's run is tracked, they are read
/// at the same progress, and the demand at that which the scheduler's tracker says.
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
        let demand = prediction.demand().map_err(NotPredicted::from)?;
        let by_runs = Tracked::by_runs(&prediction, used);
        let by_demand = Tracked::by_demand(&demand, used);
        let plain = Plain::ALL
            .into_iter()
            .map(|plain| read_at(Method::Plain(plain), &plain.predict(&runs)?, &by_runs));
        let methods = [
            of_envelope(&prediction, &by_runs),
            read_at(Method::Demand, &demand, &by_demand),
        ];
        let methods: Result<Vec<_>, DemandError> = methods.into_iter().chain(plain).collect();
        Ok(Scored {
            progress_missed: missed(&by_runs, &by_demand, prediction.length_ms()),
            methods: methods.map_err(NotPredicted::from)?,
            prediction,
        })
    });
    Evaluated {
        way: foreseen.way,
        outcome,
        left_out: foreseen.left_out,
    }
}

/// The envelope, and what the tracker bounds as the envelope does.
fn of_envelope(
    prediction: &Prediction,
    tracked: &Tracked<'_>,
) -> Result<MethodScores, DemandError> {
    Ok(MethodScores {
        method: Method::Envelope,
        at_submission: score(&prediction.envelope, prediction.total(), tracked.used),
        tracked: tracked.score(&tracked.bounds, Some(&tracked.expected))?,
    })
}

/// A prediction that is read at the progress that a tracker says.
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
