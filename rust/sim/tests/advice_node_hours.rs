//! Whose node-hours they are.

#[path = "common/past.rs"]
mod past_of;

use elastane_sim::Advice;
use past_of::*;

/// Together they fill the node's memory by request for 120 s; the second one asks for three times as much as the first.
fn side_by_side() -> Vec<elastane_runtime::PastApplication> {
    let one =
        |number: usize, gb: u64| application(number, 0, vec![container(EXECUTOR, gb, [0, 0, 120])]);
    let mut both = vec![one(0, 1), one(1, 3)];
    both[1].subject.queue = "root.b".to_owned();
    both
}

#[test]
fn a_nodes_time_is_divided_among_its_containers_and_the_parts_add_up() {
    let mut past = past(side_by_side());
    past.queues = vec![queue("root.a", 0.5, 1.0), queue("root.b", 0.5, 1.0)];
    let advice = Advice::of(&past);
    let (small, large) = (&advice.queues[0].gain, &advice.queues[1].gain);
    let all = 120.0 / 3_600.0;
    assert_near(small.recorded_node_hours, 0.25 * all, 1e-9);
    assert_near(large.recorded_node_hours, 0.75 * all, 1e-9);
    // The replay places one container a second.
    assert_near(small.capacity_node_hours, 0.25 * all, 0.03 * all);
    assert_near(large.capacity_node_hours, 0.75 * all, 0.03 * all);
    for (figures, of) in [
        (advice.recorded, [small.recorded_node_hours, large.recorded_node_hours]),
        (advice.capacity.unwrap(), [small.capacity_node_hours, large.capacity_node_hours]),
        (advice.enforce.unwrap(), [small.enforce_node_hours, large.enforce_node_hours]),
    ] {
        assert_near(of.iter().sum(), figures.node_hours, 1e-9);
    }
    // Three of four virtual cores are as much as three quarters of the memory, where virtual cores count.
    past.applications[0].containers[0].request.vcores = 3;
    for (counts, part) in [(true, 0.5), (false, 0.25)] {
        past.settings.cluster.virtual_cores_count = counts;
        let small = Advice::of(&past).queues[0].gain;
        assert_near(small.recorded_node_hours, part * all, 1e-9);
        assert_near(small.capacity_node_hours, part * all, 0.03 * all);
    }
}

#[test]
fn what_mode_enforce_packs_together_takes_fewer_node_hours() {
    let advice = Advice::of(&past(in_turn()));
    let all = advice.queues[0].gain;
    assert_near(all.recorded_node_hours, 0.1, 1e-9);
    assert_near(all.capacity_node_hours, advice.capacity.unwrap().node_hours, 1e-9);
    assert!(all.enforce_node_hours < 0.05, "{all:?}");
    // Each filled the node alone for 120 s, and shares it in mode enforce.
    for one in &advice.by_application {
        assert_near(one.gain.recorded_node_hours, 120.0 / 3_600.0, 1e-9);
        assert!(one.gain.enforce_node_hours < 0.7 * one.gain.capacity_node_hours, "{one:?}");
    }
}

#[test]
fn a_master_and_what_is_not_compared_have_their_parts() {
    let with_master = vec![container(MASTER, 1, [0, 0, 120]), container(EXECUTOR, 1, [0, 0, 120])];
    let mut applications = vec![
        application(0, 0, with_master),
        application(1, 0, vec![container(EXECUTOR, 2, [0, 0, 120])]),
    ];
    applications[1].ended_ms = None;
    let advice = Advice::of(&past(applications));
    assert_eq!((advice.applications, advice.not_compared), (1, 1));
    let half = 0.5 * advice.recorded.node_hours;
    assert_near(advice.by_application[0].gain.recorded_node_hours, half, 1e-9);
    let half = 0.5 * advice.capacity.unwrap().node_hours;
    assert_near(advice.by_application[0].gain.capacity_node_hours, half, 0.1 * half);
}
