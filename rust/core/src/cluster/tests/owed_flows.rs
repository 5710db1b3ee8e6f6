//! A queue that has less than its share of the CPU, while another has more.

use super::*;

/// A node of 8 GB and 4 cores, all of which a container of `root.a` uses in 2 GB; and an application of `root.b` with
/// containers of 1 GB and a core. Each queue has a share.
fn cpu_in_use(shares: [f64; 2]) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let [a, b] = shares;
    cluster.configure_queues(vec![
        share("root", 1.0, 1.0),
        share("root.a", a, 1.0),
        share("root.b", b, 1.0),
        share("root.idle", 0.0, 1.0),
    ]);
    let app = in_queue(&mut cluster, "root.a", learned(&[4.0; 200], 1.0), 2);
    place(&mut cluster, "of a", app, node, 0);
    let app = in_queue(&mut cluster, "root.b", learned(&[1.0; 200], 0.1), 1);
    (cluster, node, app)
}

fn in_queue(cluster: &mut Cluster, queue: &str, demands: Demands, gb: u64) -> ApplicationId {
    let app = waiting(cluster, queue, demands, ask(gb, 1));
    cluster.application_moved(app, queue);
    app
}

fn is_named(cluster: &mut Cluster, node: NodeId, app: ApplicationId) -> bool {
    cluster.bookable_changes(usize::MAX, 0);
    cluster.round(node, request(6, 7), 0).unwrap().contains(&app)
}

fn start(cluster: &mut Cluster, node: NodeId, app: ApplicationId, container: &str) -> PlacedReason {
    match place(cluster, container, app, node, 0) {
        Commit::Placed(placement) => placement.reason,
        other => panic!("{container}: {other:?}"),
    }
}

#[test]
fn it_goes_by_request_until_it_has_its_share() {
    let (mut cluster, node, app) = cpu_in_use([0.5, 0.5]);
    for container in ["1", "2"] {
        assert!(is_named(&mut cluster, node, app), "2 cores are its share");
        assert_eq!(start(&mut cluster, node, app, container), PlacedReason::OwedFlow);
    }
    assert!(!is_named(&mut cluster, node, app), "it has its share");
    assert!(matches!(place(&mut cluster, "3", app, node, 0), Commit::Refused(Refusal::NoFit(_))));
    cluster.finished("2");
    assert!(is_named(&mut cluster, node, app), "it has half of its share");
}

#[test]
fn it_gets_no_more_than_others_have_beyond_their_shares() {
    // 4 of 4 cores are 1.2 beyond 0.7 of them.
    let (mut cluster, node, app) = cpu_in_use([0.7, 0.3]);
    assert!(is_named(&mut cluster, node, app));
    start(&mut cluster, node, app, "1");
    assert!(!is_named(&mut cluster, node, app), "0.2 cores are left of 1.2");
}

#[test]
fn nobody_is_owed_what_no_other_queue_has_beyond_its_share() {
    let (mut cluster, node, app) = cpu_in_use([1.0, 0.0]);
    assert!(!is_named(&mut cluster, node, app), "a queue without a share is owed nothing");
    let app = in_queue(&mut cluster, "root.a", learned(&[1.0; 200], 0.1), 1);
    assert!(!is_named(&mut cluster, node, app), "a queue is owed nothing of its own");
    cluster.finished("of a");
    assert!(is_named(&mut cluster, node, app), "the idle queue without a share takes nothing");
}

#[test]
fn its_containers_of_the_share_that_came_before_count() {
    let (mut cluster, node, app) = cpu_in_use([0.5, 0.5]);
    let idle = in_queue(&mut cluster, "root.b", learned(&[1.5; 200], 0.1), 1);
    cluster.bookable_changes(usize::MAX, 0);
    start(&mut cluster, node, idle, "1");
    assert!(!is_named(&mut cluster, node, app), "2.5 cores are more than its share");
}

#[test]
fn it_is_owed_no_cpu_beyond_its_guarantee_of_memory() {
    let (mut cluster, node, _) = cpu_in_use([0.5, 0.5]);
    let large = in_queue(&mut cluster, "root.b", learned(&[1.0; 200], 1.0), 5);
    assert!(!is_named(&mut cluster, node, large));
}

#[test]
fn it_waits_for_memory_as_ever() {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.configure_queues(vec![share("root.a", 0.5, 1.0), share("root.b", 0.5, 1.0)]);
    let app = in_queue(&mut cluster, "root.a", learned(&[3.0; 200], 7.5), 4);
    place(&mut cluster, "of a", app, node, 0);
    let app = in_queue(&mut cluster, "root.b", learned(&[0.5; 200], 1.0), 1);
    assert!(!is_named(&mut cluster, node, app));
}

#[test]
fn who_fits_goes_before_who_lacks_what_is_owed() {
    let (mut cluster, node, app) = cpu_in_use([0.5, 0.5]);
    let small = in_queue(&mut cluster, "root.b", learned(&[0.0; 200], 0.1), 1);
    cluster.bookable_changes(usize::MAX, 0);
    assert_eq!(cluster.round(node, request(6, 7), 0), Some(vec![small, app]));
}
