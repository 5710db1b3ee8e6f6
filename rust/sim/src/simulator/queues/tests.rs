//! What queues and their users may take.

use elastane_core::Demand;
use elastane_core::cluster::{Request, UserLimit};
use elastane_core::{Resources, SLOT_MS};

use super::*;
use crate::workload::{ApplicationSpec, Errors, Parts};

pub(super) fn memory(memory_bytes: u64) -> Request {
    Request { memory_bytes, vcores: 1 }
}

/// Applications of these queues and users, each with requests of so much memory, which alone counts.
pub(super) fn queues(queues: Vec<QueueSpec>, applications: &[(usize, &str, u64)]) -> Queues {
    let of_memory: Vec<_> =
        applications.iter().map(|(queue, user, bytes)| (*queue, *user, memory(*bytes))).collect();
    counting(queues, &of_memory, false)
}

pub(super) fn counting(
    queues: Vec<QueueSpec>,
    applications: &[(usize, &str, Request)],
    virtual_cores_count: bool,
) -> Queues {
    let actual = Demand::series(SLOT_MS, &[Resources::ZERO]).unwrap();
    let spec = |(queue, user, request): &(usize, &str, Request)| ApplicationSpec {
        name: String::new(),
        queue: *queue,
        user: (*user).to_owned(),
        submitted_ms: 0,
        deadline_ms: None,
        executors: 1,
        request: *request,
        predicted: None,
        actual: actual.clone(),
        lengths: None,
        errors: Errors::default(),
    };
    let workload = Workload {
        name: String::new(),
        machines: Vec::new(),
        heartbeat_ms: 1_000,
        queues,
        applications: applications.iter().map(spec).collect(),
        masters: Vec::new(),
    };
    Queues::new(&workload, virtual_cores_count)
}

/// What may be booked, by memory alone.
pub(super) fn all_of(memory_bytes: u64) -> Request {
    Request { memory_bytes, vcores: 0 }
}

pub(super) fn parent(path: &str, capacity: f64, maximum: f64) -> QueueSpec {
    QueueSpec { is_leaf: false, maximum: Parts::both(maximum), ..QueueSpec::new(path, capacity) }
}

fn order(queues: &Queues, mut named: Vec<usize>) -> Vec<usize> {
    queues.order(&mut named, Request::default(), |application| *application);
    named
}

#[test]
fn the_queue_that_uses_the_smallest_part_of_its_capacity_comes_first() {
    let queue = QueueSpec::new;
    let mut queues = queues(
        vec![queue("root.large", 0.8), queue("root.small", 0.2)],
        &[(0, "ada", 10), (0, "ada", 10), (1, "ada", 10)],
    );
    assert_eq!(order(&queues, vec![1, 2, 0]), [1, 0, 2], "the one that is named first");
    queues.started(0);
    assert_eq!(order(&queues, vec![1, 2, 0]), [2, 1, 0]);
    queues.started(2);
    assert_eq!(order(&queues, vec![1, 2, 0]), [1, 0, 2], "10 of 0.8 and of 0.2");
    queues.ended(2);
    assert_eq!(order(&queues, vec![1, 2, 0]), [2, 1, 0]);
}

#[test]
fn queues_are_asked_from_the_top() {
    // `root.p` uses more of its part than `root.c`, although `root.p.b` below it uses nothing.
    let queue = QueueSpec::new;
    let all = vec![
        queue("root.p.a", 0.25),
        queue("root.p.b", 0.25),
        queue("root.c", 0.5),
        parent("root.p", 0.5, 1.0),
    ];
    let mut queues = queues(all, &[(0, "ada", 20), (1, "ada", 10), (2, "ada", 10)]);
    queues.started(0);
    queues.started(2);
    assert_eq!(order(&queues, vec![0, 1, 2]), [2, 1, 0]);
    queues.started(2);
    queues.started(2);
    assert_eq!(order(&queues, vec![0, 2, 1]), [1, 0, 2]);
}

