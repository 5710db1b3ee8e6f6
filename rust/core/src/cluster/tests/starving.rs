//! Past a bounded wait an application passes where there is room by request.

use super::*;

/// A node on which all but so many of its four cores are used for long, and an application that
/// needs one and has so many containers on another node. All of it since time 0.
fn busy_node(left_cores: f64, containers: u32) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let other = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(other, physical(), 0);
    let used = learned(&[4.0 - left_cores; 200], 1.0);
    let hog = waiting(&mut cluster, "hog", used, ask(1, 1));
    place(&mut cluster, "hog", hog, node, 0);
    cluster.application_removed(hog);
    let app = waiting(&mut cluster, "a", learned(&[1.0; 90], 1.0), ask(1, 1));
    for number in 0..containers {
        let placed = place(&mut cluster, &format!("{number}"), app, other, 0);
        assert!(matches!(placed, Commit::Placed(_)));
    }
    (cluster, node, app)
}

fn passes(cluster: &mut Cluster, node: NodeId, app: ApplicationId, now_ms: i64) -> bool {
    cluster.reported(node, physical(), now_ms);
    let named = cluster.round(node, request(7, 7), now_ms).unwrap();
    let placed = place(cluster, "next", app, node, now_ms);
    let passes = matches!(placed, Commit::Placed(_));
    assert_eq!(named.contains(&app), passes, "round and commit agree");
    passes
}

#[test]
fn one_that_stands_still_passes_whatever_the_plan_says() {
    for containers in [0, 1] {
        let (mut cluster, node, app) = busy_node(0.0, containers);
        assert!(!passes(&mut cluster, node, app, 59_999));
        assert!(passes(&mut cluster, node, app, 60_000));
    }
}

#[test]
fn one_that_gets_on_is_put_off_while_nothing_is_left_but_not_for_ever() {
    let (mut cluster, node, app) = busy_node(0.0, 2);
    assert!(!passes(&mut cluster, node, app, 60_000));
    assert!(!passes(&mut cluster, node, app, 299_999));
    assert!(passes(&mut cluster, node, app, 300_000));
}

#[test]
fn one_that_gets_on_passes_where_something_is_left() {
    let (mut cluster, node, app) = busy_node(0.5, 2);
    assert!(!passes(&mut cluster, node, app, 59_999));
    assert!(passes(&mut cluster, node, app, 60_000));
}

#[test]
fn one_whose_executors_ended_stands_still_again() {
    let (mut cluster, node, app) = busy_node(0.0, 2);
    cluster.finished("1");
    assert!(passes(&mut cluster, node, app, 60_000));
}
