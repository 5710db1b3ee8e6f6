//! Which runs the next one is predicted from.

use elastane_core::{Demand, Resource};

use super::PastRun;
use crate::run::Outcome;
use crate::score::amount;

/// A run that is not part of a prediction, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Excluded {
    /// The run.
    pub id: String,
    /// What is wrong with it.
    pub reason: Exclusion,
}

/// Why a run is not part of a prediction.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
    /// It is not among the latest runs that are looked at.
    #[error("newer runs are enough")]
    Old,
}

/// What runs are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// From start to end.
    Length,
    /// All CPU time.
    CpuTime,
    /// The most memory.
    MemoryPeak,
}

impl Measure {
    const ALL: [Measure; 3] = [Measure::Length, Measure::CpuTime, Measure::MemoryPeak];

    /// The words that reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Measure::Length => "length",
            Measure::CpuTime => "CPU time",
            Measure::MemoryPeak => "memory peak",
        }
    }

    /// The logarithm of what it is in a run; what is 0 counts as the least there is.
    fn logarithm(self, used: &Demand) -> f64 {
        let measured = match self {
            Measure::Length => used.slots().len() as f64 * f64::from(used.slot_ms()),
            Measure::CpuTime => amount(used).get(Resource::Cpu),
            Measure::MemoryPeak => used.peak().get(Resource::Memory),
        };
        measured.max(1e-9).ln()
    }
}

/// Repeats differ by a factor of two where a disk is throttled; beyond this one is something else.
const OUTLIER_FACTOR: f64 = 2.5;

/// A change of less than this between older and newer runs is none.
const DRIFT_FACTOR: f64 = 1.25;

/// So many times the runs that are taken are compared with each other.
const COMPARED: usize = 2;

/// The runs to predict from, newest first and at most `wanted`, and those left out.
pub(crate) fn select(history: &[PastRun], wanted: usize) -> (Vec<&PastRun>, Vec<Excluded>) {
    let mut left_out = Vec::new();
    let mut newest_first: Vec<&PastRun> = history.iter().collect();
    newest_first.sort_by(|a, b| (b.ended_ms, &b.id).cmp(&(a.ended_ms, &a.id)));
    let mut runs = Vec::new();
    for run in newest_first {
        match exclusion(run.outcome) {
            Some(reason) => exclude(&mut left_out, run, reason),
            None if runs.len() < wanted.saturating_mul(COMPARED) => runs.push(run),
            None => exclude(&mut left_out, run, Exclusion::Old),
        }
    }
    if let Some((newer, measure)) = drift(&runs) {
        let center = mean_of(&runs[..newer], measure);
        for run in runs.drain(newer..) {
            let factor = (measure.logarithm(&run.used) - center).exp();
            exclude(
                &mut left_out,
                run,
                Exclusion::BeforeDrift { measure, factor },
            );
        }
    }
    let outliers: Vec<Option<Exclusion>> = (0..runs.len()).map(|at| outlier(&runs, at)).collect();
    let mut taken = Vec::new();
    for (run, outlier) in runs.into_iter().zip(outliers) {
        match outlier {
            Some(reason) => exclude(&mut left_out, run, reason),
            None if taken.len() < wanted => taken.push(run),
            None => exclude(&mut left_out, run, Exclusion::Old),
        }
    }
    (taken, left_out)
}

fn exclude(left_out: &mut Vec<Excluded>, run: &PastRun, reason: Exclusion) {
    let id = run.id.clone();
    left_out.push(Excluded { id, reason });
}

fn exclusion(outcome: Outcome) -> Option<Exclusion> {
    match outcome {
        Outcome::Succeeded => None,
        Outcome::Failed => Some(Exclusion::Failed),
        Outcome::CutOff => Some(Exclusion::CutOff),
    }
}

/// How many of the newest runs, two at least, lie apart from all the older ones, and in what: by
/// more than a chance gap, and by more than either differ among themselves.
fn drift(newest_first: &[&PastRun]) -> Option<(usize, Measure)> {
    (2..newest_first.len().saturating_sub(1)).find_map(|newer| {
        let (new, old) = newest_first.split_at(newer);
        let apart = |measure: &Measure| {
            let ((new_least, new_most), (old_least, old_most)) =
                (range(new, *measure), range(old, *measure));
            let gap = (new_least - old_most).max(old_least - new_most);
            gap > DRIFT_FACTOR.ln() && gap > new_most - new_least && gap > old_most - old_least
        };
        let measure = Measure::ALL.into_iter().find(apart)?;
        Some((newer, measure))
    })
}

/// Three runs at least are needed to say which one is alone.
fn outlier(runs: &[&PastRun], at: usize) -> Option<Exclusion> {
    if runs.len() < 3 {
        return None;
    }
    Measure::ALL.into_iter().find_map(|measure| {
        let mut others: Vec<f64> = (0..runs.len())
            .filter(|other| *other != at)
            .map(|other| measure.logarithm(&runs[other].used))
            .collect();
        others.sort_unstable_by(f64::total_cmp);
        let median = (others[(others.len() - 1) / 2] + others[others.len() / 2]) / 2.0;
        let apart = measure.logarithm(&runs[at].used) - median;
        (apart.abs() > OUTLIER_FACTOR.ln()).then(|| Exclusion::Outlier {
            measure,
            factor: apart.exp(),
        })
    })
}

fn range(runs: &[&PastRun], measure: Measure) -> (f64, f64) {
    let logarithms = runs.iter().map(|run| measure.logarithm(&run.used));
    logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| {
        (least.min(it), most.max(it))
    })
}

/// The largest factor between two runs, in any measure.
pub(crate) fn apart(runs: &[&PastRun]) -> f64 {
    let factors = Measure::ALL.map(|measure| {
        let (least, most) = range(runs, measure);
        (most - least).exp()
    });
    factors.into_iter().fold(1.0, f64::max)
}

fn mean_of(runs: &[&PastRun], measure: Measure) -> f64 {
    let sum: f64 = runs.iter().map(|run| measure.logarithm(&run.used)).sum();
    sum / runs.len().max(1) as f64
}
