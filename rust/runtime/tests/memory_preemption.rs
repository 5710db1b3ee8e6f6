//! Who gives way when a node's memory runs short, and who never does.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/short_node.rs"]
mod short_node;

use common::{START_MS, request, settings};
use elastane_core::ContainerKind;
use elastane_runtime::Elastane;
use short_node::Scene;

#[test]
fn the_first_named_that_is_overcommitted_is_told_and_ends_after_the_wait() {
    let scene = Scene::of_four("enforce");
    let orders = scene.named_until(&["d", "c"], 31);
    assert_eq!(
        orders,
        ["0: d told", "15: d killed", "21: c told"],
        "the next one only when it shows that the first is gone"
    );
}

#[test]
fn the_next_one_is_not_chosen_before_what_the_first_gave_back_can_be_seen() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    scene.elastane.finished("d", START_MS + 1_000);
    // The agent has not seen yet that it ended.
    scene.names(&["d", "c"], START_MS + 3_000);
    assert_eq!(scene.orders(START_MS + 3_000), [""; 0]);
    scene.names(&["c"], START_MS + 12_000);
    assert_eq!(scene.orders(START_MS + 12_000), ["c told"]);
    let said: Vec<_> = scene.journal().into_iter().map(|record| record.1).collect();
    assert_eq!(said, ["told", "told"], "nothing is said of one that ended");
}

#[test]
fn what_fits_by_requests_never_gives_way() {
    let scene = Scene::of_four("enforce");
    assert_eq!(scene.named_until(&["a", "b"], 31), [""; 0]);
    let refused = scene.journal();
    assert_eq!(refused.len(), 2, "each is said once: {refused:?}");
    for (_, outcome, reason) in refused {
        assert_eq!(outcome, "refused");
        assert!(reason.contains("fit the node's registered memory"), "{reason}");
    }
}

#[test]
fn made_up_names_are_counted_and_neither_ordered_nor_journaled() {
    let scene = Scene::of_four("enforce");
    let elsewhere = scene.elastane.node_added("node-2:1", request(8));
    scene.start_on(elsewhere, "elsewhere", ContainerKind::DEFAULT_EXECUTOR, START_MS);
    let made_up: Vec<_> = (0..1_000).map(|number| format!("container_{number}")).collect();
    let named = made_up.iter().map(String::as_str).chain(["elsewhere", "d"]);
    scene.names(&named.collect::<Vec<_>>(), START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"], "they hide no container that runs there");
    assert_eq!(scene.status()["refused_memory_victims"], 1_001);
    let said: Vec<_> = scene.journal().into_iter().map(|(container, ..)| container).collect();
    assert_eq!(said, ["d"]);
}

#[test]
fn a_container_that_is_named_now_and_then_is_journaled_once_a_minute() {
    let scene = Scene::of_four("enforce");
    for second in 0..120 {
        scene.names(if second % 2 == 0 { &["a"] } else { &[] }, START_MS + second * 1_000);
    }
    assert_eq!(scene.journal().len(), 2);
}

#[test]
fn a_container_that_has_just_ended_is_no_made_up_name() {
    let scene = Scene::of_four("enforce");
    scene.elastane.finished("d", START_MS);
    scene.names(&["d"], START_MS + 1_000);
    assert_eq!(scene.status()["refused_memory_victims"], 0);
    assert_eq!(scene.journal(), []);
}

#[test]
fn an_application_master_gives_way_only_where_nothing_else_can() {
    let scene = Scene::new("enforce");
    let executor = ContainerKind::DEFAULT_EXECUTOR;
    scene.start("a", executor, START_MS);
    scene.start("b", executor, START_MS + 1);
    scene.start("master", ContainerKind::ApplicationMaster, START_MS + 2);
    scene.start("d", executor, START_MS + 3);
    scene.names(&["master", "d"], START_MS + 3_000);
    assert_eq!(scene.orders(START_MS + 3_000), ["d told"]);
    scene.elastane.finished("d", START_MS + 4_000);
    scene.names(&["master"], START_MS + 15_000);
    assert_eq!(scene.orders(START_MS + 15_000), ["master told"]);
}

#[test]
fn what_is_not_named_any_more_is_spared() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    scene.names(&[], START_MS + 3_000);
    assert_eq!(scene.orders(START_MS + 16_000), [""; 0]);
    let outcomes: Vec<_> = scene.journal().into_iter().map(|record| record.1).collect();
    assert_eq!(outcomes, ["told", "spared"]);
}

#[test]
fn what_fits_since_another_one_ended_is_spared() {
    let scene = Scene::of_four("enforce");
    scene.names(&["c"], START_MS);
    assert_eq!(scene.orders(START_MS), ["c told"]);
    scene.elastane.finished("a", START_MS + 1_000);
    let later_ms = START_MS + 18_000;
    assert_eq!(scene.orders(later_ms), [""; 0]);
    scene.names(&["c"], later_ms);
    let outcomes: Vec<_> = scene.journal().into_iter().map(|record| record.1).collect();
    assert_eq!(outcomes, ["told", "spared", "refused"]);
}

#[test]
fn an_agent_that_fell_silent_ends_nothing() {
    let scene = Scene::of_four("enforce");
    // A raised node stays the core's to decide about until it is lowered.
    assert_eq!(scene.elastane.bookable_changes(9, START_MS).len(), 1);
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    assert_eq!(scene.orders(START_MS + 16_000), [""; 0]);
}

#[test]
fn a_container_that_is_still_there_is_ended_again_after_ten_seconds() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    let mut killed = Vec::new();
    for second in 1..=36 {
        let now_ms = START_MS + second * 1_000;
        scene.names(&["d"], now_ms);
        killed.extend(scene.orders(now_ms).into_iter().map(|_| second));
    }
    assert_eq!(killed, [15, 25, 35]);
}

#[test]
fn in_observe_it_is_only_said_what_would_be_done() {
    let scene = Scene::of_four("observe");
    assert_eq!(scene.named_until(&["d"], 31), [""; 0]);
    let said = scene.journal();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0].1, "observed");
}

#[test]
fn a_node_that_holds_too_much_gives_way_after_enforce_was_left() {
    let scene = Scene::of_four("enforce");
    let change = |elastane: &Elastane| elastane.bookable_changes(1, START_MS)[0].ratio.is_raised();
    assert!(change(&scene.elastane), "as far as is booked");
    scene.elastane.apply_settings(settings(scene.folder.path(), "observe", &[])).unwrap();
    assert!(!change(&scene.elastane));
    assert_eq!(scene.named_until(&["d"], 15), ["0: d told", "15: d killed"]);
    scene.elastane.finished("c", START_MS);
    assert_eq!(scene.named_until(&["b"], 31), [""; 0], "it holds no more than its size");
}

#[test]
fn status_counts_what_became_of_them() {
    let scene = Scene::of_four("enforce");
    scene.named_until(&["a", "d"], 15);
    let status = scene.status();
    assert_eq!(status["memory_preemptions"], 1);
    assert_eq!(status["refused_memory_victims"], 1);
    assert_eq!(status["spared_memory_victims"], 0);
}
