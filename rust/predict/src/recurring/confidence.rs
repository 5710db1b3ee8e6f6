//! The confidence of a prediction, from the leave-one-out error of the planned demand.

use elastane_core::{Demand, DemandError, Resources};

use super::usage_curve::UsageCurve;
use crate::statistics::mean;

/// Usage is compared in sevenths of a run. Shorter peaks do not count: on a node the peaks of several
/// executors even out.
const PARTS: usize = 7;

/// A prediction of this error has no confidence. `docs/decisions/0022` has the measurements.
const WORTHLESS_ERROR: f64 = 0.8;

/// The error of a planned demand against the usage of the run, from 0 to 1.
///
/// Per resource: Σ |demand − used| ÷ Σ used over the means of the [`PARTS`] of the run, at most 1. The
/// result is the mean over the resources that were used. The demand is read by the clock, as the
/// scheduler reads it: past its end its last value holds.
///
/// # Errors
/// Amounts that are too large to add up.
pub fn demand_error(demand: &Demand, used: &Demand) -> Result<f64, DemandError> {
    let slot_ms = i64::from(used.slot_ms());
    let times_ms = (0..).map(|slot| slot * slot_ms);
    let planned: Vec<Resources> =
        times_ms.take(used.slots().len()).map(|time_ms| demand.at(time_ms)).collect();
    let planned = UsageCurve::new(&Demand::series(used.slot_ms(), &planned)?);
    let used = UsageCurve::new(used);
    let (mut differences, mut all) = (Resources::ZERO, Resources::ZERO);
    for part in 0..PARTS {
        let (from, to) = (part as f64 / PARTS as f64, (part + 1) as f64 / PARTS as f64);
        if let (Some(planned), Some(used)) = (planned.mean(from, to), used.mean(from, to)) {
            differences += planned.zip(used, |planned, used| (planned - used).abs());
            all += used;
        }
    }
    let errors: Vec<f64> = differences
        .to_array()
        .into_iter()
        .zip(all.to_array())
        .filter(|(_, all)| *all > 0.0)
        .map(|(difference, all)| (difference / all).min(1.0))
        .collect();
    Ok(mean(&errors))
}

/// The mean [`demand_error`] of n runs, each planned from the others, times √(1 − 1 ÷ n²).
///
/// A mean of m runs misses the next run by √(1 + 1 ÷ m) deviations. The factor turns the error of n − 1
/// runs, which is measured, into the error of the n runs that are planned by.
pub(crate) fn leave_one_out_error(
    runs: &[UsageCurve],
    plan: impl Fn(&[UsageCurve]) -> Result<Demand, DemandError>,
) -> Result<f64, DemandError> {
    let count = runs.len() as f64;
    let mut sum = 0.0;
    for (at, held_out) in runs.iter().enumerate() {
        let others = [&runs[..at], &runs[at + 1..]].concat();
        sum += demand_error(&plan(&others)?, held_out.used())?;
    }
    Ok(sum / count * (1.0 - 1.0 / count.powi(2)).sqrt())
}

/// 1 − (error ÷ [`WORTHLESS_ERROR`])³, from 0 to 1. The cube leaves the usual errors, which the margin
/// is for, most of the confidence. The floor of 0.6 is at an error of 0.59.
pub fn confidence(error: f64) -> f64 {
    (1.0 - (error / WORTHLESS_ERROR).powi(3)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cores: &[f64]) -> Demand {
        let slots: Vec<Resources> =
            cores.iter().map(|cores| Resources::from_array([*cores, 1e9, 0.0, 0.0])).collect();
        Demand::series(3_000, &slots).unwrap()
    }

    #[test]
    fn the_error_is_the_mean_over_what_was_used_and_the_last_value_holds() {
        let even = run(&[2.0; 20]);
        assert_eq!(demand_error(&even, &even).unwrap(), 0.0);
        // CPU misses by a half, memory by nothing, and nothing was sent or written.
        let error = demand_error(&run(&[3.0; 5]), &even).unwrap();
        assert!((error - 0.25).abs() < 1e-12, "{error}");
        // No resource counts for more than all of its use.
        let error = demand_error(&run(&[900.0; 5]), &even).unwrap();
        assert!((error - 0.5).abs() < 1e-12, "{error}");
    }

    #[test]
    fn peaks_shorter_than_a_seventh_of_the_run_do_not_count() {
        let peaks: Vec<f64> = (0..42).map(|slot| f64::from(slot % 2)).collect();
        let error = demand_error(&run(&[0.5; 42]), &run(&peaks)).unwrap();
        assert!(error < 1e-12, "{error}");
    }

    #[test]
    fn confidence_falls_slowly_up_to_the_floor() {
        assert_eq!(confidence(0.0), 1.0);
        assert!((confidence(0.3) - 0.947).abs() < 1e-3);
        assert!((confidence(0.589) - 0.601).abs() < 1e-3);
        assert_eq!(confidence(0.9), 0.0);
    }
}
