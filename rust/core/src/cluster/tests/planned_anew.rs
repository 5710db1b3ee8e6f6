//! Containers that ran before runs of their application were known, as after a failover.

use super::*;

const EXECUTOR: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

/// A minute of 1 core and 1 GB, and a minute of 2 cores and 1 GB.
fn profile() -> Demands {
    learned(&[[1.0; 20], [2.0; 20]].concat(), 1.0)
}

fn predicted(of: &Demands) -> Option<Predicted> {
    of.of(EXECUTOR).cloned()
}

/// A container of 3 GB that has run for 30 s.
fn with_one(demands: Demands) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", demands, ask(3, 1));
    record(&mut cluster, "1", app, node, 3, 0);
    cluster.reported(node, physical(), 30_000);
    (cluster, node, app)
}

fn planned(cluster: &Cluster, node: NodeId, at_ms: i64) -> Resources {
    cluster.node(node).unwrap().node.expected_at(at_ms)
}

#[test]
fn what_runs_without_a_profile_is_planned_by_it_from_its_age_on() {
    let (mut cluster, node, app) = with_one(Demands::default());
    // The plan has been read.
    assert!(cluster.round(node, request(16, 16), 30_000).is_some());
    assert_eq!(planned(&cluster, node, 61_000), Resources::from_array([0.5, 3e9, 0.0, 0.0]));
    cluster.set_prediction(app, EXECUTOR, predicted(&profile()));

    let (known, ..) = with_one(profile());
    for at_ms in [30_000, 59_000, 61_000, 300_000] {
        assert_eq!(planned(&cluster, node, at_ms), planned(&known, node, at_ms), "{at_ms}");
    }
    assert_eq!(planned(&cluster, node, 61_000), Resources::from_array([2.0, 1e9, 0.0, 0.0]));
    let container = |cluster: &Cluster| cluster.container("1").unwrap().clone();
    assert_eq!(container(&cluster), container(&known));
    assert_eq!(cluster.node(node).unwrap().booked, request(3, 1));
    // 7 of 8 GB are free, and were 5.
    let large = waiting(&mut cluster, "large", Demands::default(), ask(7, 1));
    assert_eq!(cluster.round(node, request(16, 16), 30_000).unwrap().first(), Some(&large));
    cluster.finished("1");
    assert_eq!(planned(&cluster, node, 61_000), Resources::ZERO);
}

#[test]
fn memory_in_use_stays_planned_and_allowed() {
    let (mut cluster, node, app) = with_one(Demands::default());
    cluster.measured_memory("1", 2e9);
    cluster.set_prediction(app, EXECUTOR, predicted(&profile()));
    assert_eq!(planned(&cluster, node, 31_000).memory_bytes, 2e9);
    let settings = PlanSettings { limits_memory: true, ..PlanSettings::default() };
    let can_limit = CanLimit { memory: true, ..LIMITS_CPU };
    let limits = cluster.limits_on(node).unwrap();
    let [(_, steps)] = limits.plans(&settings, can_limit, 31_000).try_into().unwrap();
    assert!(steps.iter().all(|step| step.limits.memory_bytes.unwrap() >= 2_000_000_000));
    assert_eq!(steps[0].limits.cpu_weight_cores, Some(1.0));
}

#[test]
fn what_has_a_profile_keeps_the_demand_that_it_was_placed_with() {
    let (mut cluster, node, app) = with_one(profile());
    cluster.set_prediction(app, EXECUTOR, predicted(&learned(&[4.0], 2.0)));
    assert_eq!(planned(&cluster, node, 31_000).cpu_cores, 1.0);
    cluster.set_prediction(app, EXECUTOR, None);
    assert_eq!(planned(&cluster, node, 31_000).cpu_cores, 1.0);
}

#[test]
fn runs_of_others_other_kinds_and_other_applications_plan_nothing_anew() {
    let (mut cluster, node, app) = with_one(Demands::default());
    let before = planned(&cluster, node, 31_000);
    let other = waiting(&mut cluster, "b", Demands::default(), ask(3, 1));
    cluster.set_prediction(other, EXECUTOR, predicted(&profile()));
    cluster.set_prediction(app, ContainerKind::ApplicationMaster, predicted(&profile()));
    let by_others = predicted(&profile()).map(|it| Predicted { basis: Basis::Others, ..it });
    cluster.set_prediction(app, EXECUTOR, by_others);
    assert_eq!(planned(&cluster, node, 31_000), before);
}

#[test]
fn what_is_in_observe_stays_planned_at_its_request() {
    let (mut cluster, node, app) = with_one(Demands::default().observed_by_tag());
    let before = planned(&cluster, node, 31_000);
    cluster.set_prediction(app, EXECUTOR, predicted(&profile()));
    assert_eq!(planned(&cluster, node, 31_000), before);
    assert!(cluster.container("1").unwrap().profile().is_none());
}

#[test]
fn what_started_in_observe_is_not_planned_anew_when_its_application_leaves_observe() {
    let (mut cluster, node) = cluster_of_one(settings());
    let in_mode = |enforce| {
        let enforce_by_queue = [("root.default".to_owned(), enforce)].into();
        Exceptions { enforce_by_queue, ..Exceptions::default() }
    };
    cluster.set_exceptions(&in_mode(false));
    let app = waiting(&mut cluster, "a", Demands::default(), ask(3, 1));
    record(&mut cluster, "1", app, node, 3, 0);
    cluster.set_exceptions(&in_mode(true));
    record(&mut cluster, "2", app, node, 3, 0);
    cluster.set_prediction(app, EXECUTOR, predicted(&profile()));
    let is_profiled = |id| cluster.container(id).unwrap().profile().is_some();
    assert_eq!(["1", "2"].map(is_profiled), [false, true]);
}
