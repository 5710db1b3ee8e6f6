//! The prediction of a recurring application.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../examples/generated_runs/generator.rs"]
mod generator;

use elastane_core::{Demand, Resource, Resources};
use elastane_predict::{
    ContainerKind, Envelope, Evaluated, Exclusion, History, Measure, Method, NotPredicted,
    ONE_RUN_CONFIDENCE, Outcome, PastRun, Plain, Prediction, RecurringSettings, Settings,
    evaluate_foreseen, predict_next, score,
};
use generator::Application;
use proptest::prelude::*;

fn past(runs: &[Demand]) -> Vec<PastRun> {
    let numbered = (0..).zip(runs);
    numbered
        .map(|(number, used)| PastRun {
            id: format!("run-{number}"),
            ended_ms: number,
            outcome: Outcome::Succeeded,
            used: used.clone(),
        })
        .collect()
}

/// However sure it is.
fn settings() -> RecurringSettings {
    RecurringSettings {
        least_confidence: 0.0,
        ..RecurringSettings::default()
    }
}

fn predicted(history: &[PastRun], settings: &RecurringSettings) -> Prediction {
    predict_next(history, settings).prediction.unwrap()
}

/// The envelope of a prediction, at this coverage of its guesses.
fn bound(prediction: &Prediction, coverage: Resources) -> Demand {
    Envelope::of(prediction, coverage).unwrap().bound
}

