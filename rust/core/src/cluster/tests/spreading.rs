//! Executors of one application are spread over nodes where scores are close.

use super::*;

/// Two nodes, and applications whose executors use so many cores, and as much of the memory, for a
/// minute.
fn cluster_with(cores: &[f64]) -> (Cluster, [NodeId; 2], Vec<ApplicationId>) {
    let (mut cluster, first) = cluster_of_one_with(settings(), Peaks::Stretch);
    let second = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(second, physical(), 0);
    let ids = cores
        .iter()
        .map(|cores| {
            waiting(
                &mut cluster,
                "a",
                learned(&[*cores; 20], *cores * 2.0),
                ask(1, 1),
            )
        })
        .collect();
    (cluster, [first, second], ids)
}

fn order(cluster: &mut Cluster, node: NodeId) -> Vec<ApplicationId> {
    cluster.round(node, request(16, 16), 0).unwrap()
}

#[test]
fn where_scores_are_close_the_one_with_fewer_executors_here_goes_first() {
    let (mut cluster, [first, second], ids) = cluster_with(&[0.2, 0.1]);
    assert_eq!(order(&mut cluster, first), ids, "the one that needs more");
    place(&mut cluster, "1", ids[0], first, 0);
    assert_eq!(order(&mut cluster, first), ids, "one executor is no stack");
    place(&mut cluster, "2", ids[0], first, 0);
    assert_eq!(order(&mut cluster, first), [ids[1], ids[0]]);
    assert_eq!(order(&mut cluster, second), ids, "it has none there");

    place(&mut cluster, "3", ids[0], second, 0);
    place(&mut cluster, "4", ids[0], second, 0);
    assert_eq!(order(&mut cluster, first), ids, "half of them, as is even");
    cluster.finished("3");
    cluster.finished("4");
    assert_eq!(order(&mut cluster, first), [ids[1], ids[0]]);
    cluster.finished("2");
    assert_eq!(order(&mut cluster, first), ids);
}

#[test]
fn where_scores_are_not_close_the_score_decides() {
    // A twentieth of four cores is close.
    for (cores, swapped) in [(0.31, true), (0.29, false)] {
        let (mut cluster, [first, _], ids) = cluster_with(&[0.5, cores]);
        place(&mut cluster, "1", ids[0], first, 0);
        place(&mut cluster, "2", ids[0], first, 0);
        let swapped = if swapped { [1, 0] } else { [0, 1] };
        assert_eq!(order(&mut cluster, first), swapped.map(|i| ids[i]));
    }
}

#[test]
fn priority_goes_before_spreading() {
    let (mut cluster, [first, _], ids) = cluster_with(&[0.2, 0.1]);
    place(&mut cluster, "1", ids[0], first, 0);
    place(&mut cluster, "2", ids[0], first, 0);
    let urgent = Ask {
        priority: 1,
        ..ask(1, 1)
    };
    cluster.pending(ids[0], urgent, 0);
    assert_eq!(order(&mut cluster, first), ids);
}

#[test]
fn executors_on_a_node_that_is_gone_do_not_count() {
    let (mut cluster, [first, second], ids) = cluster_with(&[0.2, 0.1]);
    for (container, node) in [("1", first), ("2", first), ("3", second), ("4", second)] {
        place(&mut cluster, container, ids[0], node, 0);
    }
    cluster.node_removed(second);
    let second = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(second, physical(), 0);
    assert_eq!(order(&mut cluster, second), ids);
    assert_eq!(order(&mut cluster, first), [ids[1], ids[0]]);
}

#[test]
fn where_the_fit_keeps_peaks_apart_the_score_alone_decides() {
    let (mut cluster, [first, _], ids) = cluster_with(&[0.2, 0.1]);
    cluster.policy = Box::new(MinFrag {
        peaks: Peaks::Strict,
    });
    place(&mut cluster, "1", ids[0], first, 0);
    place(&mut cluster, "2", ids[0], first, 0);
    assert_eq!(order(&mut cluster, first), ids);
}
