//! Applications that cannot be placed for a reason that only CapacityScheduler knows hide no other.

use super::*;
use crate::policy::{JobOrder, Ursa};

/// Applications of the same demand, in the order of their submission, on a node with room for each.
fn cluster(count: usize) -> (Cluster, NodeId, Vec<ApplicationId>) {
    let settings = ClusterSettings { starvation_wait_ms: i64::MAX, ..settings() };
    let (mut cluster, node) = cluster_of_one(settings);
    let names = (0..count).map(|number| number.to_string());
    let of = |name: String| waiting(&mut cluster, &name, Demands::default(), ask(1, 1));
    let applications = names.map(of).collect();
    (cluster, node, applications)
}

fn best(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> Vec<ApplicationId> {
    cluster.round(node, request(8, 8), now_ms).unwrap()
}

fn named(cluster: &mut Cluster, node: NodeId, naming: Naming, now_ms: i64) -> Vec<ApplicationId> {
    let offer =
        Offer { node, free: request(8, 8), free_countables: &[0, 1], at_user_limit: &[], naming };
    cluster.offer(offer, now_ms).unwrap()
}

#[test]
fn a_skipped_application_goes_behind_the_others_and_comes_back() {
    let (mut cluster, node, ids) = cluster(3);
    assert_eq!(best(&mut cluster, node, 0), ids);
    cluster.skipped(node, &[ids[0]], 0);
    assert_eq!(best(&mut cluster, node, 999), [ids[1], ids[2], ids[0]]);
    assert_eq!(best(&mut cluster, node, 1_000), ids);
}

#[test]
fn a_skipped_application_waits_for_that_reason() {
    let (mut cluster, node, ids) = cluster(1);
    cluster.skipped(node, &ids, 0);
    best(&mut cluster, node, 0);
    assert_eq!(cluster.wait_reason(ids[0], 0), Some(WaitReason::Skipped { node }));
    assert!(matches!(place(&mut cluster, "c", ids[0], node, 0), Commit::Placed(_)));
    assert_eq!(cluster.wait_reason(ids[0], 0), None);
}

#[test]
fn each_skip_in_its_turn_doubles_the_rest_up_to_a_bound() {
    let (mut cluster, node, ids) = cluster(2);
    let mut now_ms = 0;
    for rest_ms in [1_000, 2_000, 4_000, 8_000, 16_000, 16_000] {
        cluster.reported(node, physical(), now_ms + rest_ms);
        cluster.skipped(node, &[ids[0]], now_ms);
        assert_eq!(best(&mut cluster, node, now_ms + rest_ms - 1), [ids[1], ids[0]], "{rest_ms}");
        now_ms += rest_ms;
        assert_eq!(best(&mut cluster, node, now_ms), ids, "{rest_ms}");
    }
    now_ms += 16_000;
    cluster.reported(node, physical(), now_ms);
    cluster.skipped(node, &[ids[0]], now_ms);
    assert_eq!(best(&mut cluster, node, now_ms + 1_000), [ids[1], ids[0]], "in time: doubled");
    now_ms += 60_000;
    cluster.reported(node, physical(), now_ms);
    cluster.skipped(node, &[ids[0]], now_ms);
    assert_eq!(best(&mut cluster, node, now_ms + 1_000), ids, "forgotten meanwhile");
}

#[test]
fn sixteen_skipped_ones_leave_the_places_to_the_next() {
    let (mut cluster, node, ids) = cluster(40);
    assert_eq!(best(&mut cluster, node, 0), ids[..16]);
    cluster.skipped(node, &ids[..16], 0);
    assert_eq!(best(&mut cluster, node, 0), ids[16..32]);
    cluster.skipped(node, &ids[16..32], 0);
    let order = best(&mut cluster, node, 0);
    assert_eq!(order[..8], ids[32..], "the rest first");
    assert_eq!(order[8..], ids[..8], "then those that rest");
}

#[test]
fn a_skip_counts_on_its_node_and_for_its_ask_alone() {
    let (mut cluster, node, ids) = cluster(2);
    let other = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(other, physical(), 0);
    cluster.skipped(node, &[ids[0]], 0);
    assert_eq!(best(&mut cluster, other, 0), ids, "another node");
    assert_eq!(best(&mut cluster, node, 0), [ids[1], ids[0]]);

    cluster.pending(ids[0], Ask { count: 3, ..ask(1, 1) }, 0);
    assert_eq!(best(&mut cluster, node, 0), [ids[1], ids[0]], "the same ask");
    let other_kind = Ask { kind: ContainerKind::Executor { priority: 2 }, ..ask(1, 1) };
    cluster.pending(ids[0], other_kind, 0);
    assert_eq!(best(&mut cluster, node, 0), ids, "another ask");
    cluster.skipped(node, &[ids[0]], 0);
    assert!(matches!(place(&mut cluster, "c", ids[0], node, 0), Commit::Placed(_)));
    assert_eq!(best(&mut cluster, node, 0)[0], ids[0], "it got a container there");
}

#[test]
fn skips_are_bounded_and_end_with_node_and_application() {
    let (mut cluster, node, ids) = cluster(600);
    cluster.skipped(node, &ids, 0);
    let order = best(&mut cluster, node, 0);
    assert_eq!(order, ids[256..272], "256 are remembered");
    cluster.application_removed(ids[0]);
    cluster.skipped(node, &ids[..2], 0);
    cluster.node_removed(node);
    cluster.skipped(node, &ids, 0);
    let again = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(again, physical(), 0);
    assert_eq!(best(&mut cluster, again, 0), ids[1..17]);
}

#[test]
fn a_clock_set_back_ends_a_rest() {
    let (mut cluster, node, ids) = cluster(2);
    cluster.skipped(node, &[ids[0]], 100_000);
    assert_eq!(best(&mut cluster, node, 0), ids);
}

#[test]
fn the_rest_is_all_that_the_same_rules_admit() {
    let (mut cluster, node, ids) = cluster(40);
    let large = waiting(&mut cluster, "large", Demands::default(), ask(9, 1));
    let rest = named(&mut cluster, node, Naming::Rest, 0);
    assert_eq!(rest, ids, "by number, and without {large:?}");
    assert_eq!(named(&mut cluster, node, Naming::Fitting, 0), ids);
}

#[test]
fn countable_resources_must_be_free_in_every_naming() {
    let (mut cluster, node, ids) = cluster(3);
    cluster.set_standing(ids[0], &[1], Standing::Ordered);
    cluster.set_standing(ids[1], &[0, 1], Standing::Ordered);
    for id in &ids {
        cluster.pending(*id, ask(1, 1), 0);
    }
    for naming in [Naming::Best, Naming::Rest, Naming::Fitting] {
        assert_eq!(named(&mut cluster, node, naming, 0), ids[1..], "{naming:?}");
    }
    cluster.set_standing(ids[0], &[0], Standing::Ordered);
    cluster.pending(ids[0], ask(1, 1), 0);
    assert_eq!(named(&mut cluster, node, Naming::Best, 0), ids);
}

/// Forty applications of one user, one of a second, and one of the first in another queue.
fn of_two_users(cluster: &mut Cluster) -> (ApplicationId, [ApplicationId; 2]) {
    let mut of = |name: &str, user, queue| {
        let application = Application::new(name, name, queue, Demands::default(), 0).by_user(user);
        let id = cluster.application_added(application);
        cluster.pending(id, ask(1, 1), 0);
        id
    };
    let first = of("first", "alice", "root.a");
    (1..40).for_each(|number| _ = of(&format!("{number}"), "alice", "root.a"));
    (first, [of("other user", "bob", "root.a"), of("other queue", "alice", "root.b")])
}

#[test]
fn a_user_that_capacity_scheduler_gives_nothing_more_takes_no_place_from_others() {
    let by_plan: Box<dyn Policy> = Box::new(MinFrag { peaks: Peaks::Strict });
    let one_by_one = Box::new(Ursa { order: JobOrder::EarliestFirst });
    for policy in [by_plan, one_by_one] {
        let mut cluster = Cluster::new(settings(), policy);
        let node = cluster.node_added("node-1:1", request(8, 8));
        cluster.reported(node, physical(), 0);
        let (first, others) = of_two_users(&mut cluster);
        for naming in [Naming::Best, Naming::Rest, Naming::Fitting] {
            let free = request(8, 8);
            let all = Offer { node, free, free_countables: &[], at_user_limit: &[], naming };
            let named = cluster.offer(all, 0).unwrap();
            assert!(named.contains(&first), "{naming:?}");
            let left_out = Offer { at_user_limit: &[first], ..all };
            let mut named = cluster.offer(left_out, 0).unwrap();
            named.sort_unstable();
            assert_eq!(named, others, "{naming:?}");
            let is_given_nothing = Some(WaitReason::UserAtCapacityLimit { node });
            assert_eq!(cluster.wait_reason(first, 0), is_given_nothing);
            let of_others = others.map(|id| cluster.wait_reason(id, 0));
            assert!(!of_others.contains(&is_given_nothing), "{of_others:?}");
        }
    }
}

#[test]
fn a_users_limit_counts_for_executors_without_a_label_on_nodes_without_a_label() {
    let (mut cluster, node, ids) = cluster(3);
    let master = Ask { kind: ContainerKind::ApplicationMaster, ..ask(1, 1) };
    cluster.pending(ids[1], master, 0);
    cluster.set_label(ids[2], "gpu");
    cluster.pending(ids[2], ask(1, 1), 0);
    let offer = Offer { at_user_limit: &ids[..1], ..Offer::best(node, request(8, 8)) };
    assert_eq!(cluster.offer(offer, 0).unwrap(), ids[1..]);
    assert_eq!(cluster.offer(Offer { at_user_limit: &[], ..offer }, 0).unwrap(), ids);
    cluster.offer(offer, 0);

    cluster.node_labelled(node, "gpu");
    cluster.reported(node, physical(), 0);
    assert_eq!(cluster.offer(offer, 0).unwrap(), ids);
}

#[test]
fn who_leaves_its_users_limit_is_not_told_the_limit_any_more() {
    for free in [request(8, 8), request(0, 0)] {
        let (mut cluster, node, ids) = cluster(2);
        let at_limit = Some(WaitReason::UserAtCapacityLimit { node });
        let offer = Offer { at_user_limit: &ids[..1], ..Offer::best(node, free) };
        cluster.offer(offer, 0);
        assert_eq!(cluster.wait_reason(ids[0], 0), at_limit);
        cluster.offer(Offer { at_user_limit: &[], ..offer }, 0);
        assert_ne!(cluster.wait_reason(ids[0], 0), at_limit, "{free:?}");
    }
}

#[test]
fn who_begins_to_ask_for_a_label_is_not_told_the_limit_on_nodes_without_it() {
    let (mut cluster, node, ids) = cluster(1);
    cluster.offer(Offer { at_user_limit: &ids, ..Offer::best(node, request(8, 8)) }, 0);
    let at_limit = Some(WaitReason::UserAtCapacityLimit { node });
    cluster.pending(ids[0], Ask { count: 3, ..ask(1, 1) }, 0);
    assert_eq!(cluster.wait_reason(ids[0], 0), at_limit, "it asks for the same nodes");
    cluster.set_label(ids[0], "gpu");
    cluster.pending(ids[0], ask(1, 1), 0);
    assert_ne!(cluster.wait_reason(ids[0], 0), at_limit);
}

#[test]
fn a_skip_on_a_node_without_the_label_that_is_asked_for_is_none_in_vain() {
    let (mut cluster, node, ids) = cluster(1);
    cluster.set_label(ids[0], "gpu");
    cluster.pending(ids[0], ask(1, 1), 0);
    let since_ms = |cluster: &Cluster| cluster.waiting.line_of(ids[0]).unwrap().skipped_since_ms;
    cluster.skipped(node, &ids, 5);
    assert_eq!(since_ms(&cluster), None);
    cluster.node_labelled(node, "gpu");
    cluster.skipped(node, &ids, 6);
    assert_eq!(since_ms(&cluster), Some(6));
    cluster.set_label(ids[0], "fpga");
    cluster.pending(ids[0], ask(1, 1), 7);
    assert_eq!(since_ms(&cluster), None, "it asks for other nodes");
}

#[test]
fn no_node_is_reserved_for_a_user_that_capacity_scheduler_gives_nothing_more() {
    let (mut cluster, node, ids) = cluster(1);
    cluster.pending(ids[0], ask(8, 8), 0);
    let free = request(4, 4);
    let offer = |at_user_limit| Offer { at_user_limit, ..Offer::best(node, free) };
    assert_eq!(cluster.offer(offer(&[]), 0).unwrap(), ids, "to be reserved for");
    assert_eq!(cluster.offer(offer(&ids), 0).unwrap(), []);
}

#[test]
fn no_round_names_an_application_of_a_queue_that_is_not_ordered() {
    let (mut cluster, node, ids) = cluster(3);
    cluster.set_standing(ids[0], &[], Standing::ByItsQueue);
    cluster.pending(ids[0], ask(1, 1), 0);
    for naming in [Naming::Best, Naming::Rest, Naming::Fitting] {
        assert_eq!(named(&mut cluster, node, naming, 0), ids[1..], "{naming:?}");
    }
    cluster.set_standing(ids[0], &[], Standing::Ordered);
    cluster.pending(ids[0], ask(1, 1), 0);
    assert_eq!(best(&mut cluster, node, 0), ids);
}

#[test]
fn no_node_is_kept_for_an_application_that_no_round_names() {
    let (mut cluster, node) = cluster_of_one(settings());
    let hog = waiting(&mut cluster, "hog", Demands::default(), ask(8, 4));
    place(&mut cluster, "hog", hog, node, 0);
    cluster.application_removed(hog);
    let large = waiting(&mut cluster, "large", Demands::default(), ask(8, 4));
    cluster.set_standing(large, &[], Standing::ByItsQueue);
    cluster.pending(large, ask(8, 4), 0);
    cluster.reported(node, physical(), 70_000);
    best(&mut cluster, node, 70_000);
    assert_eq!(KeptNode::of(&cluster), None);
    cluster.set_standing(large, &[], Standing::Ordered);
    cluster.pending(large, ask(8, 4), 0);
    best(&mut cluster, node, 71_000);
    assert!(KeptNode::of(&cluster).is_some(), "otherwise it would be");
}
