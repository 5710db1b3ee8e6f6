//! Ends of windows.

use super::reprovisioning::{
    be_slow, done, enabled, left, one_running, report_progress, run, used, with_window,
};
use crate::reprovision::{Correction, NotMeasured};
use crate::resources::Resource;

const SLOT: i64 = crate::SLOT_MS as i64;

#[test]
fn too_little_left_is_reported_once_a_minute_and_not_lent() {
    let (mut cluster, node) = one_running(enabled());
    run(&mut cluster, node, "c2", &[2.95; 40], 0);
    be_slow(&mut cluster, "c1");
    for now_ms in [10 * SLOT, 11 * SLOT] {
        cluster.reprovision(node, now_ms);
    }
    let reported = done(&mut cluster);
    let [Correction::Reschedule { resource, predicted, left, .. }] = reported[..] else {
        panic!("{reported:?}");
    };
    assert_eq!((resource, predicted), (Resource::Cpu, 1.0));
    assert!((left - 0.05).abs() < 1e-6);
    cluster.reprovision(node, 30 * SLOT);
    assert_eq!(done(&mut cluster).len(), 1);
}

#[test]
fn a_window_ends_with_its_container() {
    let (mut cluster, node) = with_window();
    cluster.finished("c1");
    assert_eq!(left(&mut cluster, node, 2, 10 * SLOT), [4.0, 4.0]);
    let because = NotMeasured::Ended;
    assert_eq!(done(&mut cluster), [Correction::Returned { because }]);
    let lent_to = cluster.corrections.lent_to(node);
    assert_eq!(lent_to, None, "the node is free for another");
}

#[test]
fn a_window_ends_with_its_node() {
    let (mut cluster, node) = with_window();
    cluster.node_removed(node);
    let because = NotMeasured::NodeLost;
    assert_eq!(done(&mut cluster), [Correction::Returned { because }]);
}

#[test]
fn a_window_ends_when_reprovisioning_is_switched_off() {
    let (mut cluster, node) = with_window();
    cluster.reprovision_by(None);
    assert!(cluster.reprovision(node, 11 * SLOT));
    assert_eq!(left(&mut cluster, node, 2, 11 * SLOT), [3.0, 3.0], "nothing is lent");
    assert!(!cluster.reprovision(node, 40 * SLOT), "and nothing is lent again");
}

#[test]
fn a_window_without_a_sample_expires() {
    let (mut cluster, node) = with_window();
    assert_eq!(left(&mut cluster, node, 2, 11 * SLOT), [3.0, 3.0]);
    assert!(cluster.reprovision(node, 13 * SLOT));
    let because = NotMeasured::NoSample;
    assert_eq!(done(&mut cluster), [Correction::Returned { because }]);
    assert!(!used(&mut cluster, "c1", 2.0, 13 * SLOT));
    assert_eq!(left(&mut cluster, node, 1, 13 * SLOT), [3.0]);
}

#[test]
fn a_sample_from_before_the_window_does_not_count() {
    let (mut cluster, _) = with_window();
    assert!(!used(&mut cluster, "c1", 2.0, 10 * SLOT + 1_700));
    assert!(used(&mut cluster, "c1", 2.0, 10 * SLOT + 1_800));
}

#[test]
fn a_window_ends_when_the_clock_is_set() {
    for now_ms in [2 * SLOT, 1_000 * SLOT] {
        let (mut cluster, node) = with_window();
        cluster.reprovision(node, now_ms);
        let because = NotMeasured::NoSample;
        assert_eq!(done(&mut cluster), [Correction::Returned { because }]);
        let left = left(&mut cluster, node, 25, now_ms);
        assert!(left.iter().all(|cores| *cores >= 3.0), "{left:?}");
    }
}

#[test]
fn a_window_ends_when_the_core_no_longer_decides() {
    let (mut cluster, node) = with_window();
    cluster.state.nodes.enforce(false);
    assert!(cluster.reprovision(node, 10 * SLOT + 1));
    let because = NotMeasured::NotDecided;
    assert_eq!(done(&mut cluster), [Correction::Returned { because }]);
    assert_eq!(left(&mut cluster, node, 2, 10 * SLOT + 1), [3.0, 3.0]);
}

#[test]
fn an_overdue_executor_holds_nothing_after_its_window() {
    let (mut cluster, node) = one_running(enabled());
    report_progress(&mut cluster, "c1", 0.0, 0);
    report_progress(&mut cluster, "c1", 0.96, 40 * SLOT);
    assert!(cluster.reprovision(node, 40 * SLOT));
    assert_eq!(left(&mut cluster, node, 1, 40 * SLOT), [0.0]);
    for slot in 41..50 {
        assert_eq!(left(&mut cluster, node, 1, slot * SLOT), [3.0], "{slot}");
    }
}
