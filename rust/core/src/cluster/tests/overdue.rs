//! A guarantee for which the preemption monitor takes nothing back.

use super::*;

/// How long the monitor takes from its choice of a container to its end.
const MONITOR_MS: Option<i64> = Some(15_000);

/// `root.b` is guaranteed 1 of 8 GB.
fn configure(cluster: &mut Cluster, preempted_within_ms: Option<i64>, limit: Option<UserLimit>) {
    let leaf = |queue, capacity| QueueShare {
        preempted_within_ms,
        masters: None,
        user_limit: limit,
        ..share(queue, capacity, 1.0)
    };
    let leaves = vec![leaf("root.a", 0.875), leaf("root.b", 0.125)];
    cluster.configure_queues([vec![share("root", 1.0, 1.0)], leaves].concat());
}

/// A node of 8 GB that `root.a` has filled with four containers of 3 GB that need 2 each, and a container of 512 MB
/// of `root.b` waits since second 20.
fn waiting_for_its_guarantee(monitor_ms: Option<i64>) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    configure(&mut cluster, monitor_ms, None);
    let of = |cluster: &mut Cluster, queue: &str, ask| {
        let application = waiting(cluster, queue, learned(&[0.5], 2.0), ask);
        cluster.application_moved(application, queue);
        application
    };
    let busy = of(&mut cluster, "root.a", ask(3, 1));
    seconds(&mut cluster, node, 0..20);
    for number in 0..4 {
        let placed = place(&mut cluster, &number.to_string(), busy, node, 19_000);
        assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    }
    cluster.application_removed(busy);
    let owed = of(&mut cluster, "root.b", small());
    (cluster, node, owed)
}

fn small() -> Ask {
    Ask { request: Request { memory_bytes: 500_000_000, vcores: 1 }, ..ask(1, 1) }
}

/// A report and a call in each of these seconds. Returns why the node was resized last.
fn seconds(cluster: &mut Cluster, node: NodeId, seconds: std::ops::Range<i64>) -> Option<Resized> {
    let mut because = None;
    for now_ms in seconds.map(|second| 1_000 * second) {
        cluster.reported(node, physical(), now_ms);
        let changes = cluster.bookable_changes(usize::MAX, now_ms);
        because = changes.first().map(|it| it.because).or(because);
    }
    because
}

fn bookable_gb(cluster: &Cluster, node: NodeId) -> f64 {
    8.0 * f64::from(cluster.node(node).unwrap().bookable.memory_thousandths) / 1e3
}

#[test]
fn nodes_show_less_than_is_booked_by_what_the_queue_lacks_then_by_more_and_no_less_than_registered()
{
    let (mut cluster, node, _) = waiting_for_its_guarantee(MONITOR_MS);
    seconds(&mut cluster, node, 20..50);
    assert_eq!(bookable_gb(&cluster, node), 12.0, "the monitor is left to act");
    let because = seconds(&mut cluster, node, 50..80);
    assert_eq!((because, bookable_gb(&cluster, node)), (Some(Resized::GuaranteeOverdue), 11.0));
    seconds(&mut cluster, node, 80..110);
    assert_eq!(bookable_gb(&cluster, node), 8.0, "4 GB less, and no less than the registered 8");
}

#[test]
fn what_ends_leaves_room_below_what_is_shown_and_then_nodes_grow_again() {
    let (mut cluster, node, owed) = waiting_for_its_guarantee(MONITOR_MS);
    seconds(&mut cluster, node, 20..52);
    assert!(cluster.may_preempt(Preemption { node, queue: "root.a" }, 52_000));
    seconds(&mut cluster, node, 52..70);
    cluster.finished("0");
    seconds(&mut cluster, node, 70..72);
    assert_eq!(bookable_gb(&cluster, node), 11.0, "9 are booked");
    assert!(matches!(place(&mut cluster, "4", owed, node, 72_000), Commit::Placed(_)));
    let later = waiting(&mut cluster, "root.a", learned(&[0.5], 2.0), ask(3, 1));
    cluster.application_moved(later, "root.a");
    cluster.pending(owed, Ask { count: 0, ..small() }, 72_000);
    let because = seconds(&mut cluster, node, 72..80);
    assert_eq!(because, Some(Resized::ByDemand), "nobody waits for a guarantee");
}

#[test]
fn nodes_keep_their_size_while_the_monitor_acts_or_the_queue_gets_containers() {
    let (mut cluster, node, _) = waiting_for_its_guarantee(MONITOR_MS);
    for second in (20..200).step_by(20) {
        assert!(cluster.may_preempt(Preemption { node, queue: "root.a" }, 1_000 * second));
        seconds(&mut cluster, node, second..second + 20);
    }
    assert_eq!(bookable_gb(&cluster, node), 12.0);
}

#[test]
fn nodes_keep_their_size_where_nothing_may_be_preempted() {
    let (mut cluster, node, _) = waiting_for_its_guarantee(None);
    seconds(&mut cluster, node, 20..200);
    assert_eq!(bookable_gb(&cluster, node), 12.0);
}

#[test]
fn nodes_of_the_label_asked_for_show_less_and_no_others() {
    for (asked, shown_gb) in [("", 11.0), ("gpu", 12.0)] {
        let (mut cluster, node, owed) = waiting_for_its_guarantee(MONITOR_MS);
        let labelled = cluster.node_added("node-2:1", request(8, 8));
        cluster.node_labelled(labelled, "gpu");
        cluster.set_label(owed, asked);
        cluster.pending(owed, small(), 20_000);
        seconds(&mut cluster, node, 20..80);
        assert_eq!(bookable_gb(&cluster, node), shown_gb, "{asked}");
    }
}

#[test]
fn nodes_keep_their_size_after_a_pause_of_the_process() {
    let (mut cluster, node, _) = waiting_for_its_guarantee(MONITOR_MS);
    seconds(&mut cluster, node, 20..40);
    seconds(&mut cluster, node, 100..129);
    assert_eq!(bookable_gb(&cluster, node), 12.0);
    seconds(&mut cluster, node, 129..131);
    assert_eq!(bookable_gb(&cluster, node), 11.0);
}

#[test]
fn nodes_keep_their_size_for_who_may_have_no_more() {
    let (mut cluster, node, limited) = waiting_for_its_guarantee(MONITOR_MS);
    cluster.finished("0");
    assert!(matches!(place(&mut cluster, "4", limited, node, 20_000), Commit::Placed(_)));
    let minimum_allocation = small().request;
    let limit = UserLimit { factor: 0.1, minimum_percent: 1.0, minimum_allocation };
    configure(&mut cluster, MONITOR_MS, Some(limit));
    let kept_gb = 9.504;
    seconds(&mut cluster, node, 20..200);
    assert_eq!(bookable_gb(&cluster, node), kept_gb, "its user is at its limit");
    cluster.pending(limited, ask(3, 1), 200_000);
    configure(&mut cluster, MONITOR_MS, None);
    seconds(&mut cluster, node, 200..300);
    assert_eq!(bookable_gb(&cluster, node), kept_gb, "3 GB are more than its guarantee");
}
