//! ε-support vector regression, linear or with an RBF kernel.
//!
//! Solved in the dual by coordinates: with β the differences of the multipliers and K the kernel,
//!
//! ```text
//! least over |β_i| ≤ C of  ½ βᵀKβ − yᵀβ + ε Σ|β_i|
//! ```
//!
//! One coordinate has a closed form, and at most some dozens of runs are trained on, so this needs
//! neither a working set nor a cache. A constant is added to each kernel in the place of an offset.

use serde::{Deserialize, Serialize};

/// What makes two points alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Kernel {
    /// `x·z`: Prophet's.
    Linear,
    /// `exp(−γ |x − z|²)`: Elasecutor's.
    Rbf {
        /// How fast likeness falls with distance.
        gamma: f64,
    },
}

/// How a regression is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) kernel: Kernel,
    /// The most that one point may weigh.
    pub(crate) cost: f64,
    /// A miss below this costs nothing.
    pub(crate) epsilon: f64,
}

/// A fitted regression of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Regression {
    kernel: Kernel,
    mean: f64,
    /// The points that weigh something.
    support: Vec<(Vec<f64>, f64)>,
}

/// Sweeps over all coordinates end when none moved by more than this part of the cost.
const TOLERANCE: f64 = 1e-4;
const MOST_SWEEPS: usize = 1_000;

impl Kernel {
    fn of(self, a: &[f64], b: &[f64]) -> f64 {
        let pairs = || a.iter().zip(b);
        1.0 + match self {
            Kernel::Linear => pairs().map(|(a, b)| a * b).sum::<f64>(),
            Kernel::Rbf { gamma } => {
                (-gamma * pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
            }
        }
    }

    /// Each point with each other.
    pub(crate) fn matrix(self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let row = |a: &Vec<f64>| points.iter().map(|b| self.of(a, b)).collect();
        points.iter().map(row).collect()
    }
}

impl Regression {
    pub(crate) fn is_linear(&self) -> bool {
        self.kernel == Kernel::Linear
    }

    /// Of `rows` among the points, whose kernel is `matrix`.
    pub(crate) fn fit(
        points: &[Vec<f64>],
        matrix: &[Vec<f64>],
        targets: &[f64],
        rows: &[usize],
        parameters: Parameters,
    ) -> Self {
        let mean = rows.iter().map(|row| targets[*row]).sum::<f64>() / rows.len().max(1) as f64;
        let weights = weights(matrix, targets, mean, rows, parameters);
        let support = rows
            .iter()
            .zip(weights)
            .filter(|(_, weight)| *weight != 0.0);
        Self {
            kernel: parameters.kernel,
            mean,
            support: support
                .map(|(row, weight)| (points[*row].clone(), weight))
                .collect(),
        }
    }

    pub(crate) fn at(&self, point: &[f64]) -> f64 {
        let support = self.support.iter();
        let sum: f64 = support
            .map(|(at, weight)| weight * self.kernel.of(at, point))
            .sum();
        self.mean + sum
    }
}

/// β of each of the rows.
fn weights(
    matrix: &[Vec<f64>],
    targets: &[f64],
    mean: f64,
    rows: &[usize],
    parameters: Parameters,
) -> Vec<f64> {
    let Parameters { cost, epsilon, .. } = parameters;
    let mut weights = vec![0.0; rows.len()];
    // Kβ, kept up to date.
    let mut fitted = vec![0.0; rows.len()];
    for _ in 0..MOST_SWEEPS {
        let mut moved = 0.0_f64;
        for (at, row) in rows.iter().enumerate() {
            let own = matrix[*row][*row];
            let residual = targets[*row] - mean - (fitted[at] - own * weights[at]);
            let shrunk = residual.signum() * (residual.abs() - epsilon).max(0.0);
            let weight = (shrunk / own).clamp(-cost, cost);
            let change = weight - weights[at];
            if change != 0.0 {
                weights[at] = weight;
                for (fitted, other) in fitted.iter_mut().zip(rows) {
                    *fitted += change * matrix[*row][*other];
                }
                moved = moved.max(change.abs());
            }
        }
        if moved <= TOLERANCE * cost {
            break;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(points: &[Vec<f64>], targets: &[f64], parameters: Parameters) -> Regression {
        let matrix = parameters.kernel.matrix(points);
        let rows: Vec<usize> = (0..points.len()).collect();
        Regression::fit(points, &matrix, targets, &rows, parameters)
    }

    #[test]
    fn a_line_is_found_by_the_linear_kernel_also_beyond_the_points() {
        let points: Vec<Vec<f64>> = (0..10).map(|x| vec![f64::from(x) / 5.0 - 1.0]).collect();
        let targets: Vec<f64> = points.iter().map(|point| 3.0 * point[0] + 7.0).collect();
        let parameters = Parameters {
            kernel: Kernel::Linear,
            cost: 100.0,
            epsilon: 0.01,
        };
        let line = fit(&points, &targets, parameters);
        assert!((line.at(&[2.0]) - 13.0).abs() < 0.1, "{}", line.at(&[2.0]));
    }

    #[test]
    fn a_curve_is_found_by_the_rbf_kernel() {
        let points: Vec<Vec<f64>> = (0..20).map(|x| vec![f64::from(x) / 5.0 - 2.0]).collect();
        let targets: Vec<f64> = points.iter().map(|point| point[0].sin()).collect();
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let curve = fit(
            &points,
            &targets,
            Parameters {
                kernel,
                cost: 100.0,
                epsilon: 0.01,
            },
        );
        let miss = (curve.at(&[0.5]) - 0.5_f64.sin()).abs();
        assert!(miss < 0.05, "{miss}");
    }

    #[test]
    fn one_wild_point_weighs_no_more_than_its_cost() {
        let points: Vec<Vec<f64>> = (0..21).map(|x| vec![f64::from(x) / 10.0 - 1.0]).collect();
        let mut targets: Vec<f64> = points.iter().map(|point| point[0]).collect();
        targets[10] = 1_000.0;
        let kernel = Kernel::Linear;
        let regression = fit(
            &points,
            &targets,
            Parameters {
                kernel,
                cost: 0.1,
                epsilon: 0.01,
            },
        );
        let weights = regression.support.iter().map(|(_, weight)| weight.abs());
        assert!(weights.fold(0.0, f64::max) <= 0.1);
    }

    #[test]
    fn misses_within_epsilon_weigh_nothing() {
        let points = vec![vec![-1.0], vec![1.0]];
        let kernel = Kernel::Linear;
        let flat = fit(
            &points,
            &[5.0, 5.1],
            Parameters {
                kernel,
                cost: 1.0,
                epsilon: 0.2,
            },
        );
        assert!(flat.support.is_empty());
        assert!((flat.at(&[9.0]) - 5.05).abs() < 1e-9);
    }
}
