//! What a user may take of a leaf queue.

use std::collections::BTreeMap;

use super::*;
use crate::resources::Resource;

const UNKNOWN: Option<f64> = None;

/// One node of 8 GB, and two queues with parts of it that may grow to all. A user of `root.a` gets at most the
/// queue's capacity.
fn limited(capacity: f64, minimum_percent: f64) -> (Cluster, NodeId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let minimum_allocation = request(1, 1);
    let user_limit = Some(UserLimit { factor: 1.0, minimum_percent, minimum_allocation });
    let of_a = QueueShare { user_limit, ..share("root.a", capacity, 1.0) };
    let of_b = share("root.b", 1.0 - capacity, 1.0);
    cluster.configure_queues(vec![share("root", 1.0, 1.0), of_a, of_b]);
    (cluster, node)
}

/// An application of a user in `root.a` that waits for containers of 1 GB; it is known to need so many.
fn waiting_of(cluster: &mut Cluster, user: &str, needs_gb: Option<f64>) -> ApplicationId {
    let demands = needs_gb.map_or_else(Demands::default, |gb| learned(&[0.1], gb));
    let application = Application::new(user, user, "root.a", demands, 0).by_user(user);
    let id = cluster.application_added(application);
    cluster.pending(id, ask(1, 1), 0);
    id
}

/// Places containers of an application until one is refused.
fn fill(cluster: &mut Cluster, application: ApplicationId, node: NodeId) -> (usize, Commit) {
    for count in 0.. {
        let name = format!("{application:?} {count}");
        let commit = place(cluster, &name, application, node, 0);
        if !matches!(commit, Commit::Placed(_)) {
            return (count, commit);
        }
    }
    unreachable!("a node is finite")
}

#[test]
fn unknown_containers_stop_at_the_users_limit_of_the_physical_machine() {
    let (mut cluster, node) = limited(0.5, 100.0);
    let app = waiting_of(&mut cluster, "one", UNKNOWN);
    cluster.raise_to_ceiling(0);
    let (placed, refused) = fill(&mut cluster, app, node);
    assert_eq!(placed, 5, "half of 8 GB, and one container like in CapacityScheduler");
    let at_limit = Refusal::UserAtLimit { user: "one".into(), queue: "root.a".into() };
    assert_eq!(
        at_limit.to_string(),
        "user one is at its limit in queue root.a, by requests and by predicted use"
    );
    assert_eq!(refused, Commit::Refused(at_limit));
    assert_eq!(cluster.round(node, request(11, 11), 0), Some(vec![]));
    assert_eq!(cluster.wait_reason(app, 0), Some(WaitReason::UserAtLimit { node }));
    let (resource, at_most) = (Resource::Memory, 4 * GB);
    let five_gb = Filled { resource, taken: 5 * GB, added: 0, at_most };
    let (user, queue) = ("one".into(), "root.a".into());
    let limit_use = LimitUse::User { user, queue, requested: five_gb, demanded: five_gb };
    assert_eq!(LimitUse::of(&cluster, app, 0), Some(limit_use));
    assert_eq!(five_gb.excess(), GB);
    assert_eq!(cluster.headroom(app, 0).unwrap().memory_bytes, 0);
    let other = waiting_of(&mut cluster, "other", UNKNOWN);
    assert_eq!(cluster.round(node, request(11, 11), 0), Some(vec![other]));
    cluster.finished(&format!("{app:?} 0"));
    assert_eq!(LimitUse::of(&cluster, app, 0), None, "4 GB are within the limit");
    assert_eq!(cluster.round(node, request(12, 12), 0), Some(vec![app, other]));
}

#[test]
fn known_containers_go_on_to_the_limit_by_demand() {
    let (mut cluster, node) = limited(0.5, 100.0);
    let app = waiting_of(&mut cluster, "one", Some(0.5));
    cluster.raise_to_ceiling(0);
    let (placed, refused) = fill(&mut cluster, app, node);
    assert_eq!(placed, 9, "4 GB by demand, and one container");
    assert!(matches!(refused, Commit::Refused(Refusal::UserAtLimit { .. })), "{refused:?}");
    let Some(LimitUse::User { requested, demanded, .. }) = LimitUse::of(&cluster, app, 0) else {
        panic!("{:?}", LimitUse::of(&cluster, app, 0));
    };
    assert_eq!((requested.taken, requested.at_most), (9 * GB, 4 * GB));
    assert_eq!((demanded.taken, demanded.at_most), (9 * GB / 2, 4 * GB));
}

