//! The prediction of a recurring application.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/past.rs"]
mod histories;

use elastane_core::{Demand, Resources};
use elastane_predict::{
    Exclusion, Measure, NotPredicted, ONE_RUN_CONFIDENCE, Outcome, RecurringSettings, predict_next,
};
use histories::{past, predicted, settings};
use proptest::prelude::*;

/// An even run of this length and level.
fn even(slots: usize, level: f64) -> Demand {
    let used = Resources::from_array([level, level * 1e9, level * 1e6, level * 1e6]);
    Demand::series(3_000, &vec![used; slots]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_order_of_the_history_does_not_matter(
        runs in prop::collection::vec((30..50_usize, 1.0..1.5), 5),
        turn in 1..5_usize,
        same_time in any::<bool>(),
    ) {
        let runs: Vec<Demand> = runs.into_iter().map(|(slots, level)| even(slots, level)).collect();
        let mut history = past(&runs);
        if same_time {
            history.iter_mut().for_each(|run| run.ended_ms = 7);
        }
        let before = predicted(&history, &settings());
        history.rotate_left(turn);
        let after = predicted(&history, &settings());
        prop_assert_eq!(before.demand, after.demand);
        prop_assert_eq!(before.runs, after.runs);
    }
}

#[test]
fn what_flows_adds_up_to_the_mean_of_the_runs() {
    // The second run is throttled: the same work in twice the time.
    let runs = [even(20, 2.0), even(40, 1.0)];
    let prediction = predicted(&past(&runs), &settings());
    assert_eq!(prediction.length_ms(), 90_000);
    assert!((prediction.total().cpu_cores - 120.0).abs() < 1e-6);
}

#[test]
fn failed_cut_off_and_old_runs_are_left_out_with_the_reason() {
    let mut history = past(&vec![even(20, 1.0); 6]);
    history[5].outcome = Outcome::Failed;
    history[3].outcome = Outcome::CutOff;
    let next_run = predict_next(&history, &settings());
    assert_eq!(next_run.prediction.unwrap().runs, ["run-4", "run-2", "run-1"]);
    let reasons = next_run.left_out.into_iter().map(|it| (it.id, it.reason));
    assert_eq!(
        reasons.collect::<Vec<_>>(),
        [
            ("run-5".to_owned(), Exclusion::Failed),
            ("run-3".to_owned(), Exclusion::CutOff),
            ("run-0".to_owned(), Exclusion::Old),
        ]
    );
}

#[test]
fn one_run_far_from_the_others_is_an_outlier() {
    let runs = [even(20, 1.0), even(22, 1.0), even(60, 1.0), even(21, 1.0)];
    let next_run = predict_next(&past(&runs), &settings());
    assert_eq!(next_run.prediction.unwrap().runs, ["run-3", "run-1", "run-0"]);
    let [left_out] = &next_run.left_out[..] else { panic!("{:?}", next_run.left_out) };
    let measure = Measure::Length;
    assert!(
        matches!(left_out.reason, Exclusion::Outlier(found, factor)
            if found == measure && (2.8..2.9).contains(&factor)),
        "{left_out:?}"
    );
}

#[test]
fn after_a_change_the_newest_runs_count() {
    let runs = [even(20, 1.0), even(21, 1.0), even(22, 1.0), even(33, 1.0), even(32, 1.0)];
    let next_run = predict_next(&past(&runs), &settings());
    assert_eq!(next_run.prediction.unwrap().runs, ["run-4", "run-3"]);
    assert_eq!(next_run.left_out.len(), 3);
    for left_out in next_run.left_out {
        let is_drift = matches!(left_out.reason, Exclusion::BeforeDrift(..));
        assert!(is_drift, "{left_out:?}");
    }
}

#[test]
fn runs_that_vary_by_a_factor_of_two_are_no_change() {
    let runs = [even(20, 1.0), even(40, 1.0), even(27, 1.0), even(38, 1.0), even(22, 1.0)];
    assert_eq!(predicted(&past(&runs), &settings()).runs.len(), 3);
}

#[test]
fn one_run_and_runs_that_have_nothing_in_common_leave_the_request() {
    let one = predict_next(&past(&[even(20, 1.0)]), &RecurringSettings::default());
    assert_eq!(one.prediction.unwrap_err(), NotPredicted::TooFewRuns(1));
    // Who sets the floor that low takes it.
    let one = predicted(&past(&[even(20, 1.0)]), &settings());
    assert_eq!(one.confidence, ONE_RUN_CONFIDENCE);
    assert_eq!(one.demand, even(20, 1.0));
    let half = |first: f64, second: f64| {
        let slots: Vec<Resources> = (0..40)
            .map(|slot| if slot < 20 { first } else { second })
            .map(|level| Resources::from_array([level, 1e9 * level, 0.0, 0.0]))
            .collect();
        Demand::series(3_000, &slots).unwrap()
    };
    let runs = [half(0.1, 4.0), half(4.0, 0.1)];
    let unsure = predict_next(&past(&runs), &RecurringSettings::default());
    let unsure = unsure.prediction.unwrap_err();
    assert!(matches!(unsure, NotPredicted::Unsure(confidence, _) if confidence < 0.6));
}
