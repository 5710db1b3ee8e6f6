//! Why an application waits, in the words of `status`.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{
    GB, NODE, START_MS, commit, free, learn_named, named_submission, open, open_with, plan_starts,
    register, reply, waiting, waiting_as,
};
use elastane_core::cluster::{Ask, Naming, NodeId, Offer, QueueShare, UserLimit};
use elastane_predict::{ContainerKind, Submission};
use elastane_runtime::Elastane;
use serde_json::Value;

const LARGE: &str = "application_1_0090";
const SMALL: &str = "application_1_0091";

/// What the status says of an application that waits.
fn waiting_status(elastane: &Elastane, id: &str, now_ms: i64) -> Value {
    let status: Value = serde_json::from_str(&elastane.status(now_ms)).unwrap();
    let waiting = status["waiting"].as_array().unwrap();
    waiting.iter().find(|one| one["application"] == id).unwrap().clone()
}

/// Why the application waits.
fn reason(elastane: &Elastane, id: &str, now_ms: i64) -> String {
    waiting_status(elastane, id, now_ms)["reason"].as_str().unwrap().to_owned()
}

/// Containers of this name start on a node that nothing else runs on.
fn busy_node(elastane: &Elastane, name: &str, containers: &[&str]) -> NodeId {
    let node = register(elastane);
    reply(elastane, 0, START_MS, &[]);
    let busy = named_submission("application_1_0080", name);
    let busy = elastane.application_added(&busy, START_MS);
    for container in containers {
        assert!(commit(elastane, container, busy, node, START_MS));
    }
    node
}

#[test]
fn who_would_delay_a_planned_start_is_told_whose() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", &[3.0; 20]), ("large", &[4.0; 5]), ("long", &[1.0; 30])]);
    let of_favor = |favor| {
        let elastane = open_with(folder.path(), "enforce", &[("placement.favor", favor)]);
        let node = busy_node(&elastane, "busy", &["container_busy"]);
        waiting(&elastane, LARGE, "large", 1, 1);
        waiting(&elastane, SMALL, "long", 9, 1);
        if favor == "balanced" {
            plan_starts(&elastane, LARGE, START_MS);
        } else {
            elastane.bookable_changes(1, START_MS);
        }
        let named = elastane.round(node, free(), START_MS).unwrap();
        let reason = reason(&elastane, SMALL, START_MS);
        elastane.close();
        (named.len(), reason)
    };
    let (named, reason) = of_favor("balanced");
    assert_eq!(named, 0);
    let held = format!("{NODE}: it would delay the planned start of {LARGE}, ");
    assert!(reason.starts_with(&held), "{reason}");
    let (named, reason) = of_favor("makespan");
    assert_eq!(named, 1);
    assert!(!reason.contains("planned"), "{reason}");
}

#[test]
fn a_skipped_application_is_capacity_schedulers_to_explain() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    let node = busy_node(&elastane, "busy", &[]);
    waiting(&elastane, LARGE, "large", 1, 3);
    let named = elastane.round(node, free(), START_MS).unwrap();
    elastane.skipped(node, &named, START_MS);
    let found = reason(&elastane, LARGE, START_MS);
    let skipped = format!("{NODE}: it fits, and CapacityScheduler skipped it: a user limit, ");
    assert!(found.starts_with(&skipped), "{found}");

    let other = named_submission("application_1_0081", "other");
    let other = elastane.application_added(&other, START_MS);
    // Each of 3 GB, on a node of 8 GB.
    for container in ["container_1", "container_2"] {
        assert!(commit(&elastane, container, other, node, START_MS));
    }
    let by_now = reason(&elastane, LARGE, START_MS);
    assert!(by_now.starts_with(&skipped), "{by_now}");
    assert!(by_now.ends_with("; by now all nodes are booked"), "{by_now}");
}

