use proptest::prelude::*;

use super::*;

const PARTS: [f64; 3] = [0.1, 0.5, 0.9];

/// The quantile by the definition of a conditional distribution: the density is summed up from `passed` on, in small
/// steps of the logarithm, until the sum is this part of the whole.
fn summed_up(distribution: &LogNormal, passed: f64, part: f64) -> f64 {
    const STEP: f64 = 1e-4;
    const FARTHEST: f64 = 9.0;
    let from = distribution.deviations(passed).max(-FARTHEST);
    let steps = ((FARTHEST - from) / STEP) as usize;
    let middle = |step: usize| from + STEP * (step as f64 + 0.5);
    let density = |at: f64| (-0.5 * at * at).exp();
    let whole: f64 = (0..steps).map(|step| density(middle(step))).sum();
    let mut sum = 0.0;
    let reached = (0..steps).find(|step| {
        sum += density(middle(*step));
        sum >= part * whole
    });
    (distribution.center + distribution.deviation * middle(reached.unwrap())).exp()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_quantile_is_that_of_the_density_beyond_what_has_passed(
        center in 0.0..18.0_f64,
        deviation in 0.01..2.0_f64,
        passed_deviations in -12.0..2.3_f64,
        part in 0.02..0.98_f64,
    ) {
        let distribution = LogNormal { center, deviation };
        let passed = (center + deviation * passed_deviations).exp();
        let found = distribution.quantile_beyond(passed, part).unwrap();
        let expected = summed_up(&distribution, passed, part);
        let apart = (found.ln() - expected.ln()).abs() / deviation;
        prop_assert!(apart < 1e-3, "{found} {expected}");
    }

    #[test]
    fn quantiles_are_in_order_beyond_what_has_passed_and_move_with_it(
        center in 0.0..18.0_f64,
        deviation in 0.01..2.0_f64,
        passed_deviations in -40.0..2.2_f64,
        further in 0.0..0.1_f64,
    ) {
        let distribution = LogNormal { center, deviation };
        let [one, later] = [passed_deviations, passed_deviations + further].map(|deviations| {
            let passed = (center + deviation * deviations).exp();
            (passed, PARTS.map(|part| distribution.quantile_beyond(passed, part).unwrap()))
        });
        for (passed, [low, median, high]) in [one, later] {
            prop_assert!(passed <= low && low <= median && median <= high, "{passed} {low} {median} {high}");
        }
        for (former, later) in one.1.iter().zip(later.1) {
            prop_assert!(later >= former * (1.0 - 1e-9), "{later} {former}");
        }
    }
}

#[test]
fn with_nothing_passed_the_median_is_the_center() {
    let distribution = LogNormal { center: 100.0_f64.ln(), deviation: 0.2 };
    for passed in [-1.0, 0.0, 1e-9] {
        let [low, median, high] =
            PARTS.map(|part| distribution.quantile_beyond(passed, part).unwrap());
        assert!((median - 100.0).abs() < 1e-6, "{median}");
        // 1.2816 standard deviations on either side.
        assert!((low - 77.39).abs() < 0.01 && (high - 129.21).abs() < 0.01, "{low} {high}");
    }
}

#[test]
fn what_hardly_any_amount_exceeds_has_no_quantile_beyond() {
    let distribution = LogNormal { center: 100.0_f64.ln(), deviation: 0.1 };
    // One in a hundred is above 2.3263 standard deviations.
    let passed = |deviations: f64| 100.0 * (0.1 * deviations).exp();
    assert!(distribution.quantile_beyond(passed(2.32), 0.9).unwrap() > passed(2.32));
    for deviations in [2.33, 10.0, 1e4] {
        assert_eq!(distribution.quantile_beyond(passed(deviations), 0.5), None);
    }
    assert_eq!(distribution.quantile_beyond(f64::INFINITY, 0.5), None);
}

#[test]
fn without_a_deviation_the_amount_is_certain_until_it_has_passed() {
    let distribution = LogNormal { center: 100.0_f64.ln(), deviation: 0.0 };
    for part in PARTS {
        let quantile = |passed| distribution.quantile_beyond(passed, part);
        assert!((quantile(99.0).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(quantile(100.1), None);
    }
}
