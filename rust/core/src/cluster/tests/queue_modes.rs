//! Applications and queues in observe beside others that are placed by demand.

use std::collections::BTreeMap;

use super::*;
use crate::cluster::{Exceptions, Naming, Observed, Offer, RegisteredOnly};
use crate::resources::Resource;

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
    cluster.set_prediction(tagged, ContainerKind::DEFAULT_EXECUTOR, predicted);
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

    let by_queue = Observed { by_tag: false, by_queue: true };
    for naming in [Naming::Best, Naming::Rest, Naming::Fitting] {
        modes(&mut cluster, &[]);
        assert_eq!(named(&mut cluster), Some(vec![app]));
        modes(&mut cluster, &[("root.a", false)]);
        let offer =
            Offer { node, free: request(8, 8), free_countables: &[], at_user_limit: &[], naming };
        assert_eq!(cluster.offer(offer, now_ms), Some(vec![]));
        let why = RegisteredOnly::Observed(by_queue);
        let reason = cluster.wait_reason(app, now_ms);
        assert_eq!(reason, Some(WaitReason::RegisteredOnly { node, why }));
        let of_node =
            Filled { resource: Resource::Memory, taken: 6 * GB, added: 3 * GB, at_most: 8 * GB };
        let limit_use = LimitUse::RegisteredOnly { why, registered: of_node, until_ms: None };
        assert_eq!(LimitUse::of(&cluster, app, now_ms), Some(limit_use));
    }
    let refused = place(&mut cluster, "3", app, node, now_ms);
    let why = RegisteredOnly::Observed(by_queue);
    assert_eq!(refused, Commit::Refused(Refusal::RegisteredOnly(why)));

    modes(&mut cluster, &[]);
    let by_tag = Observed { by_tag: true, by_queue: false };
    let tagged = waiting_in(&mut cluster, "root.a", small().observed_by_tag());
    let refused = place(&mut cluster, "3", tagged, node, now_ms);
    let why = RegisteredOnly::Observed(by_tag);
    assert_eq!(refused, Commit::Refused(Refusal::RegisteredOnly(why)));
    let reason = cluster.wait_reason(tagged, now_ms);
    assert_eq!(reason, Some(WaitReason::RegisteredOnly { node, why }));

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
        let plans = cluster.limits_on(node).unwrap().plans(&settings, all, 0);
        plans[0].1[0].limits.memory_bytes
    };
    assert!(limits(&cluster).is_some());
    modes(&mut cluster, &[("root", false)]);
    assert_eq!(limits(&cluster), None);
}

/// Two containers of 3 GB that demand a fifth of that are on the node of 8 GB, and an application in observe waits
/// for 3 GB in another queue.
fn full_by_request() -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let shares = [("root", 1.0), ("root.a", 0.5), ("root.b", 0.5)];
    cluster.configure_queues(shares.map(|(queue, capacity)| share(queue, capacity, 1.0)).into());
    modes(&mut cluster, &[("root.b", false)]);
    let busy = waiting_in(&mut cluster, "root.a", small());
    for container in ["1", "2"] {
        assert!(matches!(place(&mut cluster, container, busy, node, 0), Commit::Placed(_)));
    }
    cluster.application_removed(busy);
    let observed = waiting_in(&mut cluster, "root.b", small());
    (cluster, node, observed)
}

#[test]
fn no_node_is_raised_for_one_that_could_not_use_it() {
    let ratio_after_a_wait = |modes_of_queues: &[(&str, bool)]| {
        let (mut cluster, node, _) = full_by_request();
        modes(&mut cluster, modes_of_queues);
        for second in 0..12 {
            cluster.reported(node, physical(), second * 1_000);
            cluster.bookable_changes(usize::MAX, second * 1_000);
        }
        cluster.node(node).unwrap().bookable.memory_thousandths
    };
    assert!(ratio_after_a_wait(&[]) > 1_000, "it fits by demand");
    // The monitor would take the room for one that its guarantee can use, and end nothing.
    assert_eq!(ratio_after_a_wait(&[("root.b", false)]), 1_000);
}

#[test]
fn a_node_is_kept_for_one_that_finds_no_room_by_request() {
    let (mut cluster, node, observed) = full_by_request();
    let kept_from_ms = settings().starvation_wait_ms + 10_000;
    cluster.reported(node, physical(), kept_from_ms);
    assert_eq!(cluster.round(node, request(8, 8), kept_from_ms), Some(vec![]));
    let Some(WaitReason::Keeps(kept)) = cluster.wait_reason(observed, kept_from_ms) else {
        panic!("{:?}", cluster.wait_reason(observed, kept_from_ms));
    };
    assert_eq!((kept.node, kept.start_ms), (node, Some(600_000)), "when the others end");

    let other = waiting_in(&mut cluster, "root.a", learned(&[0.1; 900], 0.6));
    assert_eq!(cluster.round(node, request(8, 8), kept_from_ms), Some(vec![]), "it would delay it");
    cluster.finished("1");
    cluster.application_removed(other);
    assert_eq!(cluster.round(node, request(5, 8), kept_from_ms), Some(vec![observed]));
}
