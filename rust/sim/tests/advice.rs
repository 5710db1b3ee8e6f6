//! What mode `enforce` would have made of what happened.

#[path = "common/past.rs"]
mod past_of;

use elastane_core::cluster::{QueueShare, UserLimit};
use elastane_runtime::PastCluster;
use elastane_sim::Advice;
use past_of::*;

#[test]
fn those_that_fit_by_demand_do_not_wait_for_each_other() {
    let advice = Advice::of(&past(in_turn()));
    assert_eq!(advice.problem, None);
    let (capacity, enforce) = (advice.capacity.unwrap(), advice.enforce.unwrap());
    assert_near(advice.recorded.mean_completion_s, 240.0, 0.1);
    assert_near(capacity.mean_completion_s, 240.0, 5.0);
    assert_near(capacity.makespan_s, 360.0, 5.0);
    assert_near(capacity.mean_wait_s, 120.0, 5.0);
    assert_near(capacity.node_hours, 0.1, 0.002);
    assert_near(enforce.mean_completion_s, 120.0, 10.0);
    assert_eq!((advice.containers, advice.containers_earlier), (3, 2));
    // Nodes grow in steps.
    assert_near(advice.mean_earlier_s, 170.0, 20.0);
    let error = advice.replay_error.unwrap();
    assert_near(error.mean_completion, 0.0, 0.02);
    let [last, ..] = &advice.by_application[..] else { panic!("no application") };
    assert_eq!(last.id, "application_1_0002", "who gains most comes first");
    assert_near(last.gain.capacity_completion_s - last.gain.enforce_completion_s, 225.0, 20.0);
    assert_eq!(advice.queues[0].queue, "root.a");
    assert_eq!(advice.queues[0].applications, 3);
}

#[test]
fn executors_share_the_work_of_their_application() {
    // Each fills the node by request; the one that came second did less of the work.
    let executors = vec![container(EXECUTOR, 4, [0, 0, 100]), container(EXECUTOR, 4, [0, 60, 100])];
    let advice = Advice::of(&past(vec![application(1, 0, executors)]));
    // 100 s and 40 s of work by two.
    assert_near(advice.enforce.unwrap().mean_completion_s, 70.0, 8.0);
}

#[test]
fn a_masters_request_and_its_start_count() {
    // Two applications whose master and executor fill the node together; the executors are asked for after 30 s.
    let one = |number: usize| {
        let begins_s = 150 * number as i64;
        let master = container(MASTER, 2, [0, begins_s, begins_s + 150]);
        let asked_s = begins_s + 30;
        let executor = container(EXECUTOR, 2, [asked_s, asked_s, begins_s + 150]);
        application(number, 0, vec![master, executor])
    };
    let advice = Advice::of(&past((0..2).map(one).collect()));
    assert_near(advice.recorded.mean_completion_s, 225.0, 0.1);
    let capacity = advice.capacity.unwrap();
    // The first 30 s, in which half a node is booked, are 15 s of the whole node.
    assert_near(capacity.mean_completion_s, 217.0, 8.0);
    assert_near(advice.enforce.unwrap().mean_completion_s, 150.0, 15.0);
}

#[test]
fn masters_stay_within_their_queues_limit() {
    // One after the other, each with a master of 1 GB and an executor.
    let one = |number: usize, executor_gb: u64| {
        let begins_s = 150 * number as i64;
        let master = container(MASTER, 1, [0, begins_s, begins_s + 150]);
        let executor = container(EXECUTOR, executor_gb, [begins_s, begins_s, begins_s + 150]);
        application(number, 0, vec![master, executor])
    };
    let root = |masters| vec![QueueShare { masters, ..queue("root.a", 1.0, 1.0) }];
    // The node has room for two of them, but the queue may have one master.
    let mut limited = past((0..3).map(|number| one(number, 1)).collect());
    limited.queues = root(Some(0.25));
    let advice = Advice::of(&limited);
    assert_near(advice.recorded.mean_completion_s, 300.0, 0.1);
    assert_near(advice.capacity.unwrap().mean_completion_s, 300.0, 5.0);
    assert_near(advice.replay_error.unwrap().makespan, 0.0, 0.02);
    assert_near(advice.enforce.unwrap().mean_completion_s, 300.0, 5.0);
    for masters in [None, Some(0.5)] {
        limited.queues = root(masters);
        let advice = Advice::of(&limited);
        assert_near(advice.capacity.unwrap().mean_completion_s, 200.0, 5.0);
        assert!(advice.enforce.unwrap().mean_completion_s < 205.0, "{masters:?}");
    }

    // Booked up, the node is raised for whom the limit holds back, and the limit is a part of the raised size.
    let mut booked_up = past((0..3).map(|number| one(number, 3)).collect());
    booked_up.queues = root(Some(0.25));
    // Virtual cores are not booked up, and are raised less.
    booked_up.settings.cluster.virtual_cores_count = false;
    let advice = Advice::of(&booked_up);
    assert_near(advice.capacity.unwrap().mean_completion_s, 300.0, 5.0);
    assert_near(advice.enforce.unwrap().mean_completion_s, 160.0, 15.0);
}