#[test]
fn two_users_that_wait_share_the_physical_queue() {
    let (mut cluster, node) = limited(1.0, 50.0);
    let one = waiting_of(&mut cluster, "one", UNKNOWN);
    let two = waiting_of(&mut cluster, "two", UNKNOWN);
    cluster.raise_to_ceiling(0);
    assert_eq!(fill(&mut cluster, one, node).0, 5, "half of 8 GB, and one container");
    assert_eq!(fill(&mut cluster, two, node).0, 3);
}

#[test]
fn one_user_may_take_what_the_others_do_not_wait_for() {
    let (mut cluster, node) = limited(0.5, 50.0);
    let one = waiting_of(&mut cluster, "one", UNKNOWN);
    let two = waiting_of(&mut cluster, "two", UNKNOWN);
    cluster.raise_to_ceiling(0);
    cluster.pending(two, Ask { count: 0, ..ask(1, 1) }, 0);
    assert_eq!(fill(&mut cluster, one, node).0, 5);
}

#[test]
fn where_no_node_is_raised_capacity_schedulers_own_limit_holds() {
    let (mut cluster, node) = limited(0.5, 100.0);
    let app = waiting_of(&mut cluster, "one", UNKNOWN);
    let (placed, refused) = fill(&mut cluster, app, node);
    assert_eq!(placed, 8);
    assert!(matches!(refused, Commit::Refused(Refusal::NoFit(_))), "{refused:?}");
}

#[test]
fn a_moved_application_takes_its_users_containers_along() {
    let (mut cluster, node) = limited(0.5, 100.0);
    let moved = waiting_of(&mut cluster, "one", UNKNOWN);
    let other = waiting_of(&mut cluster, "one", UNKNOWN);
    cluster.raise_to_ceiling(0);
    fill(&mut cluster, moved, node);
    cluster.application_moved(moved, "root.b");
    assert!(matches!(place(&mut cluster, "1", other, node, 0), Commit::Placed(_)));
}

#[test]
fn users_of_different_resources_may_take_as_much_as_in_capacity_scheduler() {
    let (mut cluster, node) = limited(0.5, 50.0);
    cluster.raise_to_ceiling(0);
    let memory = waiting_of(&mut cluster, "memory", UNKNOWN);
    let cpu = waiting_of(&mut cluster, "cpu", UNKNOWN);
    cluster.pending(memory, ask(4, 1), 0);
    cluster.pending(cpu, ask(1, 4), 0);
    assert!(matches!(place(&mut cluster, "1", memory, node, 0), Commit::Placed(_)));
    assert!(matches!(place(&mut cluster, "2", cpu, node, 0), Commit::Placed(_)));
    // Their shares of 4/8 each count as 8/8, though only 5/8 of either resource are taken.
    cluster.bookable.shares.advance(&BTreeMap::new(), 0);
    cluster.pending(memory, ask(1, 1), 0);
    assert!(matches!(place(&mut cluster, "3", memory, node, 0), Commit::Placed(_)));
}

#[test]
fn users_that_have_gone_leave_nothing_behind() {
    let (mut cluster, node) = limited(0.5, 100.0);
    for number in 0..1_000 {
        let user = number.to_string();
        let app = waiting_of(&mut cluster, &user, UNKNOWN);
        place(&mut cluster, &user, app, node, 0);
        assert_eq!(cluster.waiting.users_in("root.a"), 1);
        cluster.finished(&user);
        cluster.application_removed(app);
    }
    assert_eq!(cluster.bookable.shares.user_count("root.a"), 0);
    assert_eq!(cluster.waiting.users_in("root.a"), 0);
}