#[test]
fn a_user_at_capacity_schedulers_limit_is_told_with_its_queue() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    let node = busy_node(&elastane, "busy", &[]);
    waiting(&elastane, SMALL, "small", 1, 1);
    let named = elastane.round(node, free(), START_MS).unwrap();
    assert_eq!(named.len(), 1);
    let at_limit = Offer {
        node,
        free: free(),
        free_countables: &[],
        at_user_limit: &named,
        naming: Naming::Best,
    };
    assert_eq!(elastane.offer(at_limit, START_MS).unwrap(), []);

    let status = waiting_status(&elastane, SMALL, START_MS);
    assert_eq!(
        status["reason"],
        "CapacityScheduler gives user alice nothing more in queue root.default: the user is at its limit \
         (minimum-user-limit-percent, user-limit-factor)"
    );
    assert_eq!(status["limit_of"], "capacity-scheduler");
    assert_eq!(status["node"], Value::Null, "the limit is the same on all nodes");
}

const STARVES_AFTER_60_S: [(&str, &str); 1] = [("starvation.wait-ms", "60000")];

/// What the status says of the application that a node is kept for, and of a small one beside it.
/// `busy` runs there in two containers from the beginning, which is 71 s ago.
fn of_a_kept_node(elastane: &Elastane, busy: &str) -> [String; 2] {
    let node = busy_node(elastane, busy, &["container_1", "container_2"]);
    waiting(elastane, LARGE, "large", 1, 7);
    waiting(elastane, SMALL, "small", 1, 1);
    let now_ms = START_MS + 71_000;
    let in_use = [("container_1", GB), ("container_2", GB)];
    reply(elastane, 1, now_ms, &in_use);
    elastane.round(node, free(), now_ms).unwrap();
    [LARGE, SMALL].map(|id| reason(elastane, id, now_ms))
}

#[test]
fn a_kept_node_is_kept_for_somebody_until_a_planned_start() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", &[0.5; 40])]);
    let elastane = open_with(folder.path(), "enforce", &STARVES_AFTER_60_S);
    // It started in the slot from 999 s on, ends at 1,119 s, and now is 1,071 s.
    let start = "planned to start there in 48.0 s";
    assert_eq!(
        of_a_kept_node(&elastane, "busy"),
        [
            format!("{NODE}: the node is kept for it, {start}"),
            format!("{NODE}: the node is kept for {LARGE}, {start}"),
        ]
    );
}

#[test]
fn a_kept_node_has_no_planned_start_where_no_end_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open_with(folder.path(), "enforce", &STARVES_AFTER_60_S);
    let start = "to start there after containers that have no predicted end";
    assert_eq!(
        of_a_kept_node(&elastane, "unknown"),
        [
            format!("{NODE}: the node is kept for it, {start}"),
            format!("{NODE}: the node is kept for {LARGE}, {start}"),
        ]
    );
}

#[test]
fn who_is_in_observe_is_told_what_set_the_mode() {
    let folder = tempfile::tempdir().unwrap();
    let told = |tags: &[&str], settings: &[(&str, &str)]| {
        let elastane = open_with(folder.path(), "enforce", settings);
        // Each of 3 GB, on a node of 8 GB.
        let node = busy_node(&elastane, "busy", &["container_1", "container_2"]);
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let submission = Submission { tags, ..named_submission(SMALL, "small") };
        waiting_as(&elastane, &submission, 1, 3);
        let unasked = reason(&elastane, SMALL, START_MS);
        elastane.round(node, free(), START_MS).unwrap();
        let reason = reason(&elastane, SMALL, START_MS);
        elastane.close();
        (unasked, reason)
    };
    let tag = ["elastane.mode=observe"];
    let queue = [("mode.queue.root", "observe")];
    for ((unasked, reason), by) in [
        (told(&tag, &[]), "its tag elastane.mode"),
        (told(&[], &queue), "mode.queue of its queue or of one above"),
        (told(&tag, &queue), "its tag elastane.mode, and mode.queue of its queue or of one above"),
    ] {
        let expected = format!(
            "{NODE}: it is in mode observe, set by {by}, and starts only within a node's registered size: 6144 of \
             8192 MiB of memory are booked, and the application's next container would add 3072 MiB, 1024 MiB too \
             much"
        );
        assert_eq!(reason, expected);
        let end = format!("; no node is raised for it, since it is in mode observe, set by {by}");
        assert!(
            unasked.starts_with("all nodes are booked: ") && unasked.ends_with(&end),
            "{unasked}"
        );
    }
    let (unasked, reason) = told(&[], &[]);
    assert!(!unasked.contains("observe") && !reason.contains("observe"), "{unasked} {reason}");
}

