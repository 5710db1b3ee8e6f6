//! ε-support vector regression with an RBF kernel, fitted by smartcore.

use serde::{Deserialize, Serialize};
use smartcore::error::Failed;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::svm::Kernels;
use smartcore::svm::svr::{SVR, SVRParameters};

/// smartcore's tolerance as a part of ε. It stops there, or after 50,000 steps.
const TOLERANCE: f64 = 0.1;

/// `offset + Σ weight · exp(−γ |point − x|²)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RbfRegression {
    pub(crate) gamma: f64,
    /// The support vectors and their weights.
    pub(crate) support: Vec<(Vec<f64>, f64)>,
    pub(crate) offset: f64,
}

/// Why there is no regression: numbers that are not finite, points that smartcore refuses, or a serde
/// form of smartcore's that has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no regression can be fitted: {0}")]
pub struct NotFitted(String);

/// The serde form of a fitted [`SVR`], its only view of the support vectors.
#[derive(Deserialize)]
struct SerdeForm {
    instances: Vec<Vec<f64>>,
    w: Vec<f64>,
    b: f64,
}

impl RbfRegression {
    /// Fits a regression; `cost` (C) is the largest weight of one point, `epsilon` the error up to which
    /// a point costs nothing.
    ///
    /// # Errors
    /// No points, points of different lengths, or numbers that are not finite.
    pub(crate) fn fit(
        points: &[Vec<f64>],
        targets: &[f64],
        gamma: f64,
        cost: f64,
        epsilon: f64,
    ) -> Result<Self, NotFitted> {
        // smartcore silently accepts some numbers that are not finite.
        let mut numbers = points.iter().flatten().chain(targets);
        if !numbers.all(|it| it.is_finite()) {
            return Err(NotFitted("not all of the numbers are finite".to_owned()));
        }
        // smartcore ignores the numbers of a point beyond the number of points. Repeating each point
        // at a part of its cost leaves the optimum the same.
        let numbers = points.first().map_or(0, Vec::len);
        let times = numbers.div_ceil(points.len().max(1)).max(1);
        let points = DenseMatrix::from_2d_vec(&vec![points; times].concat())?;
        let targets = targets.repeat(times);
        let parameters = SVRParameters::default()
            .with_c(cost / times as f64)
            .with_eps(epsilon)
            .with_tol(TOLERANCE * epsilon)
            .with_kernel(Kernels::rbf().with_gamma(gamma));
        let fitted = serde_json::to_value(SVR::fit(&points, &targets, &parameters)?)?;
        let serde_form: SerdeForm = serde_json::from_value(fitted)?;
        Ok(Self {
            gamma,
            support: serde_form.instances.into_iter().zip(serde_form.w).collect(),
            offset: serde_form.b,
        })
    }

    /// The value at a point.
    pub(crate) fn at(&self, point: &[f64]) -> f64 {
        let squared_distance = |at: &[f64]| -> f64 {
            let axes = at.iter().zip(point);
            axes.map(|(at, point)| (at - point).powi(2)).sum()
        };
        let support = self.support.iter();
        let sum: f64 =
            support.map(|(at, weight)| weight * (-self.gamma * squared_distance(at)).exp()).sum();
        self.offset + sum
    }
}

impl From<Failed> for NotFitted {
    fn from(failed: Failed) -> Self {
        Self(format!("smartcore: {failed}"))
    }
}

impl From<serde_json::Error> for NotFitted {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("smartcore's regression cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GAMMA: f64 = 0.4;
    const COST: f64 = 30.0;
    const EPSILON: f64 = 0.05;

    #[test]
    fn it_says_what_smartcore_says() {
        let points: Vec<Vec<f64>> = (0..20).map(|x| vec![f64::from(x) / 5.0 - 2.0]).collect();
        let targets: Vec<f64> = points.iter().map(|point| point[0].sin()).collect();
        let matrix = DenseMatrix::from_2d_vec(&points).unwrap();
        let parameters = SVRParameters::default()
            .with_c(COST)
            .with_eps(EPSILON)
            .with_tol(TOLERANCE * EPSILON)
            .with_kernel(Kernels::rbf().with_gamma(GAMMA));
        let fitted = SVR::fit(&matrix, &targets, &parameters).unwrap();
        let said = fitted.predict(&matrix).unwrap();
        let curve = RbfRegression::fit(&points, &targets, GAMMA, COST, EPSILON).unwrap();
        for (point, said) in points.iter().zip(said) {
            assert!((curve.at(point) - said).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let refused =
            RbfRegression::fit(&[vec![0.0], vec![1.0]], &[0.0, f64::NAN], GAMMA, COST, EPSILON);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.ends_with("not all of the numbers are finite"), "{refused}");
        let refused = RbfRegression::fit(&[], &[], GAMMA, COST, EPSILON).unwrap_err();
        assert!(refused.0.starts_with("smartcore: "), "{refused}");
    }

    /// What a curve costs, less the most that the dual shows any to cost: nothing for the best one.
    /// Smola, Schölkopf: A tutorial on support vector regression, 2004, equations 3 and 10.
    fn gap(
        curve: &RbfRegression,
        points: &[Vec<f64>],
        targets: &[f64],
        cost: f64,
        epsilon: f64,
    ) -> f64 {
        let target_of = |at| targets[points.iter().position(|point| point == at).unwrap()];
        let mut curvature = 0.0;
        let mut gained = 0.0;
        for (at, weight) in &curve.support {
            curvature += weight * (curve.at(at) - curve.offset);
            gained += weight * target_of(at) - epsilon * weight.abs();
        }
        let misses = points.iter().zip(targets);
        let missed: f64 =
            misses.map(|(at, was)| ((curve.at(at) - was).abs() - epsilon).max(0.0)).sum();
        (curvature / 2.0 + cost * missed) - (gained - curvature / 2.0)
    }

    fn points() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
        (6_usize..=30, 1_usize..=6).prop_flat_map(|(count, numbers)| {
            let point = prop::collection::vec(-2.0..2.0, numbers);
            let points = prop::collection::vec(point, count);
            (points, prop::collection::vec(-1.0..1.0, count))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_is_the_best_one(
            (points, targets) in points(),
            gamma in prop::sample::select(vec![0.02, 0.1, 0.4]),
            cost in prop::sample::select(vec![3.0, 30.0, 300.0]),
            epsilon in prop::sample::select(vec![0.01, 0.1]),
        ) {
            let curve = RbfRegression::fit(&points, &targets, gamma, cost, epsilon).unwrap();
            let gap = gap(&curve, &points, &targets, cost, epsilon);
            // Each point may be off by the tolerance, at its cost.
            let most = TOLERANCE * epsilon * cost * points.len() as f64;
            prop_assert!(gap <= most, "{gap} {most}");
        }
    }
}