#[test]
fn the_queues_below_one_stay_within_its_maximum_together() {
    let queue = QueueSpec::new;
    let all = |maximum| {
        vec![
            queue("root.p.a", 0.25),
            queue("root.p.b", 0.25),
            // Not below `root.p`, whose path is the beginning of its own.
            queue("root.pb", 0.5),
            parent("root.p", 0.5, maximum),
        ]
    };
    let applications = [(0, "ada", 30), (1, "ada", 30), (2, "ada", 30)];
    let may_have = |maximum| {
        let mut queues = queues(all(maximum), &applications);
        assert!(queues.may_have(1, all_of(100)));
        queues.started(0);
        (queues.may_have(1, all_of(100)), queues.may_have(2, all_of(100)))
    };
    assert_eq!(may_have(0.5), (false, true));
    assert_eq!(may_have(0.6), (true, true));
}

pub(super) fn limited(factor: f64, minimum_percent: f64) -> QueueSpec {
    let minimum_allocation = Request { memory_bytes: 1 << 20, vcores: 0 };
    let user_limit = Some(UserLimit { factor, minimum_percent, minimum_allocation });
    QueueSpec { user_limit, ..QueueSpec::new("root.a", 0.5) }
}

const MIB: u64 = 1 << 20;

/// How many containers of 10 MiB the first of two users, who both wait, gets of 100 MiB.
fn of_first_user(queue: QueueSpec, others_wait: bool) -> usize {
    let applications = [(0, "ada", 10 * MIB), (0, "bob", 10 * MIB)];
    let mut queues = queues(vec![queue], &applications);
    queues.begins_to_wait(0);
    if others_wait {
        queues.begins_to_wait(1);
    }
    for count in 0..10 {
        if !queues.may_have(0, all_of(100 * MIB)) {
            return count;
        }
        queues.started(0);
    }
    10
}

#[test]
fn a_user_gets_its_factor_of_the_queue_and_one_container_more() {
    assert_eq!(of_first_user(limited(1.0, 100.0), false), 6, "half of all, and one");
    assert_eq!(of_first_user(limited(0.5, 100.0), false), 3, "25 MiB, the last one beyond them");
    assert_eq!(of_first_user(limited(-1.0, 100.0), false), 10);
}

#[test]
fn users_who_wait_share_a_queue() {
    // A user's limit grows with what the queue takes beyond its guarantee: half of 60 MiB is 30.
    assert_eq!(of_first_user(limited(1.0, 25.0), true), 3);
    assert_eq!(of_first_user(limited(1.0, 25.0), false), 6);
    let alone_again = {
        let applications = [(0, "ada", 10 * MIB), (0, "bob", 10 * MIB)];
        let mut queues = queues(vec![limited(1.0, 25.0)], &applications);
        for application in [0, 1] {
            queues.begins_to_wait(application);
        }
        for _ in 0..3 {
            queues.started(0);
        }
        let beside = queues.may_have(0, all_of(100 * MIB));
        queues.waits_no_more(1);
        (beside, queues.may_have(0, all_of(100 * MIB)))
    };
    assert_eq!(alone_again, (false, true));
}

#[test]
fn the_core_is_told_of_all_queues_and_their_limits_of_users() {
    let all = vec![limited(2.0, 50.0), parent("root.p", 0.5, 0.6)];
    let shares = queues(all, &[]).shares();
    let told: Vec<_> =
        shares.iter().map(|it| (it.queue.as_str(), it.is_leaf, it.maximum)).collect();
    assert_eq!(told, [("root", false, 1.0), ("root.a", true, 1.0), ("root.p", false, 0.6)]);
    assert_eq!(shares[1].user_limit.map(|limit| limit.factor), Some(2.0));
}

#[test]
fn where_virtual_cores_count_the_dominant_share_does() {
    let all = || vec![QueueSpec::new("root.b", 0.5), limited(1.0, 100.0)];
    let of_cores = Request { memory_bytes: MIB, vcores: 4 };
    let of_memory = Request { memory_bytes: 20 * MIB, vcores: 1 };
    let bookable = Request { memory_bytes: 100 * MIB, vcores: 10 };
    let mut queues = counting(all(), &[(0, "ada", of_memory), (1, "ada", of_cores)], true);
    assert!(queues.need_bookable());
    queues.started(0);
    queues.started(1);
    let mut named = vec![1, 0];
    queues.order(&mut named, bookable, |application| *application);
    assert_eq!(named, [0, 1], "a fifth of the memory, and two fifths of the virtual cores");
    assert!(queues.may_have(1, bookable), "4 of 5 virtual cores");
    queues.started(1);
    assert!(!queues.may_have(1, bookable), "8 of 5 virtual cores");
}
