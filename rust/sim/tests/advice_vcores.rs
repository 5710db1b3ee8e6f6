//! Limits by virtual cores, where CapacityScheduler counts them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/past.rs"]
mod past_of;

use elastane_core::cluster::{QueueShare, Request, UserLimit};
use elastane_runtime::PastCluster;
use elastane_sim::Advice;
use past_of::*;

/// Three executors, each with a quarter of a node's memory and all of its virtual cores.
fn of_cores(nodes: usize) -> PastCluster {
    let mut past = past(in_turn());
    past.nodes = vec![past.nodes[0].clone(); nodes];
    for container in past.applications.iter_mut().flat_map(|it| &mut it.containers) {
        container.request = Request { vcores: 4, ..request(1) };
    }
    past
}

/// As CapacityScheduler, where virtual cores count and where they do not.
fn mean_completions_s(past: &PastCluster) -> [f64; 2] {
    [true, false].map(|counts| {
        let mut past = past.clone();
        past.settings.cluster.virtual_cores_count = counts;
        let advice = Advice::of(&past);
        assert_eq!((advice.problem, advice.left_out), (None, 0));
        advice.capacity.unwrap().mean_completion_s
    })
}

#[track_caller]
fn assert_both(past: &PastCluster, expected_s: [f64; 2]) {
    let found_s = mean_completions_s(past);
    for (found_s, expected_s) in found_s.into_iter().zip(expected_s) {
        assert_near(found_s, expected_s, 5.0);
    }
}

#[test]
fn a_queue_stays_within_its_maximum() {
    let mut past = of_cores(4);
    // Of four nodes the queue may have one.
    past.queues = vec![queue("root.a", 0.25, 0.25)];
    assert_both(&past, [240.0, 120.0]);
    past.queues = vec![queue("root.a", 0.25, 1.0)];
    assert_both(&past, [120.0, 120.0]);
}

#[test]
fn a_queue_stays_within_an_amount() {
    let mut past = of_cores(4);
    let at_most = Some(Request { memory_bytes: 16 * GB, vcores: 4 });
    past.queues = vec![QueueShare { at_most, ..queue("root.a", 0.25, 1.0) }];
    assert_both(&past, [240.0, 120.0]);
    // What asks for more than the amount never starts.
    let at_most = Some(Request { memory_bytes: 16 * GB, vcores: 3 });
    past.queues = vec![QueueShare { at_most, ..queue("root.a", 0.25, 1.0) }];
    let advice = Advice::of(&past);
    assert_eq!((advice.applications, advice.left_out), (0, 3));
}

#[test]
fn a_user_stays_within_its_limit() {
    let mut past = of_cores(4);
    let limit = UserLimit {
        factor: 1.0,
        minimum_percent: 100.0,
        minimum_allocation: Request { vcores: 1, ..request(1) },
    };
    past.queues = vec![QueueShare { user_limit: Some(limit), ..queue("root.a", 0.25, 1.0) }];
    // A node's worth and one container more.
    assert_both(&past, [160.0, 120.0]);
}

#[test]
fn masters_stay_within_their_queues_limit() {
    // One after the other, each with half a node.
    let one = |number: usize| {
        let begins_s = 150 * number as i64;
        let mut master = container(MASTER, 1, [0, begins_s, begins_s + 150]);
        master.request.vcores = 3;
        let executor = container(EXECUTOR, 1, [begins_s, begins_s, begins_s + 150]);
        application(number, 0, vec![master, executor])
    };
    let mut past = past((0..3).map(one).collect());
    past.nodes[0].registered.vcores = 8;
    // Masters may have 2 GB and 4 virtual cores: two by memory, one by virtual cores.
    past.queues = vec![QueueShare { masters: Some(0.5), ..queue("root.a", 1.0, 1.0) }];
    assert_both(&past, [300.0, 200.0]);
}