#[test]
fn a_queue_stays_within_its_maximum() {
    let mut at_its_maximum = past(in_turn());
    at_its_maximum.nodes = vec![at_its_maximum.nodes[0].clone(); 2];
    // Of two nodes the queue may have one: one executor at a time.
    at_its_maximum.queues = vec![queue("root.a", 0.5, 0.5), queue("root.b", 0.5, 1.0)];
    let advice = Advice::of(&at_its_maximum);
    assert_eq!(advice.problem, None);
    assert_near(advice.capacity.unwrap().mean_completion_s, 240.0, 5.0);
    at_its_maximum.queues = vec![queue("root.a", 0.5, 1.0), queue("root.b", 0.5, 1.0)];
    let capacity = Advice::of(&at_its_maximum).capacity.unwrap();
    assert_near(capacity.mean_completion_s, 160.0, 5.0);
    // What is larger than the maximum never starts.
    at_its_maximum.queues = vec![queue("root.a", 0.25, 0.25), queue("root.b", 0.75, 1.0)];
    let advice = Advice::of(&at_its_maximum);
    assert_eq!((advice.applications, advice.left_out), (0, 3));
}

#[test]
fn queues_below_one_stay_within_its_maximum_together() {
    let mut below_one = past(in_turn());
    below_one.nodes = vec![below_one.nodes[0].clone(); 2];
    for (application, leaf) in below_one.applications.iter_mut().zip(["a", "b", "a"]) {
        application.subject.queue = format!("root.p.{leaf}");
    }
    let mut mean_completion_s = |maximum| {
        let above = QueueShare { is_leaf: false, ..queue("root.p", 0.5, maximum) };
        let root = QueueShare { is_leaf: false, ..queue("root", 1.0, 1.0) };
        let leaves = ["root.p.a", "root.p.b"].map(|path| queue(path, 0.25, 1.0));
        below_one.queues = [root, above].into_iter().chain(leaves).collect();
        let advice = Advice::of(&below_one);
        assert_eq!((&advice.problem, advice.left_out), (&None, 0));
        advice.capacity.unwrap().mean_completion_s
    };
    // Of two nodes they may have one: one executor at a time, as without the second node.
    assert_near(mean_completion_s(0.5), 240.0, 5.0);
    assert_near(mean_completion_s(1.0), 160.0, 5.0);
    // What is larger than what the queue above may have never starts.
    let above = QueueShare { is_leaf: false, ..queue("root.p", 0.5, 0.25) };
    below_one.queues = vec![above, queue("root.p.a", 0.25, 1.0), queue("root.p.b", 0.25, 1.0)];
    let advice = Advice::of(&below_one);
    assert_eq!((advice.applications, advice.left_out), (0, 3));
}

#[test]
fn a_user_stays_within_its_limit() {
    let mut of_users = past(in_turn());
    of_users.nodes = vec![of_users.nodes[0].clone(); 4];
    let limited = |factor| {
        let minimum_allocation = request(1);
        let limit = UserLimit { factor, minimum_percent: 100.0, minimum_allocation };
        vec![QueueShare { user_limit: Some(limit), ..queue("root.a", 0.25, 1.0) }]
    };
    let mean_completion_s = |past: &PastCluster| {
        let advice = Advice::of(past);
        assert_eq!(advice.problem, None);
        advice.capacity.unwrap().mean_completion_s
    };
    // A node's worth and one container more: two executors at a time of the same user.
    of_users.queues = limited(1.0);
    assert_near(mean_completion_s(&of_users), 160.0, 5.0);
    of_users.queues = limited(2.0);
    assert_near(mean_completion_s(&of_users), 120.0, 5.0);
    // Nor does mode enforce lift it: what it wins, the raised sizes win.
    of_users.queues = limited(1.0);
    let [limited_s, free_s] = [limited(1.0), limited(-1.0)].map(|queues| {
        let past = PastCluster { queues, ..of_users.clone() };
        Advice::of(&past).enforce.unwrap().mean_completion_s
    });
    assert!(limited_s > free_s + 5.0, "{limited_s} s with the limit, {free_s} s without");
    // Each user has a limit of its own.
    of_users.applications[2].subject.user = "bob".to_owned();
    assert_near(mean_completion_s(&of_users), 120.0, 5.0);
}

