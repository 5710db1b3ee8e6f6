//! Runs of small and of random clusters.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/simulated.rs"]
mod simulated;
#[path = "common/small_cluster.rs"]
mod small_cluster;

use elastane_core::policy::{Favor, PolicyOptions, named, names};
use elastane_core::{Resource, Resources};
use elastane_sim::simulator::{Contention, Policies, Settings, SimulationError, simulate};
use proptest::prelude::*;

use elastane_sim::workload::QueueSpec;
use small_cluster::{MACHINE, any_workload, application, run, starving_after, workload};

const NEVER_ASKED_IN_VAIN: [&str; 2] = ["minfrag", "trc"];

fn known_policies() -> Policies {
    Policies::default()
}

fn policies() -> impl Iterator<Item = &'static str> {
    let strict = |name: &'static str| named(name, PolicyOptions::default()).unwrap();
    names().into_iter().filter(move |name| !strict(name).needs_gangs())
}

#[test]
fn the_house_policy_is_among_those_that_any_workload_is_run_with() {
    assert!(policies().any(|policy| policy == "elastane"));
}

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

/// CapacityScheduler would reserve the node for it, and places nobody by that.
#[test]
fn an_application_that_nothing_is_known_of_waits_for_room_by_request() {
    let mut known = application("known", 0, 1, &[[0.1, 1e8, 0.0, 0.0]; 10]);
    known.request.vcores = 3;
    let mut unknown = application("unknown", 500, 1, &[[0.1, 1e8, 0.0, 0.0]; 10]);
    unknown.predicted = None;
    let mut work = workload(1, vec![known, unknown]);
    work.queues = vec![QueueSpec::new("root.a", 1.0)];
    let mut settings = starving_after(5_000);
    settings.policy_options.favor = Favor::Makespan;
    settings.cluster.max_ratio = 1.0;
    for policy in policies() {
        let outcome = run(&work, policy, &settings);
        let started_s = outcome.applications[1].started_s;
        assert!(started_s >= 30.0, "{policy}: 3 and 2 of 4 virtual cores at {started_s} s");
    }
}

#[test]
fn a_request_that_no_node_can_hold_is_refused() {
    let mut large = application("large", 0, 1, &[[1.0; 4]]);
    large.request.vcores = 5;
    let error = simulate(
        &workload(1, vec![large]),
        &known_policies(),
        "minfrag",
        &Settings::default(),
        1,
        &mut |_| {},
    );
    let error = error.unwrap_err();
    assert!(matches!(error, SimulationError::TooLarge { .. }));
    assert!(error.to_string().starts_with("application large: "), "{error}");
}

#[test]
fn a_run_that_takes_too_long_is_given_up() {
    let settings = Settings { give_up_after_ms: 10_000, ..Settings::default() };
    let long = workload(1, vec![application("long", 0, 1, &[[1.0; 4]; 10])]);
    let error =
        simulate(&long, &known_policies(), "minfrag", &settings, 1, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "policy minfrag: 1 applications never end, long first");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn leaving_out_heartbeats_changes_nothing_for_gangs_either(
        workload in any_workload(),
        starvation_wait_ms in prop::sample::select(vec![5_000, 60_000]),
    ) {
        for policy in ["prophet", "ursa"] {
            let with = |skip_idle_heartbeats| {
                let settings = Settings { skip_idle_heartbeats, ..starving_after(starvation_wait_ms) };
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
