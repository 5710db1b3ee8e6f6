//! ε-support vector regression, linear or with an RBF kernel.

use serde::{Deserialize, Serialize};

use super::linear::LinearRegression;
use super::rbf::{NotFitted, RbfParameters, RbfRegression};

/// The similarity of two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kernel {
    /// `x·z`: Prophet's.
    Linear,
    /// `exp(−γ |x − z|²)`: Elasecutor's.
    Rbf {
        /// How fast similarity falls with distance.
        gamma: f64,
    },
}

/// The parameters of a regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Parameters {
    pub(crate) kernel: Kernel,
    /// C: the largest weight of one point.
    pub(crate) cost: f64,
    /// The error up to which a point costs nothing.
    pub(crate) epsilon: f64,
}

/// A fitted regression of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Regression {
    Linear(LinearRegression),
    Rbf(RbfRegression),
}

impl Regression {
    /// Fits by the kernel of the parameters.
    ///
    /// # Errors
    /// As [`RbfRegression::fit`].
    pub(crate) fn fit(
        points: &[Vec<f64>],
        targets: &[f64],
        Parameters {
            kernel,
            cost,
            epsilon,
        }: Parameters,
    ) -> Result<Self, NotFitted> {
        match kernel {
            Kernel::Linear => {
                LinearRegression::fit(points, targets, cost, epsilon).map(Self::Linear)
            }
            Kernel::Rbf { gamma } => {
                let parameters = RbfParameters {
                    gamma,
                    cost,
                    epsilon,
                };
                RbfRegression::fit(points, targets, parameters).map(Self::Rbf)
            }
        }
    }

    pub(crate) fn is_linear(&self) -> bool {
        matches!(self, Self::Linear(_))
    }

    pub(crate) fn at(&self, point: &[f64]) -> f64 {
        match self {
            Self::Linear(line) => line.at(point),
            Self::Rbf(curve) => curve.at(point),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(cost: f64, epsilon: f64) -> Parameters {
        Parameters {
            kernel: Kernel::Linear,
            cost,
            epsilon,
        }
    }

    fn rbf(gamma: f64, cost: f64) -> Parameters {
        Parameters {
            kernel: Kernel::Rbf { gamma },
            cost,
            epsilon: 0.01,
        }
    }

    #[test]
    fn a_line_is_found_by_the_linear_kernel_also_beyond_the_points() {
        let points: Vec<Vec<f64>> = (0..10).map(|x| vec![f64::from(x) / 5.0 - 1.0]).collect();
        let targets: Vec<f64> = points.iter().map(|point| 3.0 * point[0] + 7.0).collect();
        let line = Regression::fit(&points, &targets, linear(100.0, 0.01)).unwrap();
        assert!((line.at(&[2.0]) - 13.0).abs() < 0.1, "{}", line.at(&[2.0]));
    }

    #[test]
    fn a_curve_is_found_by_the_rbf_kernel() {
        let points: Vec<Vec<f64>> = (0..20).map(|x| vec![f64::from(x) / 5.0 - 2.0]).collect();
        let targets: Vec<f64> = points.iter().map(|point| point[0].sin()).collect();
        let curve = Regression::fit(&points, &targets, rbf(0.5, 100.0)).unwrap();
        let miss = (curve.at(&[0.5]) - 0.5_f64.sin()).abs();
        assert!(miss < 0.05, "{miss}");
    }

    #[test]
    fn one_wild_point_weighs_no_more_than_its_cost() {
        let points: Vec<Vec<f64>> = (0..21).map(|x| vec![f64::from(x) / 10.0 - 1.0]).collect();
        let mut targets: Vec<f64> = points.iter().map(|point| point[0]).collect();
        targets[10] = 1_000.0;
        let regression = Regression::fit(&points, &targets, rbf(0.4, 0.1)).unwrap();
        let Regression::Rbf(curve) = regression else {
            panic!("{regression:?}");
        };
        let weights = curve.support.iter().map(|(_, weight)| weight.abs());
        assert!(weights.fold(0.0, f64::max) <= 0.1 + 1e-9);
    }

    #[test]
    fn misses_within_epsilon_weigh_nothing() {
        let points = vec![vec![-1.0], vec![1.0]];
        let flat = Regression::fit(&points, &[5.0, 5.1], linear(1.0, 0.2)).unwrap();
        assert!((flat.at(&[9.0]) - 5.05).abs() < 1e-9, "{flat:?}");
    }

    #[test]
    fn the_last_of_more_numbers_than_there_are_points_counts() {
        let points: Vec<Vec<f64>> = [-1.0, -0.5, 0.5, 1.0]
            .map(|last| vec![0.0, 0.0, 0.0, 0.0, 0.0, last])
            .into();
        let targets: Vec<f64> = points.iter().map(|point| 2.0 * point[5]).collect();
        for parameters in [linear(10.0, 0.01), rbf(0.1, 300.0)] {
            let regression = Regression::fit(&points, &targets, parameters).unwrap();
            for (point, target) in points.iter().zip(&targets) {
                let miss = (regression.at(point) - target).abs();
                assert!(miss < 0.02, "{parameters:?}: {miss}");
            }
        }
    }
}
