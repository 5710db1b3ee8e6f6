//! Predictions against what runs then used, beside plain predictions from the same runs.

use elastane_core::{Demand, DemandError, Resources};

use crate::plain::Plain;
use crate::recurring::{
    Excluded, NotPredicted, PastRun, Prediction, RecurringSettings, Tracker, select,
};
use crate::score::{Score, amount, score};
use crate::settings::{Foreseen, NotPlanned, Way};

/// Who predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The envelope of [`predict_next`].
    Envelope,
    /// A plain prediction.
    Plain(Plain),
}

impl Method {
    /// The envelope first, then the plain ones.
    pub const ALL: [Method; 6] = [
        Method::Envelope,
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
    /// Each slot predicted from the slots before it.
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
}

/// Scores what was foreseen of a run against what it used. The plain methods predict from the same
/// runs, beside a model of many runs from the latest; where the envelope's run is tracked, they are read
/// at the same progress.
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
        let methods = scores(&prediction, &runs, used).map_err(NotPredicted::from)?;
        Ok(Scored {
            prediction,
            methods,
        })
    });
    Evaluated {
        way: foreseen.way,
        outcome,
        left_out: foreseen.left_out,
    }
}

fn scores(
    prediction: &Prediction,
    runs: &[Demand],
    used: &Demand,
) -> Result<Vec<MethodScores>, DemandError> {
    let tracked = Tracked::new(prediction, used);
    let envelope = MethodScores {
        method: Method::Envelope,
        at_submission: score(&prediction.envelope, prediction.total(), used),
        tracked: tracked.score(&tracked.bounds, Some(&tracked.expected))?,
    };
    let plain = Plain::ALL.into_iter().map(|plain| {
        let bound = plain.predict(runs)?;
        let length_ms = bound.duration_ms().unwrap_or_default() as f64;
        let read: Vec<Resources> = tracked
            .progress
            .iter()
            .map(|progress| bound.at((progress * length_ms) as i64))
            .collect();
        Ok(MethodScores {
            method: Method::Plain(plain),
            at_submission: score(&bound, amount(&bound), used),
            tracked: tracked.score(&read, None)?,
        })
    });
    std::iter::once(Ok(envelope)).chain(plain).collect()
}

/// What a tracker said before each slot of a run.
struct Tracked<'r> {
    used: &'r Demand,
    progress: Vec<f64>,
    bounds: Vec<Resources>,
    expected: Vec<Resources>,
}

impl<'r> Tracked<'r> {
    fn new(prediction: &Prediction, used: &'r Demand) -> Self {
        let mut tracker = Tracker::new(prediction);
        let mut said = Self {
            used,
            progress: Vec::new(),
            bounds: Vec::new(),
            expected: Vec::new(),
        };
        for usage in used.slots() {
            let ahead = tracker.next(used.slot_ms());
            said.progress.push(tracker.progress());
            said.bounds.push(ahead.bound);
            said.expected.push(ahead.expected);
            tracker.observe(*usage, used.slot_ms());
        }
        said
    }

    fn score(
        &self,
        bounds: &[Resources],
        expected: Option<&[Resources]>,
    ) -> Result<[Score; 4], DemandError> {
        let series = |slots| Demand::series(self.used.slot_ms(), slots);
        let bound = series(bounds)?;
        let total = amount(&series(expected.unwrap_or(bounds))?);
        Ok(score(&bound, total, self.used))
    }
}
