//! What application masters may take.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use super::*;
use crate::simulator::queues::tests::{all_of, counting, limited, memory, parent, queues};
use crate::workload::Parts;

#[test]
fn masters_have_a_part_of_what_the_other_queues_leave() {
    let masters = Some(MastersLimit { part: 0.1, step: memory(4) });
    let queue = |path, capacity| QueueSpec { masters, ..QueueSpec::new(path, capacity) };
    let mut queues = queues(
        vec![
            QueueSpec { maximum: Parts::both(0.9), ..queue("root.a", 0.3) },
            QueueSpec::new("root.b", 0.7),
        ],
        &[(1, "ada", 400), (1, "ada", 350), (0, "ada", 100)],
    );
    let limit = |queues: &Queues| queues.masters_limit(0, all_of(1_000)).unwrap().memory_bytes;
    assert_eq!(limit(&queues), 92, "a tenth of its maximum, in steps of 4");
    queues.started(0);
    assert_eq!(limit(&queues), 60, "of what root.b leaves");
    queues.started(2);
    assert_eq!(limit(&queues), 60, "its own counts as its own");
    queues.started(1);
    assert_eq!(limit(&queues), 32, "of its guarantee");
    assert_eq!(queues.masters_limit(1, all_of(1_000)), None);
}

#[test]
fn masters_have_a_part_of_what_the_queue_above_leaves() {
    let masters = Some(MastersLimit { part: 0.1, step: memory(1) });
    let leaf = QueueSpec { masters, ..QueueSpec::new("root.p.a", 0.1) };
    let sibling = QueueSpec::new("root.p.b", 0.1);
    let all = vec![leaf, sibling, parent("root.p", 0.5, 0.6)];
    let mut queues = queues(all, &[(1, "ada", 200)]);
    assert_eq!(queues.masters_limit(0, all_of(1_000)), Some(all_of(60)));
    queues.started(0);
    assert_eq!(queues.masters_limit(0, all_of(1_000)), Some(all_of(40)), "less its sibling's");
}

#[test]
fn a_users_masters_have_a_part_of_the_queues_guarantee() {
    let limit = |factor, minimum_percent, applications: &[(usize, &str, u64)]| {
        let masters = Some(MastersLimit { part: 0.1, step: memory(1) });
        let mut queues =
            queues(vec![QueueSpec { masters, ..limited(factor, minimum_percent) }], applications);
        for held in 1..applications.len() {
            queues.begins_to_be_held(held);
        }
        let limits = queues.masters_limits(0, all_of(1_000));
        assert_eq!(limits.of_queue, Some(all_of(100)), "of all, since nothing else runs");
        limits.of_user.unwrap().memory_bytes
    };
    let [alone, same, other] = [vec![], vec![(0, "ada", 1)], vec![(0, "bob", 1)]]
        .map(|others| [vec![(0, "ada", 1)], others].concat());
    assert_eq!(limit(1.0, 100.0, &other), 50, "a tenth of its half");
    assert_eq!(limit(1.0, 25.0, &alone), 50);
    assert_eq!(limit(1.0, 25.0, &same), 50, "another one of the same user");
    assert_eq!(limit(1.0, 25.0, &other), 25, "half of it, since another user waits");
    assert_eq!(limit(1.0, 60.0, &other), 30, "its minimum");
    assert_eq!(limit(2.0, 25.0, &other), 50);
    assert_eq!(limit(-1.0, 25.0, &other), 50, "without a factor all of the queue's");
}

#[test]
fn a_user_with_a_huge_factor_has_no_limit_of_masters() {
    let one = Request { memory_bytes: 1 << 30, vcores: 4 };
    let masters = Some(MastersLimit { part: 0.1, step: one });
    let queue = QueueSpec { masters, ..limited(1e9, 100.0) };
    let queues = counting(vec![queue], &[(0, "ada", one)], true);
    let bookable = Request { memory_bytes: 500 << 40, vcores: 100_000 };
    let largest = Request { memory_bytes: u64::MAX, vcores: u32::MAX };
    assert_eq!(queues.user_masters_limit(0, bookable), Some(largest));
}

/// What may be booked.
const BOTH: Request = Request { memory_bytes: 1_000, vcores: 1_000 };

fn both(memory_bytes: u64, vcores: u32) -> Request {
    Request { memory_bytes, vcores }
}

/// A tenth of what a queue with this maximum and half of all as its guarantee may have, while another one uses this.
fn beside(used: Request, maximum: Parts) -> Request {
    let masters = Some(MastersLimit { part: 0.1, step: both(1, 1) });
    let own = QueueSpec { masters, maximum, ..QueueSpec::new("root.a", 0.5) };
    let other = QueueSpec::new("root.b", 0.5);
    let mut queues = counting(vec![own, other], &[(1, "ada", used)], true);
    queues.started(0);
    queues.masters_limit(0, BOTH).unwrap()
}

#[test]
fn the_guarantee_counts_where_less_is_left_of_one_resource() {
    let all = Parts::both(1.0);
    assert_eq!(beside(both(100, 400), all), both(90, 60));
    assert_eq!(
        beside(both(100, 900), all),
        both(50, 50),
        "its guarantee, although it is less memory"
    );
}

#[test]
fn a_maximum_or_what_is_left_counts_as_a_whole() {
    let maximum = Parts { memory: 0.7, vcores: 0.8 };
    assert_eq!(beside(both(100, 300), maximum), both(70, 80), "the maximum, also of virtual cores");
    assert_eq!(beside(both(350, 250), maximum), both(65, 75));
    assert_eq!(beside(both(250, 100), maximum), both(70, 80), "0.8 is less than 0.9");
}

#[test]
fn a_users_limit_gives_way_to_the_queues_as_a_whole() {
    let masters = Some(MastersLimit { part: 0.1, step: both(1, 1) });
    let capacity = Parts { memory: 0.5, vcores: 0.3 };
    let limits = |factor, used| {
        let queue = QueueSpec { masters, capacity, ..limited(factor, 100.0) };
        let other = QueueSpec::new("root.b", 0.5);
        let mut queues = counting(vec![queue, other], &[(0, "ada", BOTH), (1, "bob", used)], true);
        queues.started(1);
        let limits = queues.masters_limits(0, BOTH);
        (limits.of_queue.unwrap(), limits.of_user.unwrap())
    };
    let used = both(400, 500);
    assert_eq!(limits(1.0, used), (both(60, 50), both(50, 30)));
    assert_eq!(limits(1.5, used), (both(60, 50), both(60, 50)), "not 75 and 45");
}
