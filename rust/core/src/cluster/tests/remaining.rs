//! Ursa's SRJF orders applications by their remaining work.

use super::*;
use crate::policy::{JobOrder, Ursa};

const SLOT: i64 = crate::SLOT_MS as i64;

/// Two nodes: the first one runs the executors, and the second one is idle.
fn cluster_of_two() -> (Cluster, NodeId, NodeId) {
    let policy = Ursa { order: JobOrder::SmallestRemainingFirst };
    let mut cluster = Cluster::new(settings(), Box::new(policy));
    let nodes = ["node-1:1", "node-2:1"].map(|name| {
        let node = cluster.node_added(name, request(8, 8));
        cluster.reported(node, physical(), 0);
        node
    });
    (cluster, nodes[0], nodes[1])
}

fn one(memory_gb: u64) -> Ask {
    Ask { count: 1, ..ask(memory_gb, 1) }
}

fn start(cluster: &mut Cluster, application: ApplicationId, node: NodeId, start_ms: i64) {
    let container = format!("container-{start_ms}");
    let placed = record(cluster, &container, application, node, 1, start_ms);
    assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
}

fn order(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> Vec<ApplicationId> {
    cluster.reported(node, physical(), now_ms);
    cluster.round(node, request(8, 8), now_ms).unwrap()
}

#[test]
fn the_application_with_the_least_waiting_work_goes_first() {
    let (mut cluster, _, idle) = cluster_of_two();
    let long = waiting(&mut cluster, "long", learned(&[1.0; 9], 1.0), one(1));
    let short = waiting(&mut cluster, "short", learned(&[1.0; 3], 1.0), one(1));
    assert_eq!(order(&mut cluster, idle, 0), [short, long]);
    // Four short executors are more work than one long one.
    cluster.pending(short, Ask { count: 4, ..one(1) }, 0);
    assert_eq!(order(&mut cluster, idle, 0), [long, short]);
}

#[test]
fn running_executors_count_with_their_remaining_work() {
    let (mut cluster, busy, idle) = cluster_of_two();
    let first = waiting(&mut cluster, "first", learned(&[1.0; 6], 1.0), one(1));
    let second = waiting(&mut cluster, "second", learned(&[1.0; 8], 1.0), one(1));
    start(&mut cluster, first, busy, 0);
    let slots_12_and_8 = order(&mut cluster, idle, 0);
    assert_eq!(slots_12_and_8, [second, first]);
    let slots_7_and_8 = order(&mut cluster, idle, 5 * SLOT);
    assert_eq!(slots_7_and_8, [first, second]);
    start(&mut cluster, first, busy, 5 * SLOT);
    let slots_13_and_8 = order(&mut cluster, idle, 5 * SLOT);
    assert_eq!(slots_13_and_8, [second, first], "a start is noticed at once");
    cluster.finished(&format!("container-{}", 5 * SLOT));
    let slots_7_and_8 = order(&mut cluster, idle, 5 * SLOT);
    assert_eq!(slots_7_and_8, [first, second], "so is an end");
}

#[test]
fn unpredicted_work_counts_as_all_work() {
    let (mut cluster, _, idle) = cluster_of_two();
    let unknown = waiting(&mut cluster, "unknown", Demands::default(), one(1));
    for name in ["a", "b", "c", "d"] {
        waiting(&mut cluster, name, learned(&[1.0; 3], 1.0), one(1));
    }
    assert_eq!(order(&mut cluster, idle, 0).last(), Some(&unknown));
}
