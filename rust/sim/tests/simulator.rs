//! Runs of small and of random clusters.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::cluster::Request;
use elastane_core::fit::Peaks;
use elastane_core::policy::{Favor, PolicyOptions, named, names};
use elastane_core::{Demand, Resource, Resources, SLOT_MS};
use elastane_sim::simulator::{
    Contention, LowerBound, Outcome, Settings, SimulationError, simulate,
};
use elastane_sim::workload::{ApplicationSpec, Errors, Workload, generate};
use proptest::prelude::*;

const MACHINE: Resources = Resources::from_array([4.0, 8e9, 100e6, 100e6]);

fn application(
    name: &str,
    submitted_ms: i64,
    executors: u32,
    slots: &[[f64; 4]],
) -> ApplicationSpec {
    let slots: Vec<_> = slots.iter().copied().map(Resources::from_array).collect();
    let actual = Demand::series(SLOT_MS, &slots).unwrap();
    ApplicationSpec {
        name: name.to_owned(),
        submitted_ms,
        executors,
        request: Request {
            memory_bytes: 2_000_000_000,
            vcores: 2,
        },
        predicted: Some(actual.clone()),
        actual,
        errors: Errors::default(),
    }
}

fn workload(machines: usize, applications: Vec<ApplicationSpec>) -> Workload {
    Workload {
        name: "test".to_owned(),
        machines: vec![MACHINE; machines],
        heartbeat_ms: 1_000,
        applications,
    }
}

fn run(workload: &Workload, policy: &str, settings: &Settings) -> Outcome {
    simulate(workload, policy, settings, 1, &mut |_| {}).unwrap()
}

/// What small clusters never need.
const TOO_LONG_MS: i64 = 24 * 3_600_000;

fn settings() -> Settings {
    Settings {
        give_up_after_ms: TOO_LONG_MS,
        ..Settings::default()
    }
}

/// Requests pile peaks up, so that the model of contention is seen.
const STATIC: &str = "static";

#[test]
fn an_undisturbed_executor_takes_as_long_as_its_demand() {
    let one = application("a", 500, 1, &[[1.0, 1e9, 0.0, 0.0]; 10]);
    let outcome = run(&workload(1, vec![one]), "minfrag", &Settings::default());
    let application = &outcome.applications[0];
    assert_eq!((application.submitted_s, application.started_s), (0.5, 1.0));
    assert_eq!(application.ended_s, 31.0);
    assert_eq!(outcome.makespan_s, 30.5);
    assert_eq!(outcome.work_done.cpu_cores, 30.0);
    assert_eq!(outcome.executors_s, 30.0);
}

#[test]
fn where_more_is_wanted_than_there_is_everything_takes_longer_and_more_on_a_disk() {
    let settings = Settings {
        assignments_per_heartbeat: 2,
        ..Settings::default()
    };
    let ended_s = |slots: &[[f64; 4]]| {
        let two = application("a", 0, 2, slots);
        run(&workload(1, vec![two]), STATIC, &settings).applications[0].ended_s
    };
    assert_eq!(ended_s(&[[4.0, 1e9, 0.0, 0.0]; 10]), 60.0);
    // Twice what there is: 15 % of the disk's throughput is lost.
    let disk_s = ended_s(&[[0.1, 1e9, 0.0, 100e6]; 10]);
    assert!((disk_s - 60.0 / 0.85).abs() < 1e-6, "{disk_s}");
}

#[test]
fn an_executor_that_starts_beside_a_busy_one_slows_it_down_from_then_on() {
    let busy = application("busy", 0, 1, &[[4.0, 1e9, 0.0, 0.0]; 10]);
    let late = application("late", 15_000, 1, &[[4.0, 1e9, 0.0, 0.0]; 10]);
    let outcome = run(&workload(1, vec![busy, late]), STATIC, &Settings::default());
    assert_eq!(outcome.applications[0].ended_s, 45.0);
    assert_eq!(outcome.applications[1].ended_s, 60.0);
}

#[test]
fn memory_far_over_capacity_kills_the_latest_and_it_starts_anew() {
    let mut hungry = application("a", 0, 2, &[[1.0, 7e9, 0.0, 0.0]; 10]);
    hungry.predicted = None;
    let outcome = run(&workload(1, vec![hungry]), STATIC, &Settings::default());
    assert!(outcome.counts.killed > 0);
    assert_eq!(outcome.counts.placed, 2 + outcome.counts.killed);
    assert!(outcome.applications[0].ended_s >= 60.0);
}

#[test]
fn a_container_is_free_for_others_on_the_heartbeat_after_its_end() {
    let first = application("first", 0, 2, &[[2.0, 1e9, 0.0, 0.0]; 3]);
    let settings = Settings {
        assignments_per_heartbeat: 2,
        ..Settings::default()
    };
    let next = application("next", 100, 1, &[[2.0, 1e9, 0.0, 0.0]; 3]);
    let mut work = workload(1, vec![first, next]);
    work.heartbeat_ms = 2_500;
    let outcome = run(&work, STATIC, &settings);
    assert_eq!(outcome.applications[1].started_s, 10.0);
}

