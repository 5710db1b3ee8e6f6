//! What is known of an application that waits may change.

use super::*;

#[test]
fn an_application_that_waits_is_placed_by_what_is_known_of_it_now() {
    let (mut cluster, node) = cluster_of_one(settings());
    let free = request(16, 16);
    let runs = waiting(&mut cluster, "runs", Demands::default(), ask(5, 1));
    assert!(matches!(
        place(&mut cluster, "1", runs, node, 0),
        Commit::Placed(_)
    ));
    cluster.application_removed(runs);
    // Beside what runs it does not fit by its request.
    let app = waiting(&mut cluster, "a", Demands::default(), ask(5, 1));
    assert_eq!(cluster.round(node, free, 0), Some(vec![]));

    let Demands { executor, .. } = learned(&[1.0; 5], 1.0);
    cluster.foreseen(app, true, executor.clone());
    assert_eq!(
        cluster.round(node, free, 0),
        Some(vec![]),
        "that was of its master"
    );
    cluster.foreseen(app, false, executor);
    assert_eq!(cluster.round(node, free, 0), Some(vec![app]));
    cluster.foreseen(app, false, None);
    assert_eq!(cluster.round(node, free, 0), Some(vec![]));
}

#[test]
fn what_is_foreseen_of_an_application_that_ended_is_left_alone() {
    let (mut cluster, _) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", Demands::default(), ask(5, 1));
    cluster.application_removed(app);
    cluster.foreseen(app, false, learned(&[1.0], 1.0).executor);
    assert_eq!(cluster.applications().count(), 0);
}