#[test]
fn where_all_nodes_are_booked_the_sizes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    // Each of 3 GB, on a node of 8 GB.
    busy_node(&elastane, "busy", &["container_1", "container_2"]);
    waiting(&elastane, LARGE, "large", 1, 3);
    waiting(&elastane, SMALL, "small", 1, 2);
    assert_eq!(
        reason(&elastane, LARGE, START_MS),
        "all nodes are booked: its next container requests 3072 MiB, and no node has more than 2048 \
         MiB to book"
    );
    let otherwise = "not checked yet: no node that sent a heartbeat since it asked had unbooked \
                     capacity for its request";
    assert_eq!(reason(&elastane, SMALL, START_MS), otherwise);
}

fn share(queue: &str, capacity: f64, maximum: f64) -> QueueShare {
    QueueShare {
        queue: queue.to_owned(),
        is_leaf: queue != "root",
        capacity,
        maximum,
        ..QueueShare::default()
    }
}

/// A node of 8 GB that is raised, since an application waits that uses a third of what it requests.
fn raised_node(elastane: &Elastane, shares: Vec<QueueShare>) -> NodeId {
    elastane.configure_queues(shares);
    let node = register(elastane);
    waiting(elastane, "application_1_0070", "third", 9, 3);
    step(elastane, 0, 12);
    node
}

/// Reports and bookable capacity from one second to another.
fn step(elastane: &Elastane, from_s: i64, to_s: i64) {
    for second in from_s..=to_s {
        let now_ms = START_MS + second * 1_000;
        reply(elastane, second as u64, now_ms, &[]);
        elastane.bookable_changes(usize::MAX, now_ms);
    }
}

const AT_12_S: i64 = START_MS + 12_000;

/// Containers of 3 GB, of an application of `root.default` of which nothing is known.
fn unknown_containers(elastane: &Elastane, node: NodeId, containers: &[&str]) {
    let unknown = named_submission("application_1_0080", "unknown");
    let unknown = elastane.application_added(&unknown, AT_12_S);
    for container in containers {
        assert!(commit(elastane, container, unknown, node, AT_12_S));
    }
}

#[test]
fn a_queue_at_its_maximum_is_told_with_its_amounts() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("third", &[0.1; 40])]);
    let elastane = open(folder.path(), "enforce");
    let shares = vec![share("root", 1.0, 1.0), share("root.default", 0.5, 0.5)];
    let node = raised_node(&elastane, shares);
    unknown_containers(&elastane, node, &["container_1"]);
    waiting(&elastane, LARGE, "unknown", 1, 2);
    elastane.round(node, free(), AT_12_S).unwrap();
    assert_eq!(
        reason(&elastane, LARGE, AT_12_S),
        format!(
            "{NODE}: queue root.default is at its maximum-capacity: 3072 of 4096 MiB of memory are in predicted \
             use, and the application's next container would add 2048 MiB, 1024 MiB too much"
        )
    );
    elastane.finished("container_1", AT_12_S);
    assert_eq!(
        reason(&elastane, LARGE, AT_12_S),
        format!(
            "{NODE}: its queue or one above was at its maximum at the latest check, which holds no longer; the \
             node's next heartbeat checks again"
        )
    );
}

