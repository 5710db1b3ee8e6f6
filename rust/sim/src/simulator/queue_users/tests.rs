//! What the users of a queue take together, and how many of them wait.

use super::*;
use crate::simulator::masters::tests::workload;

/// Two applications of ada and one of bob in one queue, and one of eve in another.
fn users() -> QueueUsers {
    let mut applications =
        workload(&[("", 0, 0), ("", 0, 0), ("", 0, 0), ("", 1, 0)], vec![]).applications;
    for (application, user) in applications.iter_mut().zip(["ada", "ada", "bob", "eve"]) {
        application.user = user.to_owned();
    }
    QueueUsers::new(&applications, 2)
}

const fn request(memory_bytes: u64, vcores: u32) -> Request {
    Request { memory_bytes, vcores }
}

#[test]
fn what_is_consumed_follows_starts_ends_and_what_may_be_booked() {
    let mut users = users();
    let all = request(100, 100);
    assert_eq!(users.consumed(0, all), 0.0);
    users.started(0, request(25, 1));
    users.started(3, request(50, 1));
    assert_eq!(users.consumed(0, all), 0.25);
    users.started(2, request(1, 50));
    assert_eq!(users.consumed(0, all), 0.75, "dominant shares of two users, not that of 26 and 51");
    assert_eq!(users.consumed(0, request(50, 100)), 1.0, "half the memory may be booked");
    users.ended(0, request(25, 1));
    assert_eq!(users.consumed(0, all), 0.5);
    assert_eq!(users.consumed(1, all), 0.5);
}

#[test]
fn without_virtual_cores_the_sum_of_memory_is_consumed() {
    let mut users = users();
    users.started(1, request(25, 0));
    users.started(2, request(50, 0));
    assert_eq!(users.consumed(0, request(100, 0)), 0.75);
    users.ended(1, request(25, 0));
    assert_eq!(users.consumed(0, request(200, 0)), 0.25);
}

#[test]
fn a_user_counts_once_however_many_of_its_applications_wait() {
    let mut users = users();
    let counts = |users: &QueueUsers| (users.active(0), users.active_for_masters(2));
    assert_eq!(counts(&users), (0, 1), "bob asks");
    users.begins_to_wait(0);
    users.begins_to_be_held(1);
    users.begins_to_be_held(3);
    assert_eq!(counts(&users), (1, 2));
    users.begins_to_be_held(2);
    assert_eq!(counts(&users), (1, 2), "bob counts already");
    users.waits_no_more(0);
    assert_eq!(counts(&users), (0, 2), "a master of ada is held");
    users.is_held_no_more(1);
    assert_eq!(counts(&users), (0, 1));
    assert_eq!(users.active_for_masters(0), 2, "ada asks");
}
