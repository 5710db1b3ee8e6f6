//! A guarantee for which the preemption monitor takes nothing back.

use super::*;

/// Both queues are guaranteed half.
fn halves(cluster: &mut Cluster, may_be_preempted: bool, user_limit: Option<UserLimit>) {
    let half = |queue| QueueShare { may_be_preempted, user_limit, ..share(queue, 0.5, 1.0) };
    cluster.configure_queues(vec![share("root", 1.0, 1.0), half("root.a"), half("root.b")]);
}

/// A node of 8 GB that `root.a` has filled with four containers of 3 GB that need one each, and a container of
/// `root.b` waits since second 20.
fn waiting_for_its_guarantee(may_be_preempted: bool) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    halves(&mut cluster, may_be_preempted, None);
    let of = |cluster: &mut Cluster, queue: &str| {
        let application = waiting(cluster, queue, learned(&[0.5], 1.0), ask(3, 1));
        cluster.application_moved(application, queue);
        application
    };
    let busy = of(&mut cluster, "root.a");
    seconds(&mut cluster, node, 0..20);
    for number in 0..4 {
        let placed = place(&mut cluster, &number.to_string(), busy, node, 19_000);
        assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    }
    cluster.application_removed(busy);
    let owed = of(&mut cluster, "root.b");
    (cluster, node, owed)
}

/// A report and a call in each of these seconds. Returns the last call's changes.
fn seconds(
    cluster: &mut Cluster,
    node: NodeId,
    seconds: std::ops::Range<i64>,
) -> Vec<BookableChange> {
    let mut changes = Vec::new();
    for now_ms in seconds.map(|second| 1_000 * second) {
        cluster.reported(node, physical(), now_ms);
        changes = cluster.bookable_changes(usize::MAX, now_ms);
    }
    changes
}

fn is_raised(cluster: &Cluster, node: NodeId) -> bool {
    cluster.node(node).unwrap().bookable.is_raised()
}

#[test]
fn nodes_are_of_their_registered_size_until_the_queue_has_its_guarantee() {
    let (mut cluster, node, owed) = waiting_for_its_guarantee(true);
    seconds(&mut cluster, node, 20..50);
    assert!(is_raised(&cluster, node), "for half a minute the monitor is left to act");
    let changes = seconds(&mut cluster, node, 50..51);
    assert!(!is_raised(&cluster, node), "more is booked than that");
    assert_eq!(changes[0].because, Resized::GuaranteeOverdue);

    cluster.may_preempt(Preemption { node, queue: "root.a" }, 52_000);
    seconds(&mut cluster, node, 51..70);
    assert!(!is_raised(&cluster, node), "the monitor chooses a container more than once");
    cluster.finished("0");
    cluster.finished("1");
    assert!(matches!(place(&mut cluster, "4", owed, node, 70_000), Commit::Placed(_)));
    cluster.pending(owed, Ask { count: 0, ..ask(3, 1) }, 70_000);
    seconds(&mut cluster, node, 70..75);
    assert!(is_raised(&cluster, node), "nobody waits for a guarantee");
}

#[test]
fn nodes_keep_their_size_while_the_monitor_takes_something_back() {
    let (mut cluster, node, _) = waiting_for_its_guarantee(true);
    for second in (20..200).step_by(20) {
        cluster.may_preempt(Preemption { node, queue: "root.a" }, 1_000 * second);
        seconds(&mut cluster, node, second..second + 20);
        assert!(is_raised(&cluster, node), "{second} s");
    }
}

#[test]
fn nodes_keep_their_size_where_nothing_may_be_preempted() {
    let (mut cluster, node, _) = waiting_for_its_guarantee(false);
    seconds(&mut cluster, node, 20..200);
    assert!(is_raised(&cluster, node));
}

#[test]
fn what_waits_for_something_else_than_room_keeps_nodes_small_for_five_minutes() {
    let (mut cluster, node, _) = waiting_for_its_guarantee(true);
    seconds(&mut cluster, node, 20..350);
    assert!(!is_raised(&cluster, node));
    seconds(&mut cluster, node, 350..1_000);
    assert!(is_raised(&cluster, node));
}

#[test]
fn nodes_keep_their_size_for_who_may_have_no_more() {
    let (mut cluster, node, limited) = waiting_for_its_guarantee(true);
    assert!(matches!(place(&mut cluster, "4", limited, node, 20_000), Commit::Placed(_)));
    let minimum_allocation = request(1, 1);
    let user_limit = UserLimit { factor: 0.1, minimum_percent: 1.0, minimum_allocation };
    halves(&mut cluster, true, Some(user_limit));
    seconds(&mut cluster, node, 20..200);
    assert!(is_raised(&cluster, node));
    halves(&mut cluster, true, None);
    seconds(&mut cluster, node, 200..231);
    assert!(!is_raised(&cluster, node), "now it waits for room");
}
