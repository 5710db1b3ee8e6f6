//! ε-support vector regression, linear or with an RBF kernel.

use serde::{Deserialize, Serialize};

use super::rbf::{NotFitted, RbfRegression};

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
    /// `offset + slopes·x`.
    Linear {
        slopes: Vec<f64>,
        offset: f64,
    },
    Rbf(RbfRegression),
}

/// γ of the RBF kernel that stands for the linear one. As γ goes to 0, the RBF regression of cost C ÷ 2γ
/// becomes the linear one of cost C: the weights add up to 0, and `exp(−γ |x − z|²)` becomes
/// `1 − γ |x|² − γ |z|² + 2γ x·z`, of which only the last term distinguishes points (Keerthi, Lin:
/// Asymptotic behaviors of support vector machines with Gaussian kernel, 2003). The approximation errs by
/// at most `C γ |x − z|⁴ ÷ 4` per point, rounding by `C ÷ γ ÷ 1e16`.
///
/// smartcore 0.7 has a linear kernel, but takes the sum of the squares of the first few numbers for the
/// product of each point with itself, which is right for the RBF kernel only.
const NEXT_TO_0: f64 = 1e-7;

impl Regression {
    /// Fits by the kernel of the parameters.
    ///
    /// # Errors
    /// As [`RbfRegression::fit`].
    pub(crate) fn fit(
        points: &[Vec<f64>],
        targets: &[f64],
        parameters: Parameters,
    ) -> Result<Self, NotFitted> {
        let Parameters { cost, epsilon, .. } = parameters;
        match parameters.kernel {
            Kernel::Linear => linear(points, targets, cost, epsilon),
            Kernel::Rbf { gamma } => {
                RbfRegression::fit(points, targets, gamma, cost, epsilon).map(Self::Rbf)
            }
        }
    }

    pub(crate) fn is_linear(&self) -> bool {
        matches!(self, Self::Linear { .. })
    }

    pub(crate) fn at(&self, point: &[f64]) -> f64 {
        match self {
            Self::Linear { slopes, offset } => offset + dot(slopes, point),
            Self::Rbf(curve) => curve.at(point),
        }
    }
}

fn linear(
    points: &[Vec<f64>],
    targets: &[f64],
    cost: f64,
    epsilon: f64,
) -> Result<Regression, NotFitted> {
    let cost = cost / (2.0 * NEXT_TO_0);
    let curve = RbfRegression::fit(points, targets, NEXT_TO_0, cost, epsilon)?;
    let mut slopes = vec![0.0; points.first().map_or(0, Vec::len)];
    let mut offset = curve.offset;
    for (point, weight) in &curve.support {
        offset += weight * (1.0 - NEXT_TO_0 * dot(point, point));
        for (slope, at) in slopes.iter_mut().zip(point) {
            *slope += 2.0 * NEXT_TO_0 * weight * at;
        }
    }
    Ok(Regression::Linear { slopes, offset })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smartcore::linalg::basic::matrix::DenseMatrix;
    use smartcore::svm::Kernels;
    use smartcore::svm::svr::{SVR, SVRParameters};

    fn linear(cost: f64, epsilon: f64) -> Parameters {
        Parameters { kernel: Kernel::Linear, cost, epsilon }
    }

    fn rbf(gamma: f64, cost: f64) -> Parameters {
        Parameters { kernel: Kernel::Rbf { gamma }, cost, epsilon: 0.01 }
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
        let points: Vec<Vec<f64>> =
            [-1.0, -0.5, 0.5, 1.0].map(|last| vec![0.0, 0.0, 0.0, 0.0, 0.0, last]).into();
        let targets: Vec<f64> = points.iter().map(|point| 2.0 * point[5]).collect();
        for parameters in [linear(10.0, 0.01), rbf(0.1, 300.0)] {
            let regression = Regression::fit(&points, &targets, parameters).unwrap();
            for (point, target) in points.iter().zip(&targets) {
                let miss = (regression.at(point) - target).abs();
                assert!(miss < 0.02, "{parameters:?}: {miss}");
            }
        }
    }

    const COST: f64 = 10.0;
    const EPSILON: f64 = 0.01;

    /// All but one are next to each other.
    fn one_far_off() -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut points: Vec<Vec<f64>> =
            (0..24).map(|at| vec![f64::from(at % 5) / 50.0, f64::from(at % 7) / 70.0]).collect();
        points.push(vec![4.0, 3.0]);
        let targets = points.iter().map(|point| point[0] - point[1] + 7.0);
        let targets = targets.collect();
        (points, targets)
    }

    fn most_missed(said: impl IntoIterator<Item = f64>, targets: &[f64]) -> f64 {
        let misses = said.into_iter().zip(targets).map(|(said, was)| said - was);
        misses.map(f64::abs).fold(0.0, f64::max)
    }

    #[test]
    fn a_point_far_off_is_met() {
        let (points, targets) = one_far_off();
        let line = Regression::fit(&points, &targets, linear(COST, EPSILON)).unwrap();
        let missed = most_missed(points.iter().map(|point| line.at(point)), &targets);
        assert!(missed < 2.0 * EPSILON, "{missed}");
    }

    /// Once this fails, smartcore's own linear kernel can take the place of the RBF one.
    #[test]
    fn with_its_linear_kernel_smartcore_misses_a_point_far_off() {
        let (points, targets) = one_far_off();
        let points = DenseMatrix::from_2d_vec(&points).unwrap();
        let parameters =
            SVRParameters::default().with_c(COST).with_eps(EPSILON).with_kernel(Kernels::linear());
        let said = SVR::fit(&points, &targets, &parameters).unwrap();
        let missed = most_missed(said.predict(&points).unwrap(), &targets);
        assert!(missed > 1.0, "{missed}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_a_line_is_found(
            points in (1_usize..=4).prop_flat_map(|numbers| {
                prop::collection::vec(prop::collection::vec(-2.0..2.0, numbers), 12..=30)
            }),
            slopes in prop::collection::vec(-1.0..1.0, 4),
            offset in -20.0..20.0,
        ) {
            let targets: Vec<f64> = points.iter().map(|it| offset + dot(it, &slopes)).collect();
            let line = Regression::fit(&points, &targets, linear(COST, EPSILON)).unwrap();
            let missed = most_missed(points.iter().map(|point| line.at(point)), &targets);
            prop_assert!(missed < 2.0 * EPSILON, "{missed}");
        }
    }
}
