//! Differences between runs at the same progress, relative to the mean level of each run.

use elastane_predict::progress::UsageCurve;

use super::level;

/// Prior deviation of the logarithm of a slot, and its maximum. Network and disk come in bursts, of which
/// a few runs show too few.
const PRIOR: [f64; 4] = [0.0, 0.0, 0.5, 0.5];

/// The prior weighs as much as this many slots.
const PRIOR_WEIGHT: f64 = 10.0;

/// The number of steps of progress in which runs are compared.
const STEPS: usize = 40;

/// Use below this part of a run's mean counts as this part.
const FLOOR: f64 = 0.3;

/// The deviation of the logarithm between a slot of each resource and the same slot of another run.
pub(super) fn bursts(curves: &[UsageCurve]) -> [f64; 4] {
    std::array::from_fn(|at| {
        if PRIOR[at] == 0.0 {
            return 0.0;
        }
        let squares = PRIOR_WEIGHT * PRIOR[at].powi(2);
        let (squares, weight) = (0..STEPS)
            .map(|step| apart(curves, at, step))
            .fold((squares, PRIOR_WEIGHT), |(squares, weight), (more, of)| {
                (squares + more, weight + of)
            });
        (squares / weight).sqrt().min(PRIOR[at])
    })
}

/// The sum of squares around the runs' mean in one step, and its weight.
fn apart(curves: &[UsageCurve], at: usize, step: usize) -> (f64, f64) {
    let from = step as f64 / STEPS as f64;
    let to = (step + 1) as f64 / STEPS as f64;
    let logarithms: Vec<f64> = curves
        .iter()
        .filter_map(|curve| {
            let level = level(curve).to_array()[at];
            let used = curve.mean(from, to)?.to_array()[at];
            (level > 0.0).then(|| (used / level).max(FLOOR).ln())
        })
        .collect();
    if logarithms.is_empty() {
        return (0.0, 0.0);
    }
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares = logarithms.iter().map(|it| (it - mean).powi(2)).sum();
    (squares, count - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::{Demand, Resource, Resources};

    fn run(disk: impl Fn(usize) -> f64) -> UsageCurve {
        let slots: Vec<Resources> =
            (0..40).map(|slot| Resources::from_array([1.0, 1e9, 1e6, disk(slot)])).collect();
        UsageCurve::new(&Demand::series(3_000, &slots).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn bursts_at_the_same_progress_lower_the_deviation() {
        let disk = Resource::Disk as usize;
        let phases = || run(|slot| if slot < 20 { 1e6 } else { 9e6 });
        let alike = bursts(&[phases(), phases(), phases()])[disk];
        let shifted = (0..3).map(|at| run(move |slot| if slot % 3 == at { 9e6 } else { 1e5 }));
        let apart = bursts(&shifted.collect::<Vec<_>>())[disk];
        assert!(alike < 0.25, "{alike}");
        assert_eq!(apart, 0.5, "at most the prior");
        assert_eq!(bursts(&[phases()])[disk], 0.5, "one run leaves the prior");
    }
}