/// An even run of this length and level.
fn even(slots: usize, level: f64) -> Demand {
    let used = Resources::from_array([level, level * 1e9, level * 1e6, level * 1e6]);
    Demand::series(3_000, &vec![used; slots]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn its_own_runs_are_covered(seed in 0..1_000_u64, number in 0..8_u64, runs in 2..4_usize) {
        let runs = Application::new(seed, number).runs(runs).unwrap();
        let prediction = predicted(&past(&runs), &settings());
        let bound = bound(&prediction, Envelope::COVERAGE);
        for resource in 0..4 {
            let covered = runs
                .iter()
                .map(|run| score(&bound, Resources::ZERO, run)[resource].coverage);
            let mean = covered.sum::<f64>() / runs.len() as f64;
            prop_assert!(mean >= 0.9, "{:?}: {mean}", Resource::ALL[resource]);
        }
    }

    #[test]
    fn more_coverage_never_lowers_the_envelope(
        seed in 0..1_000_u64, coverage in 0.5..1.0, more in 0.0..0.5,
    ) {
        let history = past(&Application::new(seed, 0).runs(3).unwrap());
        let prediction = predicted(&history, &settings());
        let at = |coverage: f64| bound(&prediction, Resources::from_array([coverage.min(1.0); 4]));
        let (lower, higher) = (at(coverage), at(coverage + more));
        for (low, high) in lower.slots().iter().zip(higher.slots()) {
            prop_assert_eq!(low.max(*high), *high);
        }
    }

    #[test]
    fn the_order_of_the_history_does_not_matter(
        seed in 0..1_000_u64, turn in 1..5_usize, same_time in any::<bool>(),
    ) {
        let mut history = past(&Application::new(seed, 0).runs(5).unwrap());
        if same_time {
            history.iter_mut().for_each(|run| run.ended_ms = 7);
        }
        let before = predicted(&history, &settings());
        history.rotate_left(turn);
        let after = predicted(&history, &settings());
        let [own, other] = [&before, &after].map(|it| bound(it, Envelope::COVERAGE));
        prop_assert_eq!(own, other);
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
    let outlook = predict_next(&history, &settings());
    assert_eq!(
        outlook.prediction.unwrap().runs,
        ["run-4", "run-2", "run-1"]
    );
    let reasons = outlook.left_out.into_iter().map(|it| (it.id, it.reason));
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
    let outlook = predict_next(&past(&runs), &settings());
    assert_eq!(
        outlook.prediction.unwrap().runs,
        ["run-3", "run-1", "run-0"]
    );
    let [left_out] = &outlook.left_out[..] else {
        panic!("{:?}", outlook.left_out)
    };
    let measure = Measure::Length;
    assert!(
        matches!(left_out.reason, Exclusion::Outlier { measure: found, factor }
            if found == measure && (2.8..2.9).contains(&factor)),
        "{left_out:?}"
    );
}

#[test]
fn after_a_change_the_newest_runs_count() {
    let runs = [
        even(20, 1.0),
        even(21, 1.0),
        even(22, 1.0),
        even(33, 1.0),
        even(32, 1.0),
    ];
    let outlook = predict_next(&past(&runs), &settings());
    assert_eq!(outlook.prediction.unwrap().runs, ["run-4", "run-3"]);
    assert_eq!(outlook.left_out.len(), 3);
    for left_out in outlook.left_out {
        let is_drift = matches!(left_out.reason, Exclusion::BeforeDrift { .. });
        assert!(is_drift, "{left_out:?}");
    }
}

#[test]
fn runs_that_vary_by_a_factor_of_two_are_no_change() {
    let runs = [
        even(20, 1.0),
        even(40, 1.0),
        even(27, 1.0),
        even(38, 1.0),
        even(22, 1.0),
    ];
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
    assert!(matches!(unsure, NotPredicted::Unsure { confidence, .. } if confidence < 0.6));
}

/// The figures of `docs/measurements/prediction.md` are over 30 seeds; this is what one of them must
/// not fall below.
#[test]
fn the_next_run_is_covered_at_less_waste_than_the_peaks() {
    let mut sums = [[[0.0; 2]; 4]; Method::ALL.len()];
    let mut count = 0.0;
    for number in 1..=8 {
        let mut runs = past(&Application::new(3, number).runs(5).unwrap());
        let nothing_given = Settings::default();
        let mut history = History::new(ContainerKind::DEFAULT_EXECUTOR, settings());
        for run in runs.drain(..3) {
            history.add(run, &nothing_given);
        }
        for next in runs {
            let foreseen = history.foresee(&nothing_given);
            let Evaluated { outcome, .. } =
                evaluate_foreseen(foreseen, history.runs(), &next.used, &settings());
            for (sums, scores) in sums.iter_mut().zip(outcome.unwrap().methods) {
                for (sum, score) in sums.iter_mut().zip(scores.at_submission) {
                    sum[0] += score.coverage;
                    sum[1] += score.waste.unwrap();
                }
            }
            count += 1.0;
            history.add(next, &nothing_given);
        }
    }
    let at = |method| Method::ALL.iter().position(|it| *it == method).unwrap();
    let (own, peak) = (sums[0], sums[at(Method::Plain(Plain::ConstantPeak))]);
    for (resource, most) in [(0, 0.88), (1, 0.88), (2, 0.45), (3, 0.48)] {
        let [coverage, waste] = own[resource];
        let name = Resource::ALL[resource].name();
        assert!(coverage / count > 0.93, "{name}: {}", coverage / count);
        assert!(
            waste < most * peak[resource][1],
            "{name}: {}",
            waste / peak[resource][1]
        );
    }
}

/// What the generator is held to: `docs/measurements/prediction.md` has the measured figures.
#[test]
fn generated_runs_are_like_measured_ones() {
    let mut peak_over_mean = [0.0; 4];
    let mut longest = 0.0_f64;
    for number in 0..40 {
        let runs = Application::new(1, number).runs(5).unwrap();
        let lengths = runs.iter().map(|run| run.slots().len() as f64);
        let (least, most) = lengths.fold((f64::MAX, 0.0_f64), |(least, most), length| {
            (least.min(length), most.max(length))
        });
        longest = longest.max(most / least);
        let mean = score(&runs[0], Resources::ZERO, &runs[0]);
        assert!(mean.iter().all(|score| score.coverage == 1.0));
        let peak = Plain::ConstantPeak.predict(&runs[..1]).unwrap();
        for (sum, score) in peak_over_mean
            .iter_mut()
            .zip(score(&peak, Resources::ZERO, &runs[0]))
        {
            *sum += score.waste.unwrap() / 40.0;
        }
    }
    let [cpu, memory, network, disk] = peak_over_mean;
    assert!((1.5..2.1).contains(&cpu), "{cpu}");
    assert!((1.25..1.55).contains(&memory), "{memory}");
    assert!((9.0..100.0).contains(&network), "{network}");
    assert!((5.0..9.0).contains(&disk), "{disk}");
    assert!((1.5..2.3).contains(&longest), "{longest}");
}
