//! The rows of the waiting table follow the events.

use super::*;
use crate::cluster::WaitReason;
use crate::resources::Resource;

#[test]
fn a_wait_reason_has_the_current_excess() {
    let (mut cluster, node) = cluster_of_one(settings());
    let first = waiting(&mut cluster, "first", Demands::default(), ask(6, 1));
    place(&mut cluster, "1", first, node, 0);
    let app = waiting(&mut cluster, "a", Demands::default(), ask(3, 1));
    assert_eq!(cluster.wait_reason(app, 0), None, "no round yet");
    cluster.round(node, request(16, 16), 0);
    let Some(WaitReason::NoFit { resource, excess: Some(excess), .. }) =
        cluster.wait_reason(app, 0)
    else {
        panic!("2 GB are left of 8");
    };
    assert_eq!((resource, excess.amount), (Resource::Memory, 1e9));
    cluster.finished("1");
    let Some(WaitReason::NoFit { excess, .. }) = cluster.wait_reason(app, 0) else {
        panic!("it was refused at the latest check");
    };
    assert_eq!(excess, None);
    cluster.pending(app, Ask { count: 0, ..ask(3, 1) }, 0);
    assert_eq!(cluster.wait_reason(app, 0), None, "it waits for nothing");
}

#[test]
fn a_removed_row_leaves_the_other_rows_intact() {
    let (mut cluster, node) = cluster_of_one(settings());
    let ids: Vec<_> = (1..=4)
        .map(|half| {
            let amount = f64::from(half) / 2.0;
            waiting(&mut cluster, "a", learned(&[amount], amount), ask(1, 1))
        })
        .collect();
    let all = cluster.round(node, request(16, 16), 0);
    assert_eq!(all, Some(vec![ids[3], ids[2], ids[1], ids[0]]));
    cluster.application_removed(ids[0]);
    cluster.pending(ids[2], Ask { count: 0, ..ask(1, 1) }, 0);
    let left = cluster.round(node, request(16, 16), 0);
    assert_eq!(left, Some(vec![ids[3], ids[1]]));
}

#[test]
fn a_master_that_lacks_memory_does_not_hold_back_other_masters() {
    let (mut cluster, node) = cluster_of_one(settings());
    let first = waiting(&mut cluster, "first", Demands::default(), ask(5, 1));
    place(&mut cluster, "1", first, node, 0);
    cluster.application_removed(first);
    let master = |memory_gb| Ask { kind: ContainerKind::ApplicationMaster, ..ask(memory_gb, 1) };
    let large = waiting(&mut cluster, "large", Demands::default(), master(4));
    let small = waiting(&mut cluster, "small", Demands::default(), master(1));
    let free = request(16, 16);
    assert_eq!(cluster.round(node, free, 0), Some(vec![small]));
    assert_eq!(cluster.round(node, free, 0), Some(vec![small]));
    // An executor that lacks memory does.
    cluster.pending(large, ask(4, 1), 0);
    assert_eq!(cluster.round(node, free, 0), Some(vec![]));
    cluster.application_moved(large, "root.other");
    assert_eq!(cluster.round(node, free, 0), Some(vec![small]));
}
