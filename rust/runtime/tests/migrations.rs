//! Executors that leave a node short of memory by themselves before they are preempted.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/short_node.rs"]
mod short_node;

use common::{START_MS, settings};
use elastane_core::ContainerKind;
use elastane_protocol::DecommissionOutcome;
use short_node::Scene;

/// "d" has run for some time when the agent names it; the second of the report in which it is to leave.
const NAMED_S: i64 = 30;
const LEAVES_S: i64 = NAMED_S + 6;

fn at(second: i64) -> i64 {
    START_MS + second * 1_000
}

/// The agent has named "d", and its application master was told.
fn in_which_d_is_named() -> Scene {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    scene
}

/// Its agent was told that the executor is to leave, too.
fn in_which_d_is_asked() -> Scene {
    let scene = in_which_d_is_named();
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), ["d"]);
    scene
}

#[test]
fn an_executor_that_was_told_to_leave_has_a_minute() {
    let scene = in_which_d_is_named();
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S - 1)), [""; 0], "it may be over soon");
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), ["d"]);
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S + 3)), ["d"], "a reply may be lost");
    let told = Some(("d", DecommissionOutcome::Signalled));
    let told_s = LEAVES_S + 6;
    let mut killed = Vec::new();
    for second in told_s..=told_s + 61 {
        assert_eq!(scene.tells(&["d"], told, at(second)), [""; 0]);
        let orders = scene.orders(at(second)).into_iter();
        killed.extend(orders.map(|order| format!("{}: {order}", second - told_s)));
    }
    assert_eq!(killed, ["60: d killed"]);
}

#[test]
fn an_order_whose_outcome_never_comes_postpones_the_preemption_once() {
    let scene = in_which_d_is_named();
    let mut killed = Vec::new();
    for second in LEAVES_S..=NAMED_S + 60 {
        scene.tells(&["d"], None, at(second));
        let orders = scene.orders(at(second)).into_iter();
        killed.extend(orders.map(|order| format!("{}: {order}", second - LEAVES_S)));
    }
    assert_eq!(killed[0], "10: d killed");
}

#[test]
fn an_executor_that_leaves_after_the_shortage_is_not_spared_and_nobody_else_gives_way() {
    let scene = in_which_d_is_asked();
    let told = Some(("d", DecommissionOutcome::Signalled));
    scene.tells(&[], told, at(LEAVES_S + 3));
    scene.tells(&["c"], told, at(LEAVES_S + 30));
    assert_eq!(scene.orders(at(LEAVES_S + 30)), [""; 0]);
    let outcomes = scene.records("preemption", ["container", "outcome"]);
    assert_eq!(outcomes, [["d", "told"]]);
}

#[test]
fn an_executor_that_does_not_handle_the_signal_is_preempted_as_before() {
    let scene = in_which_d_is_asked();
    let stays = Some(("d", DecommissionOutcome::NotHandled));
    assert_eq!(scene.tells(&["d"], stays, at(LEAVES_S + 3)), ["d"], "it may handle it later");
    scene.tells(&["d"], stays, at(NAMED_S + 14));
    assert_eq!(scene.orders(at(NAMED_S + 14)), [""; 0]);
    assert_eq!(scene.orders(at(NAMED_S + 15)), ["d killed"]);
}

#[test]
fn a_shortage_that_ends_in_time_costs_no_executor() {
    let scene = in_which_d_is_named();
    assert_eq!(scene.tells(&[], None, at(LEAVES_S)), [""; 0]);
}

#[test]
fn a_young_executor_is_not_told_to_leave() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(0));
    assert_eq!(scene.orders(at(0)), ["d told"]);
    assert_eq!(scene.tells(&["d"], None, at(9)), [""; 0]);
}

#[test]
fn where_killing_comes_first_or_nothing_is_enforced_nobody_is_told_to_leave() {
    for (mode, first) in [("enforce", "kill"), ("observe", "decommission")] {
        let scene = in_which_d_is_named();
        let settings = settings(scene.folder.path(), mode, &[("preempt.first", first)]);
        scene.elastane.apply_settings(settings).unwrap();
        assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), [""; 0], "{mode}, {first}");
    }
}

#[test]
fn an_executor_that_has_left_before_its_agent_reports_is_in_the_journal() {
    let scene = in_which_d_is_asked();
    scene.elastane.finished("d", at(LEAVES_S + 1));
    let told = Some(("d", DecommissionOutcome::Signalled));
    for second in [LEAVES_S + 3, LEAVES_S + 6] {
        assert_eq!(scene.tells(&[], told, at(second)), [""; 0]);
    }
    assert_eq!(scene.records("migration", ["container", "state"]), [["d", "leaves"]]);
}

#[test]
fn a_core_that_has_not_asked_lets_those_leave_that_were_told() {
    let scene = Scene::of_four("enforce");
    let told = Some(("d", DecommissionOutcome::Signalled));
    for second in NAMED_S..NAMED_S + 60 {
        assert_eq!(scene.tells(&["d"], told, at(second)), [""; 0]);
        assert_eq!(scene.orders(at(second)), [""; 0]);
    }
    scene.tells(&["d"], told, at(NAMED_S + 60));
    assert_eq!(scene.orders(at(NAMED_S + 60)), ["d told"]);
}

#[test]
fn the_record_of_an_executor_whose_application_has_ended_names_it() {
    const FIFTH: &str = "container_1_0099_01_000005";
    let scene = Scene::of_four("enforce");
    scene.start(FIFTH, ContainerKind::DEFAULT_EXECUTOR, START_MS + 4);
    scene.names(&[FIFTH], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), [format!("{FIFTH} told")]);
    assert_eq!(scene.tells(&[FIFTH], None, at(LEAVES_S)), [FIFTH]);
    scene.elastane.finished(FIFTH, at(LEAVES_S + 1));
    scene.application_ends(at(LEAVES_S + 2));
    scene.tells(&[], Some((FIFTH, DecommissionOutcome::Signalled)), at(LEAVES_S + 3));
    let recorded = scene.records("migration", ["state", "application"]);
    assert_eq!(recorded, [["leaves", "application_1_0099"]]);
}
