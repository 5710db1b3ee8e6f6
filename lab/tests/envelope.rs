//! The envelope of generated runs.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../examples/generated_runs/generator.rs"]
mod generator;
#[path = "../../rust/predict/tests/common/past.rs"]
mod histories;
#[path = "../../rust/predict/tests/common/input_and_executors.rs"]
mod input_and_executors;

use elastane_core::{Demand, Resource, Resources};
use elastane_lab::evaluation::{Envelope, Evaluated, History, Method, Plain, evaluate_foreseen};
use elastane_predict::{ContainerKind, Prediction, Settings, score};
use generator::Application;
use histories::{past, predicted, settings};
use proptest::prelude::*;

/// The envelope of a prediction, at this coverage of its guesses.
fn bound(prediction: &Prediction, coverage: Resources) -> Demand {
    Envelope::of(prediction, coverage).unwrap().bound
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_envelope_covers_its_own_runs(seed in 0..1_000_u64, number in 0..8_u64, runs in 2..4_usize) {
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

/// `docs/measurements/prediction.md` has figures over 30 seeds. One seed must reach these bounds.
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
                evaluate_foreseen(foreseen, history.runs(), &next, &settings());
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
        assert!(waste < most * peak[resource][1], "{name}: {}", waste / peak[resource][1]);
    }
}

/// `docs/measurements/prediction.md` has the measured figures that the generator must match.
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
        for (sum, score) in peak_over_mean.iter_mut().zip(score(&peak, Resources::ZERO, &runs[0])) {
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

#[test]
fn the_envelope_of_settings_that_never_ran_follows_the_phases_of_the_runs() {
    let next = input_and_executors::run(99, 15.0, 4.0);
    let prediction = input_and_executors::model().predict(&next.settings).unwrap();
    let length_ms = next.used.duration_ms().unwrap() as f64;
    let bound = bound(&prediction, Envelope::COVERAGE);
    assert!(bound.at(0).disk_bytes_per_s >= 50e6);
    assert!(bound.at(length_ms as i64 * 3 / 4).cpu_cores >= 2.9);
}