#[test]
fn a_user_at_its_limit_is_told_with_its_amounts() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("third", &[0.1; 40])]);
    let elastane = open(folder.path(), "enforce");
    let minimum_allocation = common::request(1);
    let limit = UserLimit { factor: 1.0, minimum_percent: 100.0, minimum_allocation };
    let of_default = QueueShare { user_limit: Some(limit), ..share("root.default", 0.5, 1.0) };
    let node = raised_node(&elastane, vec![share("root", 1.0, 1.0), of_default]);
    unknown_containers(&elastane, node, &["container_1", "container_2"]);
    waiting(&elastane, LARGE, "unknown", 1, 1);
    elastane.round(node, free(), AT_12_S).unwrap();
    let above = "6144 of 4096 MiB of memory, 2048 MiB too much";
    assert_eq!(
        reason(&elastane, LARGE, AT_12_S),
        format!(
            "{NODE}: user alice is above its limit in queue root.default, by requests ({above}) and by predicted \
             use ({above}); its next container starts once one of the two is within the limit"
        )
    );
}

#[test]
fn a_queue_that_yields_is_told_to_which_and_how_much_that_one_has() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("third", &[0.1; 40])]);
    let elastane = open(folder.path(), "enforce");
    let shares = [("root", 1.0), ("root.default", 0.5), ("root.other", 0.5)];
    let shares = shares.map(|(queue, capacity)| share(queue, capacity, 1.0));
    let node = raised_node(&elastane, shares.into());
    let third = named_submission("application_1_0071", "third");
    let third = elastane.application_added(&third, AT_12_S);
    for container in ["container_1", "container_2", "container_3"] {
        assert!(commit(&elastane, container, third, node, AT_12_S));
    }
    let owed = named_submission("application_1_0072", "unknown");
    let owed = Submission { queue: "root.other".to_owned(), ..owed };
    let owed = elastane.application_added(&owed, AT_12_S);
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    elastane.pending(
        owed,
        Ask { kind, priority: 0, request: common::request(6), count: 1 },
        AT_12_S,
    );
    step(&elastane, 13, 13);
    elastane.round(node, free(), AT_12_S + 1_000).unwrap();
    assert_eq!(
        reason(&elastane, "application_1_0070", AT_12_S + 1_000),
        format!(
            "{NODE}: queue root.other waits for its guarantee (it has 0 of 4096 MiB of memory) and goes first to \
             capacity above the node's registered size: 9216 of 8192 MiB of memory are booked, and the \
             application's next container would add 3072 MiB, 4096 MiB too much"
        )
    );
}

#[test]
fn what_the_core_found_is_no_reason_where_capacity_scheduler_decides_by_now() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", &[3.0; 20]), ("large", &[4.0; 5])]);
    let elastane = open(folder.path(), "enforce");
    let node = busy_node(&elastane, "busy", &["container_busy"]);
    waiting(&elastane, LARGE, "large", 1, 1);
    elastane.round(node, free(), START_MS).unwrap();
    let limit_of = || waiting_status(&elastane, LARGE, START_MS)["limit_of"].clone();
    assert_eq!(limit_of(), "elastane");
    elastane.apply_settings(common::settings(folder.path(), "observe", &[])).unwrap();
    assert_eq!(limit_of(), "capacity-scheduler");
}

#[test]
fn a_limit_that_mode_observe_sets_is_elastanes_before_a_round_as_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let told = |mode: &str, tags: &[&str]| {
        let elastane = open(folder.path(), mode);
        // Each of 3 GB, on a node of 8 GB.
        let node = busy_node(&elastane, "busy", &["container_1", "container_2"]);
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let submission = Submission { tags, ..named_submission(SMALL, "small") };
        waiting_as(&elastane, &submission, 1, 3);
        let told = || {
            let status = waiting_status(&elastane, SMALL, START_MS);
            let limit_of = status["limit_of"].as_str().unwrap().to_owned();
            (limit_of, status["reason"].as_str().unwrap().contains("mode observe"))
        };
        let before = told();
        elastane.round(node, free(), START_MS);
        let told = [before, told()];
        elastane.close();
        told
    };
    let tag = ["elastane.mode=observe"];
    assert_eq!(told("enforce", &tag), ["elastane", "elastane"].map(|it| (it.to_owned(), true)));
    assert_eq!(told("enforce", &[])[0], ("capacity-scheduler".to_owned(), false));
    // No node is raised for anybody.
    let of_cluster = told("observe", &tag);
    assert_eq!(of_cluster, [0, 1].map(|_| ("capacity-scheduler".to_owned(), false)));
}