#[test]
fn dynamic_allocation_asks_for_twice_as_many_each_second() {
    let work = workload(8, vec![application("a", 0, 7, &[[2.0, 1e9, 0.0, 0.0]; 20])]);
    let started = |policy| run(&work, policy, &Settings::default());
    // 1, 2 and 4 executors: the last are asked for after 2 s and start within the next heartbeat.
    let ended_s = started("dynamic").applications[0].ended_s;
    assert!((62.0..63.0).contains(&ended_s), "{ended_s}");
    assert!(started("static").applications[0].ended_s < 61.0);
}

#[test]
fn a_request_that_no_node_can_hold_is_refused() {
    let mut large = application("large", 0, 1, &[[1.0; 4]]);
    large.request.vcores = 5;
    let error = simulate(
        &workload(1, vec![large]),
        "minfrag",
        &Settings::default(),
        1,
        &mut |_| {},
    );
    let error = error.unwrap_err();
    assert!(matches!(error, SimulationError::TooLarge { .. }));
    assert!(
        error.to_string().starts_with("application large: "),
        "{error}"
    );
}

#[test]
fn a_run_that_takes_too_long_is_given_up() {
    let settings = Settings {
        give_up_after_ms: 10_000,
        ..Settings::default()
    };
    let long = workload(1, vec![application("long", 0, 1, &[[1.0; 4]; 10])]);
    let error = simulate(&long, "minfrag", &settings, 1, &mut |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "policy minfrag: 1 applications never end, long first"
    );
}

#[test]
fn where_nobody_starves_ever_all_that_fits_is_done() {
    // The second one does not fit beside the first, so that a node sleeps until that ends.
    let first = application("first", 0, 3, &[[3.0, 1e9, 0.0, 0.0]; 10]);
    let second = application("second", 100, 3, &[[3.0, 1e9, 0.0, 0.0]; 5]);
    let work = workload(2, vec![first, second]);
    for policy in policies() {
        let ended_s = |starvation_wait_ms| {
            let settings = Settings {
                starvation_wait_ms,
                ..settings()
            };
            run(&work, policy, &settings).makespan_s
        };
        assert_eq!(ended_s(i64::MAX), ended_s(TOO_LONG_MS), "{policy}");
    }
}

/// Whether a node is asked about must not depend on how many machines and applications there are, or a
/// run grows with the square of them.
#[test]
fn a_full_cluster_is_not_asked_in_vain() {
    let applications = |machines: i64| {
        (0..4 * machines).map(move |number| {
            let cores = [1.0, 2.0, 3.0][(number % 3) as usize];
            let slots = vec![[cores, 1e9, 0.0, 0.0]; 20 + (number % 7) as usize];
            application("a", number * 500, 2, &slots)
        })
    };
    let settings = Settings {
        starvation_wait_ms: i64::MAX,
        ..settings()
    };
    for machines in [4, 16] {
        let work = workload(machines, applications(machines as i64).collect());
        for policy in ["minfrag", "trc", STATIC, "drf"] {
            let counts = run(&work, policy, &settings).counts;
            let waits = format!("{policy} on {machines} machines");
            assert_eq!(counts.rounds, counts.placed, "{waits}");
        }
    }
}

#[test]
fn one_application_in_lock_step_leaves_nothing_to_gain() {
    let lockstep = generate("lockstep", 1).unwrap();
    let makespan_s = |policy| run(&lockstep, policy, &Settings::default()).makespan_s;
    let (minfrag_s, static_s) = (makespan_s("minfrag"), makespan_s(STATIC));
    assert!(
        minfrag_s >= 0.98 * static_s,
        "{minfrag_s} against {static_s}"
    );
}

/// A cluster of up to three machines, with up to six small applications.
fn any_workload() -> impl Strategy<Value = Workload> {
    let slot = (0.0..3.0, 0.1e9..3e9, 0.0..60e6, 0.0..60e6)
        .prop_map(|(cpu, memory, network, disk)| [cpu, memory, network, disk]);
    let slots = prop::collection::vec(slot, 1..8);
    let application = (0..60_000_i64, 1..6_u32, 1..4_u32, slots, any::<bool>());
    let applications = prop::collection::vec(application, 1..6);
    (
        1..4_usize,
        applications,
        0.0..0.4,
        prop::sample::select(vec![700, 1_000, 3_000]),
    )
        .prop_map(|(machines, applications, error, heartbeat_ms)| {
            let specs = applications.into_iter().enumerate().map(
                |(number, (submitted_ms, executors, vcores, slots, known))| {
                    let mut spec =
                        application_named(number, submitted_ms, executors, vcores, &slots);
                    spec.errors = Errors::uniform(error, error / 2.0);
                    spec.predicted = spec.predicted.filter(|_| known);
                    spec
                },
            );
            Workload {
                heartbeat_ms,
                ..workload(machines, specs.collect())
            }
        })
}

