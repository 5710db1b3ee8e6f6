use elastane_runs::Outcome;
use proptest::prelude::*;

use super::*;

const GB: f64 = 1e9;
const EXECUTOR: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

fn settings(cores: f64, memory_bytes: f64) -> Settings {
    let given = [(EXECUTOR_CORES, cores), (EXECUTOR_MEMORY_BYTES, memory_bytes)];
    elastane_runs::RunSettings(given.map(|(name, it)| (name.to_owned(), it)).into())
}

fn run(key: &str, ended_ms: i64, slots: &[[f64; 4]]) -> Run {
    let slots = slots.iter().map(|it| Resources::from_array(*it)).collect();
    Run {
        application_key: key.to_owned(),
        application_id: format!("run of {key}"),
        application_name: key.to_owned(),
        started_ms: 0,
        ended_ms,
        outcome: Outcome::Succeeded,
        series: vec![RunSeries { stage_ends_ms: Vec::new(), kind: EXECUTOR, containers: 2, slots }],
    }
}

/// An application whose executors of 2 cores and 10 GB held this share of the memory.
fn ran(others: &mut Others, key: &str, queue: &str, share: f64) {
    let slots = [[1.0, share * 5.0 * GB, 10.0, 100.0], [0.0, share * 10.0 * GB, 30.0, 0.0]];
    others.ran(&run(key, 1, &slots), Some(queue), &settings(2.0, 10.0 * GB));
}

fn planned(others: &mut Others, queue: &str) -> Option<OthersPlan> {
    let plans = others.plans(Some(queue), &settings(4.0, 20.0 * GB));
    assert!(plans.iter().all(|(kind, _)| *kind == EXECUTOR));
    plans.into_iter().next().map(|(_, plan)| plan)
}

#[test]
fn memory_is_planned_by_a_bound_and_the_rest_by_means() {
    let mut others = Others::default();
    for number in 1..=9 {
        assert_eq!(planned(&mut others, "a"), None, "of {} applications", number - 1);
        ran(&mut others, &number.to_string(), "a", f64::from(number) / 20.0);
    }
    let plan = planned(&mut others, "a").unwrap();
    // The eighth of nine.
    let expected = Resources::from_array([4.0 * 0.25, 0.4 * 20.0 * GB, 20.0, 50.0]);
    assert_eq!((plan.demand.peak(), plan.demand.mean()), (expected, expected));
    assert_eq!((plan.applications, plan.of_queue), (9, true));
    for number in 10..=19 {
        ran(&mut others, &number.to_string(), "a", f64::from(number) / 20.0);
    }
    assert_eq!(planned(&mut others, "a").unwrap().demand.peak().memory_bytes, 0.8 * 20.0 * GB);
}

#[test]
fn the_length_is_the_mean_length() {
    let mut others = Others::default();
    for slots in 1..=9 {
        let run = run(&slots.to_string(), 1, &vec![[1.0, GB, 0.0, 0.0]; slots]);
        others.ran(&run, None, &settings(1.0, 2.0 * GB));
    }
    assert_eq!(planned(&mut others, "a").unwrap().demand.duration_ms(), Some(15_000));
}

#[test]
fn an_application_counts_once_by_its_latest_run() {
    let mut others = Others::default();
    for _ in 0..20 {
        ran(&mut others, "the same", "a", 0.2);
    }
    assert_eq!(planned(&mut others, "a"), None);
    for number in 0..8 {
        ran(&mut others, &number.to_string(), "a", 0.6);
    }
    ran(&mut others, "the same", "a", 0.6);
    assert_eq!(planned(&mut others, "a").unwrap().demand.peak().memory_bytes, 0.6 * 20.0 * GB);
}

#[test]
fn a_queue_with_enough_applications_is_planned_by_its_own() {
    let mut others = Others::default();
    for number in 0..9 {
        ran(&mut others, &format!("a{number}"), "a", 0.3);
        ran(&mut others, &format!("b{number}"), "b", 0.8);
    }
    let memory = |plan: OthersPlan| (plan.demand.peak().memory_bytes / GB).round();
    assert_eq!(planned(&mut others, "a").map(memory), Some(6.0));
    assert_eq!(planned(&mut others, "b").map(memory), Some(16.0));
    let elsewhere = planned(&mut others, "c").unwrap();
    assert!(!elsewhere.of_queue && elsewhere.applications == 18);
    assert_eq!(memory(elsewhere), 16.0);
}