#[test]
fn a_multiple_of_no_guarantee_limits_no_user() {
    let mut of_nothing = past(in_turn());
    of_nothing.nodes = vec![of_nothing.nodes[0].clone(); 3];
    let minimum_allocation = request(1);
    let limit = UserLimit { factor: 1.0, minimum_percent: 100.0, minimum_allocation };
    of_nothing.queues = vec![QueueShare { user_limit: Some(limit), ..queue("root.a", 0.0, 1.0) }];
    assert_near(Advice::of(&of_nothing).capacity.unwrap().mean_completion_s, 120.0, 5.0);
}

#[test]
fn only_the_part_in_the_record_of_what_ran_before_is_replayed() {
    let mut applications = in_turn();
    // It began an hour before the record, and fills the node for another minute.
    let long = container(EXECUTOR, 4, [-3_600, -3_600, 60]);
    applications.truncate(1);
    applications[0] = application(0, 0, vec![container(EXECUTOR, 4, [0, 60, 180])]);
    applications.push(application(1, -3_600, vec![long]));
    let advice = Advice::of(&past(applications));
    assert_eq!((advice.problem, advice.applications, advice.not_compared), (None, 1, 1));
    assert_near(advice.recorded.mean_completion_s, 180.0, 0.1);
    assert_near(advice.capacity.unwrap().mean_completion_s, 180.0, 8.0);
}

#[test]
fn a_queue_that_is_not_known_holds_nobody_back() {
    let mut elsewhere = past(in_turn());
    elsewhere.queues = vec![queue("root.b", 1.0, 1.0)];
    let advice = Advice::of(&elsewhere);
    assert_eq!(advice.queues[0].queue, "root.a");
    assert_near(advice.capacity.unwrap().mean_completion_s, 240.0, 5.0);
}

#[test]
fn executors_that_are_asked_for_later_share_the_work_too() {
    // Each fills the node by request; the second is asked for after 60 s and waits until 100 s.
    let executors =
        vec![container(EXECUTOR, 4, [0, 0, 200]), container(EXECUTOR, 4, [60, 100, 200])];
    let advice = Advice::of(&past(vec![application(1, 0, executors)]));
    // 300 s of work by one until 60 s, then by two: 60 + 240 / 2.
    assert_near(advice.enforce.unwrap().mean_completion_s, 180.0, 10.0);
}

#[test]
fn without_a_master_executors_are_asked_for_as_long_after_the_submission_as_they_were() {
    let executor = container(EXECUTOR, 4, [300, 300, 420]);
    let advice = Advice::of(&past(vec![application(1, 0, vec![executor])]));
    assert_near(advice.recorded.mean_completion_s, 420.0, 0.1);
    assert_near(advice.capacity.unwrap().mean_completion_s, 420.0, 5.0);
    assert_near(advice.capacity.unwrap().mean_wait_s, 0.0, 2.0);
}

#[test]
fn a_second_attempt_comes_after_the_first() {
    // The first master fails after 100 s, the second one's executor ends the application.
    let containers = vec![
        container(MASTER, 1, [0, 0, 100]),
        container(EXECUTOR, 1, [15, 15, 100]),
        container(MASTER, 1, [100, 100, 215]),
        container(EXECUTOR, 1, [115, 115, 215]),
    ];
    let advice = Advice::of(&past(vec![application(1, 0, containers)]));
    assert_near(advice.recorded.mean_completion_s, 215.0, 0.1);
    assert_near(advice.recorded.mean_wait_s, 0.0, 0.1);
    assert_near(advice.capacity.unwrap().mean_completion_s, 215.0, 10.0);
}

#[test]
fn what_the_record_does_not_have_whole_is_not_compared() {
    let mut applications = in_turn();
    applications[2].ended_ms = None;
    applications[1].submitted_ms = SINCE_MS - 1;
    let advice = Advice::of(&past(applications.clone()));
    assert_eq!((advice.applications, advice.not_compared), (1, 2));
    // They take their places all the same.
    assert_eq!(advice.problem, None);
    applications.truncate(1);
    applications[0].series.clear();
    let advice = Advice::of(&past(applications));
    assert_eq!((advice.applications, advice.left_out), (0, 1));
    assert!(advice.problem.unwrap().contains("no application"));
}

#[test]
fn an_empty_record_says_so() {
    let advice = Advice::of(&past(Vec::new()));
    assert!(advice.problem.unwrap().contains("no application"));
    assert_eq!((advice.capacity, advice.enforce), (None, None));
}