fn application_named(
    number: usize,
    submitted_ms: i64,
    executors: u32,
    vcores: u32,
    slots: &[[f64; 4]],
) -> ApplicationSpec {
    let request = Request {
        memory_bytes: 2_000_000_000,
        vcores,
    };
    ApplicationSpec {
        request,
        ..application(&number.to_string(), submitted_ms, executors, slots)
    }
}

/// All but those that place gangs: an application that is too large for the whole cluster at once
/// waits under them until others have waited less.
fn policies() -> impl Iterator<Item = &'static str> {
    let strict = |name: &'static str| named(name, PolicyOptions::default()).unwrap();
    names()
        .into_iter()
        .filter(move |name| !strict(name).needs_gangs())
}

#[test]
fn the_house_policy_is_among_those_that_any_workload_is_run_with() {
    assert!(policies().any(|policy| policy == "elastane"));
}

fn total_work(workload: &Workload, seed: u64) -> Resources {
    let mut work = Resources::ZERO;
    for (place, application) in workload.applications.iter().enumerate() {
        for number in 0..application.executors {
            for slot in application.executor(seed, place, number) {
                work += slot * (f64::from(SLOT_MS) / 1e3);
            }
        }
    }
    work
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_work_that_is_done_is_the_work_that_there_was(workload in any_workload()) {
        for policy in policies() {
            let outcome = run(&workload, policy, &settings());
            if outcome.counts.killed > 0 || outcome.counts.released > 0 {
                continue;
            }
            let wanted = total_work(&workload, 1);
            for resource in [Resource::Cpu, Resource::Network, Resource::Disk] {
                let (done, wanted) = (outcome.work_done.get(resource), wanted.get(resource));
                prop_assert!((done - wanted).abs() <= 1e-6 * wanted.max(1.0), "{policy}: {done} of {wanted}");
            }
        }
    }

    #[test]
    fn no_policy_beats_the_lower_bound(workload in any_workload()) {
        let bound = LowerBound::new(&workload, 1);
        for policy in policies() {
            let makespan_s = run(&workload, policy, &settings()).makespan_s;
            let chain_s = bound.chain_s;
            prop_assert!(makespan_s >= chain_s - 1e-6, "{policy}: {makespan_s} s, {bound:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome_to_the_byte(workload in any_workload()) {
        for policy in policies() {
            let outcome = || run(&workload, policy, &settings());
            prop_assert_eq!(format!("{:?}", outcome()), format!("{:?}", outcome()));
        }
    }

    #[test]
    fn leaving_out_heartbeats_changes_nothing(
        workload in any_workload(),
        peaks in prop::sample::select(
            vec![None, Some(Peaks::Strict), Some(Peaks::Soft), Some(Peaks::Stretch)]),
        favor in prop::sample::select(Favor::ALL.to_vec()),
        margin in prop::sample::select(vec![0.0, 0.2]),
        starvation_wait_ms in prop::sample::select(vec![5_000, 60_000, i64::MAX]),
    ) {
        for policy in policies() {
            let with = |skip_idle_heartbeats| {
                let settings = Settings {
                    skip_idle_heartbeats,
                    policy_options: PolicyOptions { peaks, favor },
                    margin,
                    starvation_wait_ms,
                    ..settings()
                };
                let mut outcome = run(&workload, policy, &settings);
                // How much was looked at is what differs.
                outcome.counts.rounds = 0;
                outcome.counts.events = 0;
                format!("{outcome:?}")
            };
            prop_assert_eq!(with(true), with(false), "{}", policy);
        }
    }

    #[test]
    fn leaving_out_heartbeats_changes_nothing_for_gangs_either(
        workload in any_workload(),
        starvation_wait_ms in prop::sample::select(vec![5_000, 60_000]),
    ) {
        for policy in ["prophet", "ursa"] {
            let with = |skip_idle_heartbeats| {
                let settings = Settings { skip_idle_heartbeats, starvation_wait_ms, ..settings() };
                let mut outcome = run(&workload, policy, &settings);
                outcome.counts.rounds = 0;
                outcome.counts.events = 0;
                format!("{outcome:?}")
            };
            prop_assert_eq!(with(true), with(false), "{}", policy);
        }
    }

    #[test]
    fn rates_never_use_more_than_there_is(
        demands in prop::collection::vec(
            (0.0..5.0, 0.0..6e9, 0.0..200e6, 0.0..200e6), 0..12),
    ) {
        let demands: Vec<_> = demands
            .into_iter()
            .map(|(cpu, memory, network, disk)| Resources::from_array([cpu, memory, network, disk]))
            .collect();
        let mut rates = Vec::new();
        Contention::default().rates(MACHINE, &demands, &mut rates);
        for resource in [Resource::Cpu, Resource::Network, Resource::Disk] {
            let used: f64 = demands.iter().zip(&rates).map(|(demand, rate)| demand.get(resource) * rate).sum();
            prop_assert!(used <= MACHINE.get(resource) * (1.0 + 1e-9));
        }
        prop_assert!(rates.iter().all(|rate| *rate > 0.0 && *rate <= 1.0));
    }
}
