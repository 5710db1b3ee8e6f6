//! Predictions from earlier runs, as in production, instead of the true demand.

use elastane_core::{Demand, DemandError, Resources, StageEnds};
use elastane_predict::{Outcome, PastRun};
use elastane_sim::random::{Purpose, Random};
use elastane_sim::workload::{ApplicationSpec, Workload, stretched};

/// Enough executors for a stable mean.
const RECORDED_EXECUTORS: u32 = 16;

/// The variation between runs of an application: standard deviations, as fractions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunErrors {
    /// Of the length; a longer run does the same work at a lower rate.
    pub length: f64,
    /// Of the use at each moment.
    pub level: f64,
}

/// Makes a prediction from the earlier runs, newest last; None plans by the request.
pub type Predict<'a> = &'a dyn Fn(&[PastRun]) -> Option<Demand>;

/// The workload with predictions that `predict` makes from `runs` earlier runs, which differ from each other and
/// from the next run.
pub fn learned(
    mut workload: Workload,
    seed: u64,
    runs: usize,
    errors: RunErrors,
    predict: Predict<'_>,
) -> Result<Workload, DemandError> {
    for (at, application) in workload.applications.iter_mut().enumerate() {
        // No application has `u32::MAX` executors, so these draws are used for nothing else.
        let mut random = Random::new(seed, Purpose::Executor { application: at, number: u32::MAX });
        let past: Result<Vec<PastRun>, DemandError> = (0..runs)
            .map(|run| {
                let run_seed = seed.wrapping_add((run as u64 + 1) << 32);
                let one = differing(application, errors, &mut random)?;
                Ok(PastRun {
                    id: run.to_string(),
                    ended_ms: run as i64,
                    outcome: Outcome::Succeeded,
                    used: recorded(&one, run_seed, at)?,
                    stage_ends: StageEnds::default(),
                })
            })
            .collect();
        let actual = differing(application, errors, &mut random)?.actual;
        application.predicted = predict(&past?);
        application.actual = actual;
    }
    Ok(workload)
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
    let scale = Resources { memory_bytes: level, ..Resources::from_array([level / length; 4]) };
    let slots: Vec<Resources> = (0..count)
        .map(|at| slots[at * slots.len() / count].zip(scale, |amount, factor| amount * factor))
        .collect();
    Ok(ApplicationSpec {
        actual: Demand::series(application.actual.slot_ms(), &slots)?,
        ..application.clone()
    })
}

/// The mean use of an executor, as a recorder sees it. The recorder itself is not used: it adds the last
/// slots of containers in any order, and the same seed must give the same workload bit by bit.
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
    let slots: Vec<Resources> = sums.into_iter().map(|(sum, count)| sum * (1.0 / count)).collect();
    Demand::series(application.actual.slot_ms(), &slots)
}
