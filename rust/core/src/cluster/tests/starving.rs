//! Past a bounded wait an application goes where it has room by request.

use super::*;

/// A node of four cores of which none is left for long, and an application that needs one core and
/// has `containers` on another node. All since time 0.
fn busy_node(containers: u32) -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let other = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(other, physical(), 0);
    let used = learned(&[4.0; 200], 1.0);
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

fn is_admitted(cluster: &mut Cluster, node: NodeId, app: ApplicationId, now_ms: i64) -> bool {
    cluster.reported(node, physical(), now_ms);
    let named = cluster.round(node, request(7, 7), now_ms).unwrap();
    let placed = place(cluster, "next", app, node, now_ms);
    let is_placed = matches!(placed, Commit::Placed(_));
    assert_eq!(named.contains(&app), is_placed, "round and commit agree");
    is_placed
}

#[test]
fn a_starving_application_is_admitted_whatever_its_fit_and_however_much_of_it_runs() {
    for containers in [0, 1, 2] {
        let (mut cluster, node, app) = busy_node(containers);
        assert!(!is_admitted(&mut cluster, node, app, 59_999));
        assert!(is_admitted(&mut cluster, node, app, 60_000));
    }
}
