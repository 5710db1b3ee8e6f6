//! Queues and applications whose names never come again leave nothing behind.

use super::*;

#[test]
fn a_million_unique_names_grow_nothing() {
    let (mut cluster, node) = cluster_of_one(settings());
    for number in 0..1_000_000 {
        let name = number.to_string();
        let queue = format!("root.{name}");
        let ask = ask(1, 1);
        let application = Application::new(&name, &name, &queue, Demands::default(), 0);
        let application = application.by_user(&name);
        let application = cluster.application_added(application);
        cluster.pending(application, ask, 0);
        if number % 2 == 0 {
            cluster.application_moved(application, &format!("{queue}.moved"));
        }
        if number % 100 == 0 {
            cluster.skipped(node, &[application], 0);
            cluster.round(node, request(8, 8), 0);
            cluster.bookable_changes(usize::MAX, 0);
        }
        assert!(matches!(place(&mut cluster, &name, application, node, 0), Commit::Placed(_)));
        cluster.finished(&name);
        cluster.application_removed(application);
    }
    assert_eq!(cluster.waiting.queue_count(), 2, "the numbers are used again");
    assert_eq!(cluster.bookable.shares.queue_count(), 0);
    assert_eq!(cluster.applications().count(), 0);
    assert!(cluster.state.containers.is_empty());
}
