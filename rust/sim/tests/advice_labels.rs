//! Advice for clusters whose nodes have labels.

#[path = "common/past.rs"]
mod past_of;

use elastane_core::cluster::{NodeId, QueueShare};
use elastane_runtime::{PastCluster, PastNode};
use elastane_sim::Advice;
use past_of::*;

/// A node without a label, on which nothing runs, and one with the label `gpu`, on which [`in_turn`] ran.
fn on_label(is_shared: bool) -> PastCluster {
    let mut past = past(in_turn());
    let labelled = PastNode { label: "gpu".into(), ..past.nodes[0].clone() };
    past.nodes.push(labelled);
    for container in past.applications.iter_mut().flat_map(|it| &mut it.containers) {
        (container.node, container.label) = (NodeId(1), "gpu".into());
    }
    past.queues = vec![
        // Too little for one executor.
        QueueShare { maximum: if is_shared { 1.0 } else { 0.4 }, ..queue("root.a", 0.5, 1.0) },
        QueueShare {
            label: "gpu".to_owned(),
            is_label_shared: is_shared,
            ..queue("root.a", 1.0, 1.0)
        },
    ];
    past
}

#[test]
fn containers_stay_on_nodes_with_their_label() {
    let advice = Advice::of(&on_label(false));
    assert_eq!((advice.problem, advice.left_out), (None, 0));
    let capacity = advice.capacity.unwrap();
    assert_near(capacity.mean_completion_s, 240.0, 5.0);
    assert_near(capacity.node_hours, 0.1, 0.002);
}

#[test]
fn nodes_with_a_label_that_is_not_exclusive_are_counted_with_those_without_one() {
    let advice = Advice::of(&on_label(true));
    assert_eq!((advice.problem, advice.left_out), (None, 0));
    // Two at once, and the third after them.
    assert_near(advice.capacity.unwrap().mean_completion_s, 160.0, 5.0);
}

#[test]
fn executors_of_one_application_are_on_nodes_of_several_labels() {
    let mut past = on_label(false);
    let mut executors =
        vec![container(EXECUTOR, 1, [0, 0, 120]), container(EXECUTOR, 4, [0, 0, 120])];
    (executors[1].node, executors[1].label) = (NodeId(1), "gpu".into());
    past.applications = vec![application(1, 0, executors)];
    let advice = Advice::of(&past);
    assert_eq!((advice.problem, advice.left_out, advice.containers), (None, 0, 2));
    assert_near(advice.capacity.unwrap().mean_completion_s, 120.0, 5.0);
}

#[test]
fn what_ran_on_nodes_with_a_label_that_is_gone_is_left_out() {
    let mut past = on_label(false);
    past.nodes.pop();
    let advice = Advice::of(&past);
    assert_eq!(advice.left_out, 3);
}
