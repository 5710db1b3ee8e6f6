//! A linear regression, by the RBF kernel.

use serde::{Deserialize, Serialize};

use super::rbf::{NotFitted, RbfParameters, RbfRegression};

/// `offset + slopes·x`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinearRegression {
    slopes: Vec<f64>,
    offset: f64,
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

impl LinearRegression {
    /// Fits a line; `cost` and `epsilon` as in [`RbfParameters`].
    ///
    /// # Errors
    /// As [`RbfRegression::fit`].
    pub(crate) fn fit(
        points: &[Vec<f64>],
        targets: &[f64],
        cost: f64,
        epsilon: f64,
    ) -> Result<Self, NotFitted> {
        let parameters = RbfParameters {
            gamma: NEXT_TO_0,
            cost: cost / (2.0 * NEXT_TO_0),
            epsilon,
        };
        let curve = RbfRegression::fit(points, targets, parameters)?;
        let mut slopes = vec![0.0; points.first().map_or(0, Vec::len)];
        let mut offset = curve.offset;
        for (point, weight) in &curve.support {
            offset += weight * (1.0 - NEXT_TO_0 * dot(point, point));
            for (slope, at) in slopes.iter_mut().zip(point) {
                *slope += 2.0 * NEXT_TO_0 * weight * at;
            }
        }
        Ok(Self { slopes, offset })
    }

    pub(crate) fn at(&self, point: &[f64]) -> f64 {
        self.offset + dot(&self.slopes, point)
    }
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

    const COST: f64 = 10.0;
    const EPSILON: f64 = 0.01;

    /// All but one are next to each other.
    fn one_far_off() -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut points: Vec<Vec<f64>> = (0..24)
            .map(|at| vec![f64::from(at % 5) / 50.0, f64::from(at % 7) / 70.0])
            .collect();
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
        let line = LinearRegression::fit(&points, &targets, COST, EPSILON).unwrap();
        let missed = most_missed(points.iter().map(|point| line.at(point)), &targets);
        assert!(missed < 2.0 * EPSILON, "{missed}");
    }

    /// Once this fails, smartcore's own linear kernel can take the place of the RBF one.
    #[test]
    fn with_its_linear_kernel_smartcore_misses_a_point_far_off() {
        let (points, targets) = one_far_off();
        let points = DenseMatrix::from_2d_vec(&points).unwrap();
        let parameters = SVRParameters::default()
            .with_c(COST)
            .with_eps(EPSILON)
            .with_kernel(Kernels::linear());
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
            let line = LinearRegression::fit(&points, &targets, COST, EPSILON).unwrap();
            let missed = most_missed(points.iter().map(|point| line.at(point)), &targets);
            prop_assert!(missed < 2.0 * EPSILON, "{missed}");
        }
    }
}
