//! What the scheduler is told comes from earlier runs, as in production, instead of from what a
//! workload's author knows.

use elastane_core::{Demand, DemandError, Resources};
use elastane_predict::{Outcome, PastRun};

use super::application::stretched;
use super::{ApplicationSpec, Workload};
use crate::random::{Purpose, Random};

/// More executors say nothing more about their mean.
const RECORDED_EXECUTORS: u32 = 16;

/// By how much the runs of an application differ as a whole: standard deviations, as fractions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunErrors {
    /// In length; a longer run uses less at a time for longer.
    pub length: f64,
    /// In what is used at each moment.
    pub level: f64,
}

/// Makes a prediction from the runs before, newest last; none where the request stands.
pub type Predict<'a> = &'a dyn Fn(&[PastRun]) -> Option<Demand>;

impl Workload {
    /// The same applications, each after `runs` earlier runs that differed from it and from each
    /// other, with what `predict` makes of these.
    ///
    /// # Errors
    /// A run is no demand, which a workload's own demands rule out.
    pub fn learned(
        mut self,
        seed: u64,
        runs: usize,
        errors: RunErrors,
        predict: Predict<'_>,
    ) -> Result<Self, DemandError> {
        for (at, application) in self.applications.iter_mut().enumerate() {
            let mut random = Random::new(seed, Purpose::EarlierRuns { application: at });
            let past: Result<Vec<PastRun>, DemandError> = (0..runs)
                .map(|run| {
                    let run_seed = seed.wrapping_add((run as u64 + 1) << 32);
                    let one = differing(application, errors, &mut random)?;
                    Ok(PastRun {
                        id: run.to_string(),
                        ended_ms: run as i64,
                        outcome: Outcome::Succeeded,
                        used: recorded(&one, run_seed, at)?,
                    })
                })
                .collect();
            let actual = differing(application, errors, &mut random)?.actual;
            application.predicted = predict(&past?);
            application.actual = actual;
        }
        Ok(self)
    }
}

/// The application as it is in one run.
fn differing(
    application: &ApplicationSpec,
    errors: RunErrors,
    random: &mut Random,
) -> Result<ApplicationSpec, DemandError> {
    let length = random.factor(errors.length);
    let level = random.factor(errors.level);
    let slots = application.actual.slots();
    let count = stretched(slots.len(), length);
    let scale = Resources {
        memory_bytes: level,
        ..Resources::from_array([level / length; 4])
    };
    let slots: Vec<Resources> = (0..count)
        .map(|at| slots[at * slots.len() / count].zip(scale, |amount, factor| amount * factor))
        .collect();
    Ok(ApplicationSpec {
        actual: Demand::series(application.actual.slot_ms(), &slots)?,
        ..application.clone()
    })
}

/// The mean use of an executor, as a recorder sees it. A recorder adds the last slots of containers in
/// any order, and the same seed has to give the same workload to the last bit.
fn recorded(
    application: &ApplicationSpec,
    seed: u64,
    number: usize,
) -> Result<Demand, DemandError> {
    let executors = 0..application.executors.min(RECORDED_EXECUTORS);
    let mut sums: Vec<(Resources, f64)> = Vec::new();
    for executor in executors {
        for (at, slot) in application.executor(seed, number, executor).enumerate() {
            if at == sums.len() {
                sums.push((Resources::ZERO, 0.0));
            }
            sums[at].0 += slot;
            sums[at].1 += 1.0;
        }
    }
    let slots: Vec<Resources> = sums
        .into_iter()
        .map(|(sum, count)| sum * (1.0 / count))
        .collect();
    Demand::series(application.actual.slot_ms(), &slots)
}
