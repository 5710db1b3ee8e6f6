//! What an application is placed by.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::{DemandError, Resource, Resources};
use elastane_predict::{
    ContainerKind, Exclusion, NotPredicted, Outcome, Prediction, Profile, ProfileSettings, Run,
    RunSeries, profile,
};

const SETTINGS: ProfileSettings =
    ProfileSettings { runs: 3, margin: 0.1, least_confidence: 0.6, others: true };

fn run(number: usize, outcome: Outcome, slots: Vec<Resources>) -> Run {
    Run {
        application_key: "key".into(),
        application_id: format!("application_1_{number:04}"),
        application_name: "name".into(),
        started_ms: 0,
        ended_ms: number as i64,
        outcome,
        series: vec![RunSeries {
            stage_ends_ms: Vec::new(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            containers: 2,
            slots,
        }],
    }
}

/// Half of the run at this many cores and the other half at twice as many.
fn steps(slots: usize, cores: f64, memory_bytes: f64) -> Vec<Resources> {
    let slots = (0..slots).map(|slot| Resources {
        cpu_cores: if slot < slots / 2 { cores } else { 2.0 * cores },
        memory_bytes,
        ..Resources::ZERO
    });
    slots.collect()
}

fn made(runs: &[Run]) -> Profile {
    profile("key", runs, &SETTINGS).unwrap()
}

fn ids(numbers: &[usize]) -> Vec<String> {
    let ids = numbers.iter().map(|at| format!("application_1_{at:04}"));
    ids.collect()
}

#[test]
fn what_is_placed_by_follows_the_runs_progress_and_their_largest_memory() {
    let runs = [
        run(1, Outcome::Succeeded, steps(16, 1.0, 1e9)),
        run(2, Outcome::Succeeded, steps(24, 1.0, 2e9)),
        run(3, Outcome::Succeeded, steps(20, 1.0, 1e9)),
    ];
    let profile = made(&runs);
    let planned = profile.planned(ContainerKind::DEFAULT_EXECUTOR).unwrap();
    let slots = planned.demand.slots();
    assert_eq!(slots.len(), 20);
    // Slot by slot of the clock, the steps of the three runs would lie in the ninth, eleventh and
    // thirteenth slot.
    let early: Vec<f64> = slots[..10].iter().map(|slot| slot.cpu_cores).collect();
    let late: Vec<f64> = slots[10..].iter().map(|slot| slot.cpu_cores).collect();
    assert!(early.iter().all(|cores| (cores - 1.0).abs() < 1e-9), "{early:?}");
    assert!(late.iter().all(|cores| (cores - 2.0).abs() < 1e-9), "{late:?}");
    assert!(slots.iter().all(|slot| slot.memory_bytes == 2e9));
    assert_eq!(planned.runs, ids(&[3, 2, 1]));
}

#[test]
fn the_margin_grows_as_the_confidence_falls() {
    let alike = [1, 2, 3].map(|at| run(at, Outcome::Succeeded, steps(20, 1.0, 1e9)));
    let apart = [
        run(1, Outcome::Succeeded, steps(20, 0.5, 1e9)),
        run(2, Outcome::Succeeded, steps(20, 1.0, 1e9)),
        run(3, Outcome::Succeeded, steps(20, 0.7, 1e9)),
    ];
    let [alike, apart] = [made(&alike), made(&apart)];
    let [alike, apart] =
        [&alike, &apart].map(|it| it.planned(ContainerKind::DEFAULT_EXECUTOR).unwrap());
    let margin = |planned: &Prediction| SETTINGS.margin_at(planned.confidence);
    for planned in [alike, apart] {
        assert!((margin(planned) - SETTINGS.margin / planned.confidence).abs() < 1e-12);
    }
    assert!(margin(apart) > margin(alike), "{apart:?} {alike:?}");
}

#[test]
fn one_run_is_below_the_floor_unless_the_floor_is_lowered() {
    let runs = [run(1, Outcome::Succeeded, steps(20, 1.0, 1e9))];
    let unsure = made(&runs);
    assert_eq!(unsure.kinds[&ContainerKind::DEFAULT_EXECUTOR], Err(NotPredicted::TooFewRuns(1)));
    assert_eq!(unsure.runs(), 0);
    let settings = ProfileSettings { least_confidence: 0.0, ..SETTINGS };
    let taken = profile("key", &runs, &settings).unwrap();
    let planned = taken.planned(ContainerKind::DEFAULT_EXECUTOR).unwrap();
    assert_eq!(planned.demand.slots(), steps(20, 1.0, 1e9));
    assert!((settings.margin_at(planned.confidence) - 0.2).abs() < 1e-12);
}

#[test]
fn only_runs_that_succeeded_count_and_only_the_latest() {
    let even = |cores| steps(20, cores, 1e9);
    let runs = [
        run(6, Outcome::Failed, even(100.0)),
        run(5, Outcome::Succeeded, even(1.0)),
        run(4, Outcome::CutOff, even(100.0)),
        run(3, Outcome::Succeeded, even(1.05)),
        run(2, Outcome::Succeeded, even(1.1)),
        run(1, Outcome::Succeeded, even(1.1)),
    ];
    let profile = made(&runs);
    let planned = profile.planned(ContainerKind::DEFAULT_EXECUTOR).unwrap();
    assert_eq!(planned.runs, ids(&[5, 3, 2]));
    let reason = |id: &str| {
        let mut left_out = profile.left_out.iter();
        let found = left_out.find(|(_, run)| run.id.ends_with(id));
        found.map(|(_, run)| run.reason.clone())
    };
    assert_eq!(reason("6"), Some(Exclusion::Failed));
    assert_eq!(reason("4"), Some(Exclusion::CutOff));
    assert_eq!(reason("1"), Some(Exclusion::Old));
}

#[test]
fn without_a_container_there_is_no_profile() {
    assert_eq!(profile("key", &[], &SETTINGS), None);
    let mut empty = run(1, Outcome::Succeeded, vec![]);
    empty.series.clear();
    assert_eq!(profile("key", &[empty], &SETTINGS), None);
}

#[test]
fn a_kind_that_no_run_had_is_not_planned() {
    let runs = [1, 2].map(|at| run(at, Outcome::Succeeded, steps(20, 1.0, 1e9)));
    let profile = made(&runs);
    assert!(profile.planned(ContainerKind::DEFAULT_EXECUTOR).is_some());
    assert_eq!(profile.planned(ContainerKind::ApplicationMaster), None);
}

#[test]
fn executors_of_two_priorities_are_planned_each_by_their_own_series() {
    let runs = [1, 2].map(|at| {
        let mut run = run(at, Outcome::Succeeded, steps(20, 1.0, 1e9));
        run.series.push(RunSeries {
            stage_ends_ms: Vec::new(),
            kind: ContainerKind::Executor { priority: 1 },
            containers: 1,
            slots: steps(8, 2.0, 6e9),
        });
        run
    });
    let profile = made(&runs);
    let planned = |priority| profile.planned(ContainerKind::Executor { priority });
    let peaks = [0, 1].map(|priority| planned(priority).unwrap().demand.peak().memory_bytes);
    assert_eq!(peaks, [1e9, 6e9]);
    assert_eq!(planned(1).unwrap().demand.slots().len(), 8);
    assert_eq!(planned(2), None, "never seen: the request stands");
}

#[test]
fn a_series_that_is_no_demand_is_named() {
    let mut wrong = steps(20, 1.0, 1e9);
    wrong[0].cpu_cores = -1.0;
    let runs = [
        run(3, Outcome::Succeeded, wrong),
        run(2, Outcome::Succeeded, steps(20, 1.0, 1e9)),
        run(1, Outcome::Succeeded, steps(20, 1.0, 1e9)),
    ];
    let profile = made(&runs);
    let reason = DemandError::Amount { slot: 0, resource: Resource::Cpu, amount: -1.0 };
    assert_eq!(profile.left_out.len(), 1);
    assert_eq!(profile.left_out[0].1.reason, Exclusion::NoDemand(reason.to_string()));
    let planned = profile.planned(ContainerKind::DEFAULT_EXECUTOR).unwrap();
    assert_eq!(planned.runs, ids(&[2, 1]));
}

#[test]
fn the_length_is_that_of_the_longest_executor_and_else_of_the_master() {
    let of = |kind, slots| RunSeries {
        stage_ends_ms: Vec::new(),
        kind,
        containers: 1,
        slots: steps(slots, 1.0, 1e9),
    };
    let longest = ContainerKind::Executor { priority: 1 };
    let runs = |with_executors: bool| {
        [1, 2, 3].map(|at| {
            let mut run = run(at, Outcome::Succeeded, steps(8, 1.0, 1e9));
            run.series.push(of(longest, 20));
            run.series.retain(|_| with_executors);
            run.series.push(of(ContainerKind::ApplicationMaster, 40));
            run
        })
    };
    for (with_executors, kind, length_ms) in
        [(true, longest, 60_000.0), (false, ContainerKind::ApplicationMaster, 120_000.0)]
    {
        let length = made(&runs(with_executors)).length().unwrap();
        assert_eq!((length.kind, length.runs), (kind, 3));
        let range = length.beyond(0.0).unwrap();
        assert!((range.median_ms - length_ms).abs() < 1.0, "{range:?}");
        assert!(range.earliest_ms < range.median_ms && range.median_ms < range.latest_ms);
        assert_eq!(length.beyond(10.0 * length_ms), None);
    }
}