#[test]
fn no_less_memory_is_planned_than_its_own_runs_held() {
    let mut others = Others::default();
    for number in 0..9 {
        ran(&mut others, &number.to_string(), "a", 0.3);
    }
    let plan = planned(&mut others, "a").unwrap();
    let own = |gb: f64| {
        let run = run("own", 1, &[[9.0, gb * GB, 0.0, 0.0], [9.0, GB, 0.0, 0.0]]);
        PastRun::of(&run, EXECUTOR).unwrap().unwrap()
    };
    let memory = |runs: &[PastRun]| plan.with_runs(runs).demand.slots()[1].memory_bytes / GB;
    assert_eq!(memory(&[own(2.0), own(11.0), own(7.0)]), 11.0);
    assert_eq!(memory(&[own(2.0)]), 6.0);
    let cores = plan.with_runs(&[own(11.0)]).demand.peak().cpu_cores;
    assert_eq!(cores, plan.demand.peak().cpu_cores);
}

#[test]
fn no_more_memory_is_planned_than_requested() {
    let mut others = Others::default();
    for number in 0..9 {
        ran(&mut others, &number.to_string(), "a", 1.7);
    }
    assert_eq!(planned(&mut others, "a").unwrap().demand.peak().memory_bytes, 20.0 * GB);
}

#[test]
fn runs_of_unknown_requests_or_of_two_kinds_of_executors_do_not_count() {
    let mut others = Others::default();
    for number in 0..20 {
        let key = number.to_string();
        let mut run = run(&key, 1, &[[1.0, GB, 0.0, 0.0]]);
        others.ran(&run, Some("a"), &Settings::default());
        others.ran(&run, Some("a"), &settings(0.0, GB));
        let reducers = ContainerKind::Executor { priority: 10 };
        run.series.push(RunSeries { kind: reducers, ..run.series[0].clone() });
        others.ran(&run, Some("a"), &settings(1.0, GB));
        run.series.clear();
        others.ran(&run, Some("a"), &settings(1.0, GB));
    }
    assert_eq!(planned(&mut others, "a"), None);
}

#[test]
fn like_applications_share_one_series_until_another_one_ends() {
    let mut others = Others::default();
    for number in 0..10 {
        ran(&mut others, &number.to_string(), "a", 0.5);
    }
    let series = |others: &mut Others| planned(others, "a").unwrap().demand;
    let (one, other) = (series(&mut others), series(&mut others));
    assert_eq!(one.slots().as_ptr(), other.slots().as_ptr());
    ran(&mut others, "next", "a", 0.9);
    ran(&mut others, "after next", "a", 0.9);
    assert_eq!(series(&mut others).peak().memory_bytes, 0.9 * 20.0 * GB);
}

#[test]
fn those_that_ended_first_are_forgotten_in_whatever_order_they_are_read() {
    let mut others = Others::default();
    // At its start the depository gives the latest first.
    for ended_ms in (0..2 * MOST_APPLICATIONS as i64).rev() {
        let share = if ended_ms < MOST_APPLICATIONS as i64 { 9.0 } else { 4.0 };
        let run = run(&ended_ms.to_string(), ended_ms, &[[1.0, share * GB, 0.0, 0.0]]);
        others.ran(&run, Some("a"), &settings(2.0, 10.0 * GB));
    }
    let plan = planned(&mut others, "a").unwrap();
    assert_eq!((plan.applications, plan.demand.peak().memory_bytes), (200, 0.4 * 20.0 * GB));
}

proptest! {
    /// Of n + 1 applications in random order, the last is above the bound of the others in at most a fifth of
    /// the orders: taken one after another, each of them is the last once.
    #[test]
    fn a_new_application_is_covered_in_four_of_five_cases(
        shares in proptest::collection::vec(0.01_f64..0.99, 10..40),
    ) {
        let exceeded = (0..shares.len()).filter(|last| {
            let mut others = Others::default();
            for (at, share) in shares.iter().enumerate().filter(|(at, _)| at != last) {
                ran(&mut others, &at.to_string(), "a", *share);
            }
            let plan = planned(&mut others, "a").unwrap();
            plan.demand.peak().memory_bytes < shares[*last] * 20.0 * GB * (1.0 - 1e-9)
        });
        prop_assert!(exceeded.count() as f64 <= 0.2 * shares.len() as f64);
    }
}

#[test]
fn cpu_at_the_start_is_planned_by_what_others_used_at_theirs() {
    let mut others = Others::default();
    for number in 0..9 {
        // Every third ends with its start-up.
        let later = if number % 3 == 0 { 0 } else { 6 };
        let mut slots = vec![[1.0, GB, 0.0, 0.0]; START_SLOTS];
        slots.extend(vec![[0.2, GB, 0.0, 0.0]; later]);
        others.ran(&run(&number.to_string(), 1, &slots), None, &settings(1.0, 2.0 * GB));
    }
    let plan = planned(&mut others, "a").unwrap();
    let cores: Vec<f64> = plan.demand.slots().iter().map(|slot| slot.cpu_cores).collect();
    let (start, later) = cores.split_at(START_SLOTS);
    assert_eq!(start, [4.0, 4.0]);
    assert!(later.len() == 4 && later.iter().all(|it| (it - 0.8).abs() < 1e-9), "{later:?}");
}
