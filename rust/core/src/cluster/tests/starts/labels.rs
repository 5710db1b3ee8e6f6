//! Starts are planned on nodes with the label that is asked for.

use super::super::*;
use super::{BUSY_SLOTS, busy_node, first, slots_ms};
use crate::cluster::{PlannedStart, plan_starts};

/// The node for which an application that asks for `asked` is planned: none, or the busy one, whose label is `of_node`.
fn planned(asked: &str, of_node: &str, is_lent: bool) -> Option<i64> {
    let (mut cluster, node) = busy_node();
    cluster.node_labelled(node, of_node);
    let of_label = |label: &str| QueueShare {
        label: label.to_owned(),
        is_label_shared: is_lent && !label.is_empty(),
        ..share("root.default", 1.0, 1.0)
    };
    cluster.configure_queues(["", "gpu"].map(of_label).into());
    let app = first(&mut cluster, &[4.0; 5]);
    cluster.set_label(app, asked);
    cluster.pending(app, Ask { count: 1, ..ask(1, 1) }, 0);
    plan_starts(&mut cluster, 0);
    PlannedStart::of(&cluster, app).map(|start| start.first_ms)
}

#[test]
fn a_start_is_planned_where_the_label_is() {
    let after_the_others = Some(slots_ms(BUSY_SLOTS));
    for (asked, of_node, is_lent, expected) in [
        ("", "", false, after_the_others),
        ("gpu", "gpu", false, after_the_others),
        ("", "gpu", true, after_the_others),
        ("", "gpu", false, None),
        ("gpu", "", false, None),
        ("fpga", "gpu", true, None),
    ] {
        let found = planned(asked, of_node, is_lent);
        assert_eq!(found, expected, "'{asked}' on '{of_node}', lent: {is_lent}");
    }
}
