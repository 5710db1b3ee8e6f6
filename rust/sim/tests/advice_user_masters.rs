//! A user's limit of application masters.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/past.rs"]
mod past_of;

use elastane_core::cluster::{QueueShare, UserLimit};
use elastane_runtime::PastCluster;
use elastane_sim::Advice;
use past_of::*;

/// Applications of one user, one after the other, each with a master of 1 GB and an executor; the node has room for two.
fn of_one_user() -> PastCluster {
    let one = |number: usize| {
        let begins_s = 150 * number as i64;
        let master = container(MASTER, 1, [0, begins_s, begins_s + 150]);
        let executor = container(EXECUTOR, 1, [begins_s, begins_s, begins_s + 150]);
        application(number, 0, vec![master, executor])
    };
    past((0..3).map(one).collect())
}

/// Half of the queue is for masters: two of them.
fn limited(factor: f64) -> Vec<QueueShare> {
    let minimum_allocation = request(1);
    let limit = UserLimit { factor, minimum_percent: 100.0, minimum_allocation };
    let of_all = queue("root.a", 1.0, 1.0);
    vec![QueueShare { masters: Some(0.5), user_limit: Some(limit), ..of_all }]
}

/// As CapacityScheduler.
fn mean_completion_s(past: &PastCluster, factor: f64) -> f64 {
    let advice = Advice::of(&PastCluster { queues: limited(factor), ..past.clone() });
    assert_eq!((advice.problem, advice.left_out), (None, 0));
    advice.capacity.unwrap().mean_completion_s
}

#[test]
fn a_users_masters_stay_within_its_limit() {
    let mut past = of_one_user();
    // Half of two masters is one at a time.
    assert_near(mean_completion_s(&past, 0.5), 300.0, 5.0);
    for factor in [1.0, -1.0] {
        assert_near(mean_completion_s(&past, factor), 200.0, 5.0);
    }
    // Each user has a limit of its own.
    past.applications[2].subject.user = "bob".to_owned();
    assert_near(mean_completion_s(&past, 0.5), 200.0, 5.0);
}
