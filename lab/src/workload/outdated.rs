//! Elasecutor's mix, where the predictions of two thirds of the applications are out of date.

use elastane_core::{Demand, DemandError, Resources};
use elastane_sim::workload::Workload;

use super::elasecutor;

/// One application in three has grown in length, and the next one in use.
const EVERY: usize = 3;

/// Predicted over actual length where the input has grown by half.
const LENGTH_LEARNED: f64 = 1.0 / 1.5;

/// Predicted over actual use of CPU, network and disk.
const LEVEL_LEARNED: f64 = 0.7;

/// The work is that of `elasecutor`: policies that ignore predictions take equally long on both.
pub(super) fn generate(seed: u64) -> Result<Workload, DemandError> {
    let mut workload = elasecutor::generate(seed)?;
    workload.name = "elasecutor-outdated".to_owned();
    for (number, application) in workload.applications.iter_mut().enumerate() {
        let Some(predicted) = &mut application.predicted else {
            continue;
        };
        match number % EVERY {
            0 => *predicted = shorter(predicted)?,
            1 => *predicted = predicted.scaled(level_learned()),
            _ => {}
        }
    }
    Ok(workload)
}

fn level_learned() -> Resources {
    Resources::from_array([LEVEL_LEARNED, 1.0, LEVEL_LEARNED, LEVEL_LEARNED])
}

/// The same shape in fewer slots.
fn shorter(demand: &Demand) -> Result<Demand, DemandError> {
    let slots = demand.slots();
    let count = (slots.len() as f64 * LENGTH_LEARNED).round().max(1.0) as usize;
    let slots: Vec<_> = (0..count).map(|slot| slots[slot * slots.len() / count]).collect();
    Demand::series(demand.slot_ms(), &slots)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    #[test]
    fn a_third_was_shorter_a_third_lower_and_the_work_is_the_same() {
        let (former, outdated) = (elasecutor::generate(1).unwrap(), generate(1).unwrap());
        for (number, (former, now)) in
            former.applications.iter().zip(&outdated.applications).enumerate()
        {
            assert_eq!(former.actual, now.actual);
            let [former, now] = [former, now].map(|one| one.predicted.clone().unwrap());
            let longer = former.slots().len() as f64 / now.slots().len() as f64;
            let wider = former.peak().cpu_cores / now.peak().cpu_cores;
            let memory = former.peak().memory_bytes / now.peak().memory_bytes;
            assert!((memory - 1.0).abs() < 0.1);
            match number % EVERY {
                0 => assert!((longer - 1.5).abs() < 0.1 && (wider - 1.0).abs() < 0.1),
                1 => assert!((wider - 1.0 / 0.7).abs() < 1e-9 && longer == 1.0),
                _ => assert_eq!(former, now),
            }
        }
    }
}
