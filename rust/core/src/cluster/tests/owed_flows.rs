//! A queue that has less than its share of the CPU, while another has more.

use super::*;

/// A node of 8 GB and 4 cores. A container of `root.a` is planned to use `mean` cores, and all four at first; an
/// application of `root.b` waits with containers of 1 GB and a core. Each queue has a share, and `root.idle` the rest.
fn cpu_in_use(mean: f64, [a, b]: [f64; 2]) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.configure_queues(vec![
        share("root", 1.0, 1.0),
        share("root.a", a, 1.0),
        share("root.b", b, 1.0),
        share("root.idle", 1.0 - a - b, 1.0),
        share("root.none", 0.0, 1.0),
    ]);
    let mut cores = [2.0 * mean - 4.0; 200];
    cores[..100].fill(4.0);
    let app = waiting_in(&mut cluster, "root.a", learned(&cores, 1.0), 2);
    place(&mut cluster, "of a", app, node, 0);
    let app = waiting_in(&mut cluster, "root.b", learned(&[1.0; 200], 0.1), 1);
    (cluster, node, app)
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
    let (mut cluster, node, app) = cpu_in_use(4.0, [0.25, 0.5]);
    for container in ["1", "2"] {
        assert!(is_named(&mut cluster, node, app), "2 cores are its share");
        assert_eq!(start(&mut cluster, node, app, container), PlacedReason::OwedFlow);
    }
    assert!(
        !is_named(&mut cluster, node, app),
        "it has its share, and 1 of 3 cores beyond is left"
    );
    assert!(matches!(place(&mut cluster, "3", app, node, 0), Commit::Refused(Refusal::NoFit(_))));
    cluster.finished("2");
    assert!(is_named(&mut cluster, node, app), "it has half of its share");
}

#[test]
fn all_that_is_owed_is_no_more_than_others_have_beyond_their_shares() {
    // On average 3 cores, 1.4 beyond its share.
    let (mut cluster, node, app) = cpu_in_use(3.0, [0.4, 0.3]);
    let other = waiting_in(&mut cluster, "root.idle", learned(&[1.0; 200], 0.1), 1);
    assert!(is_named(&mut cluster, node, app));
    assert!(is_named(&mut cluster, node, other), "1.2 cores are its share, too");
    start(&mut cluster, node, app, "1");
    assert!(!is_named(&mut cluster, node, other), "0.4 cores are left of 1.4");
    cluster.finished("1");
    assert!(is_named(&mut cluster, node, other));
}

#[test]
fn a_queue_is_owed_nothing_that_it_uses_itself() {
    let (mut cluster, node, _) = cpu_in_use(4.0, [0.5, 0.5]);
    cluster.bookable_changes(usize::MAX, 0);
    let app = waiting_in(&mut cluster, "root.a", learned(&[1.0; 200], 0.1), 1);
    // At the latest look it had more than its share.
    cluster.finished("of a");
    let service = waiting_in(&mut cluster, "root.none", learned(&[3.5; 200], 0.1), 1);
    start(&mut cluster, node, service, "service");
    assert!(!cluster.round(node, request(6, 7), 0).unwrap().contains(&app));
    assert!(is_named(&mut cluster, node, app), "now the queue without a share has more");
}

#[test]
fn a_queue_without_a_share_that_uses_nothing_takes_nothing() {
    let (mut cluster, node, _) = cpu_in_use(4.0, [1.0, 0.0]);
    let app = waiting_in(&mut cluster, "root.a", learned(&[0.5; 200], 0.1), 1);
    assert!(!is_named(&mut cluster, node, app));
}

#[test]
fn what_fitted_counts_for_its_share() {
    let (mut cluster, node, _) = cpu_in_use(4.0, [0.25, 0.25]);
    cluster.finished("of a");
    let fits = waiting_in(&mut cluster, "root.b", learned(&[0.5; 200], 0.1), 1);
    assert_eq!(start(&mut cluster, node, fits, "1"), PlacedReason::Fits);
    let service = waiting_in(&mut cluster, "root.a", learned(&[3.5; 200], 0.1), 1);
    start(&mut cluster, node, service, "service");
    let app = waiting_in(&mut cluster, "root.b", learned(&[0.6; 200], 0.1), 1);
    assert!(!is_named(&mut cluster, node, app), "1.1 of 1 core");
    let app = waiting_in(&mut cluster, "root.b", learned(&[0.5; 200], 0.1), 1);
    assert!(is_named(&mut cluster, node, app), "1 core");
}

#[test]
fn it_is_owed_no_cpu_beyond_its_guarantee_of_memory() {
    let (mut cluster, node, _) = cpu_in_use(4.0, [0.5, 0.5]);
    let large = waiting_in(&mut cluster, "root.b", learned(&[1.0; 200], 1.0), 5);
    assert!(!is_named(&mut cluster, node, large));
}

#[test]
fn it_waits_for_memory_as_ever() {
    for cores in [3.0, 4.0] {
        let (mut cluster, node) = cluster_of_one(settings());
        cluster.configure_queues(vec![share("root.a", 0.5, 1.0), share("root.b", 0.5, 1.0)]);
        let app = waiting_in(&mut cluster, "root.a", learned(&[cores; 200], 7.5), 4);
        place(&mut cluster, "of a", app, node, 0);
        let app = waiting_in(&mut cluster, "root.b", learned(&[0.5; 200], 1.0), 1);
        assert!(!is_named(&mut cluster, node, app), "whether CPU is lacking first or not: {cores}");
    }
}

#[test]
fn who_starves_goes_first_all_the_same() {
    let (mut cluster, node, app) = cpu_in_use(4.0, [0.5, 0.5]);
    let starving_ms = settings().starvation_wait_ms;
    cluster.reported(node, physical(), starving_ms);
    cluster.bookable_changes(usize::MAX, starving_ms);
    let Commit::Placed(placement) = place(&mut cluster, "1", app, node, starving_ms) else {
        panic!("it starves");
    };
    assert_eq!(placement.reason, PlacedReason::Starving);
}

#[test]
fn who_fits_goes_before_who_lacks_what_is_owed() {
    let (mut cluster, node, app) = cpu_in_use(4.0, [0.5, 0.5]);
    let small = waiting_in(&mut cluster, "root.b", learned(&[0.0; 200], 0.1), 1);
    cluster.bookable_changes(usize::MAX, 0);
    assert_eq!(cluster.round(node, request(6, 7), 0), Some(vec![small, app]));
}
