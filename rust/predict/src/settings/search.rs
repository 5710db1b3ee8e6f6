//! Grid search: the regression of the least held-out error.

use super::rbf::NotFitted;
use super::regression::{Kernel, Parameters, Regression};
use crate::statistics::mean;

const COSTS: [f64; 3] = [3.0, 30.0, 300.0];
const LINEAR_COSTS: [f64; 3] = [0.1, 1.0, 10.0];
const EPSILONS: [f64; 2] = [0.01, 0.1];

/// Divided by the number of features.
const GAMMAS: [f64; 3] = [0.02, 0.1, 0.4];

/// The folds of the cross-validation.
const FOLDS: usize = 5;

/// One choice of kernel and parameters, and its held-out predictions.
struct CrossValidated {
    parameters: Parameters,
    held_out: Vec<f64>,
    /// The sum of the absolute errors.
    total_error: f64,
}

/// Searches the kernels and their parameters, on standardized points. Returns the regression of the least
/// held-out error, and its held-out prediction of each run.
///
/// # Errors
/// As [`Regression::fit`].
pub(crate) fn search(
    points: &[Vec<f64>],
    targets: &[f64],
) -> Result<(Regression, Vec<f64>), NotFitted> {
    let features = points.first().map_or(1, Vec::len).max(1) as f64;
    let mut best = CrossValidated {
        parameters: Parameters { kernel: Kernel::Linear, cost: 1.0, epsilon: 0.1 },
        held_out: targets.to_vec(),
        total_error: f64::INFINITY,
    };
    // The linear kernel comes first and wins ties: it also extrapolates.
    for parameters in grid(features) {
        if let Some(better) = cross_validate(points, targets, parameters, best.total_error)? {
            best = better;
        }
    }
    let regression = Regression::fit(points, targets, best.parameters)?;
    Ok((regression, best.held_out))
}

fn grid(features: f64) -> impl Iterator<Item = Parameters> {
    let rbf = GAMMAS.map(|gamma| Kernel::Rbf { gamma: gamma / features });
    let linear = (Kernel::Linear, LINEAR_COSTS);
    let kernels = std::iter::once(linear).chain(rbf.map(|kernel| (kernel, COSTS)));
    kernels.flat_map(|(kernel, costs)| {
        costs
            .into_iter()
            .flat_map(move |cost| EPSILONS.map(|epsilon| Parameters { kernel, cost, epsilon }))
    })
}

/// Predicts each run by the other folds. None as soon as the total error reaches `least`: further folds
/// only add to it.
fn cross_validate(
    points: &[Vec<f64>],
    targets: &[f64],
    parameters: Parameters,
    least: f64,
) -> Result<Option<CrossValidated>, NotFitted> {
    let mut held_out = vec![0.0; points.len()];
    let mut total_error = 0.0;
    let folds = FOLDS.min(points.len());
    for fold in 0..folds {
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..points.len()).partition(|row| row % folds == fold);
        let (points_of_others, targets_of_others): (Vec<_>, Vec<_>) =
            others.into_iter().map(|row| (points[row].clone(), targets[row])).unzip();
        let regression = Regression::fit(&points_of_others, &targets_of_others, parameters)?;
        for row in held {
            held_out[row] = regression.at(&points[row]);
            total_error += (held_out[row] - targets[row]).abs();
        }
        if total_error >= least {
            return Ok(None);
        }
    }
    Ok(Some(CrossValidated { parameters, held_out, total_error }))
}

/// The held-out prediction of each run without settings: the mean of the other folds.
pub(crate) fn means_of_others(targets: &[f64]) -> Vec<f64> {
    let folds = FOLDS.min(targets.len()).max(1);
    let mean_without = |fold: usize| {
        let others = (0..targets.len()).filter(|row| row % folds != fold);
        mean(&others.map(|row| targets[row]).collect::<Vec<f64>>())
    };
    (0..targets.len()).map(|row| mean_without(row % folds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Vec<Vec<f64>> {
        let axis = |step: usize| step as f64 / 2.0 - 1.0;
        (0..25).map(|at| vec![axis(at % 5), axis((at * 7 % 25) / 5)]).collect()
    }

    #[test]
    fn what_is_linear_is_learned_by_the_linear_one_and_a_hill_by_the_other() {
        let points = grid();
        let line: Vec<f64> = points.iter().map(|point| point[0] - 2.0 * point[1]).collect();
        let hill: Vec<f64> =
            points.iter().map(|point| (-point[0].powi(2) - point[1].powi(2)).exp()).collect();
        assert!(search(&points, &line).unwrap().0.is_linear());
        assert!(!search(&points, &hill).unwrap().0.is_linear());
    }

    #[test]
    fn a_held_out_run_is_not_known_to_who_predicts_it() {
        let points = grid();
        let mut targets = vec![1.0; points.len()];
        targets[12] = 9.0;
        let said = search(&points, &targets).unwrap().1[12];
        assert!(said < 2.0, "{said}");
    }
}
