//! Applications and queues in observe beside others that are placed by demand.

use std::collections::BTreeMap;

use super::*;
use crate::cluster::Exceptions;
use crate::plan::PlanSettings;
use elastane_protocol::CanLimit;

fn modes(cluster: &mut Cluster, modes: &[(&str, bool)]) {
    let enforce_by_queue: BTreeMap<_, _> =
        modes.iter().map(|(queue, enforces)| ((*queue).to_owned(), *enforces)).collect();
    cluster.set_exceptions(&Exceptions { enforce_by_queue, ..Exceptions::default() });
}

fn waiting_in(cluster: &mut Cluster, queue: &str, demands: Demands) -> ApplicationId {
    let application = Application::new(queue, queue, queue, demands, 0);
    let application = cluster.application_added(application);
    cluster.pending(application, ask(3, 1), 0);
    application
}

/// Whether the next container is planned by its prediction, of a fifth of the request.
fn is_foreseen(cluster: &mut Cluster, application: ApplicationId, node: NodeId) -> bool {
    let placed = place(cluster, "x", application, node, 0);
    let Commit::Placed(placement) = placed else { panic!("{placed:?}") };
    cluster.finished("x");
    placement.container.basis.is_some()
}

fn small() -> Demands {
    learned(&[0.1; 200], 0.6)
}

#[test]
fn a_queue_has_the_mode_of_the_nearest_queue_above_that_has_one() {
    let (mut cluster, node) = cluster_of_one(settings());
    let queues = ["root.a", "root.a.b", "root.a.b.c", "root.ab", "root.d"];
    let applications = queues.map(|queue| waiting_in(&mut cluster, queue, small()));
    let foreseen = |cluster: &mut Cluster| {
        applications.map(|application| is_foreseen(cluster, application, node))
    };
    assert_eq!(foreseen(&mut cluster), [true; 5]);
    modes(&mut cluster, &[("root.a", false), ("root.a.b.c", true)]);
    assert_eq!(foreseen(&mut cluster), [false, false, true, true, true]);
    modes(&mut cluster, &[("root", false), ("root.d", true)]);
    assert_eq!(foreseen(&mut cluster), [false, false, false, false, true]);
    modes(&mut cluster, &[]);
    assert_eq!(foreseen(&mut cluster), [true; 5]);

    modes(&mut cluster, &[("root.a", false)]);
    let [_, _, _, _, moved] = applications;
    cluster.application_moved(moved, "root.a");
    assert!(!is_foreseen(&mut cluster, moved, node));
    let new = waiting_in(&mut cluster, "root.a.new", small());
    assert!(!is_foreseen(&mut cluster, new, node));
}

#[test]
fn an_application_in_observe_by_its_tag_stays_so_whatever_its_queue() {
    let (mut cluster, node) = cluster_of_one(settings());
    let tagged = waiting_in(&mut cluster, "root.a", small().observed_by_tag());
    modes(&mut cluster, &[("root.a", true)]);
    assert!(!is_foreseen(&mut cluster, tagged, node));
    let predicted = small().of(ContainerKind::DEFAULT_EXECUTOR).cloned();
    cluster.foreseen(tagged, ContainerKind::DEFAULT_EXECUTOR, predicted);
    assert!(!is_foreseen(&mut cluster, tagged, node), "a later prediction is withheld, too");
}

#[test]
fn one_in_observe_waits_by_its_request_and_starts_nothing_above_the_nodes_size() {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.configure_queues(vec![share("root", 1.0, 1.0), share("root.a", 1.0, 1.0)]);
    let app = waiting_in(&mut cluster, "root.a", small());
    for second in 0..12 {
        cluster.reported(node, physical(), second * 1_000);
        cluster.bookable_changes(usize::MAX, second * 1_000);
    }
    let now_ms = 12_000;
    for container in ["1", "2"] {
        assert!(matches!(place(&mut cluster, container, app, node, now_ms), Commit::Placed(_)));
    }
    let named = |cluster: &mut Cluster| cluster.round(node, request(8, 8), now_ms);
    assert_eq!(named(&mut cluster), Some(vec![app]), "2 GB of 8 are left by request, 6 by demand");

    modes(&mut cluster, &[("root.a", false)]);
    assert_eq!(named(&mut cluster), Some(vec![]));
    assert_eq!(cluster.wait_reason(app, now_ms), Some(WaitReason::Observed { node }));
    let refused = place(&mut cluster, "3", app, node, now_ms);
    assert_eq!(refused, Commit::Refused(Refusal::Observed));

    modes(&mut cluster, &[]);
    assert_eq!(named(&mut cluster), Some(vec![app]));
}

#[test]
fn limits_of_what_runs_are_lifted_with_the_mode() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting_in(&mut cluster, "root.a", small());
    assert!(matches!(place(&mut cluster, "1", app, node, 0), Commit::Placed(_)));
    let all = CanLimit {
        cpu: true,
        memory: true,
        disk: true,
        network_sent: true,
        network_received: true,
    };
    let settings = PlanSettings { limits_memory: true, ..PlanSettings::default() };
    let limits = |cluster: &Cluster| {
        let plans = cluster.limit_plans(node, &settings, all, 0);
        plans[0].1[0].limits.memory_bytes
    };
    assert!(limits(&cluster).is_some());
    modes(&mut cluster, &[("root", false)]);
    assert_eq!(limits(&cluster), None);
}
