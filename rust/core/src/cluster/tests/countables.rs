//! Applications that ask for GPUs or other resource types do not starve.

use super::*;
use crate::cluster::WaitReason;

/// The starvation wait and ten seconds.
const KEPT_FROM_MS: i64 = 70_000;

fn offer(cluster: &mut Cluster, node: NodeId, gpus: u64, now_ms: i64) -> Vec<ApplicationId> {
    offer_as(cluster, node, gpus, Naming::Best, now_ms)
}

fn offer_as(
    cluster: &mut Cluster,
    node: NodeId,
    gpus: u64,
    naming: Naming,
    now_ms: i64,
) -> Vec<ApplicationId> {
    cluster.reported(node, physical(), now_ms);
    let offer =
        Offer { node, free: request(4, 4), free_countables: &[gpus], at_user_limit: &[], naming };
    cluster.offer(offer, now_ms).unwrap()
}

/// An application that has waited since then for containers of 1 GB.
fn with_gpus(cluster: &mut Cluster, demands: Demands, gpus: u64, since_ms: i64) -> ApplicationId {
    let application = Application::new("gpu", "gpu", "root.default", demands, since_ms);
    let id = cluster.application_added(application);
    cluster.set_standing(id, &[gpus], Standing::Ordered);
    cluster.pending(id, ask(1, 1), since_ms);
    id
}

/// A node that was offered with two GPUs, and an application that has waited for both of them since time 0.
fn node_of_two() -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    offer(&mut cluster, node, 2, 0);
    let both = with_gpus(&mut cluster, learned(&[0.1; 20], 0.1), 2, 0);
    (cluster, node, both)
}

fn kept_node(cluster: &Cluster) -> Option<NodeId> {
    KeptNode::of(cluster).map(|kept| kept.node)
}

#[test]
fn a_node_may_be_reserved_for_one_that_lacks_gpus_which_the_node_has() {
    let (mut cluster, node) = cluster_of_one(settings());
    let both = with_gpus(&mut cluster, Demands::default(), 2, 0);
    let one = with_gpus(&mut cluster, Demands::default(), 1, 0);
    assert_eq!(offer(&mut cluster, node, 1, 0), [one], "no node is known to have two");
    assert_eq!(offer(&mut cluster, node, 2, 0), [both, one]);
    assert_eq!(offer(&mut cluster, node, 1, 0), [one, both]);
    assert_eq!(offer_as(&mut cluster, node, 0, Naming::Fitting, 0), [both, one]);
    let other = cluster.node_added("node-2:1", request(8, 8));
    assert_eq!(offer(&mut cluster, other, 1, 0), [one], "it has one");

    cluster.node_resized(node, request(9, 8));
    assert_eq!(offer(&mut cluster, node, 1, 0), [one], "it may have less now");
    offer(&mut cluster, node, 2, 0);
    cluster.raise_to_ceiling(0);
    assert_eq!(offer(&mut cluster, node, 1, 0), [one], "no raised node is reserved");
}

#[test]
fn containers_with_one_gpu_each_do_not_starve_one_that_needs_two() {
    let (mut cluster, node, both) = node_of_two();
    let mut ends_ms: Vec<i64> = vec![30_000, 60_000];
    for now_ms in (0..300_000).step_by(3_000) {
        ends_ms.retain(|end_ms| *end_ms > now_ms);
        let one = with_gpus(&mut cluster, learned(&[0.1; 20], 0.1), 1, now_ms);
        let named = offer(&mut cluster, node, 2 - ends_ms.len() as u64, now_ms);
        if named.contains(&both) {
            assert_eq!(now_ms, 120_000, "both that began before the node was kept have ended");
            return;
        }
        if named.contains(&one) {
            ends_ms.push(now_ms + 60_000);
        }
        cluster.application_removed(one);
    }
    panic!("the one with two was never named");
}

#[test]
fn a_node_kept_for_its_gpus_is_kept_from_those_that_take_gpus_or_the_owners_room() {
    let (mut cluster, node, both) = node_of_two();
    let since_ms = KEPT_FROM_MS - 1_000;
    let mut of = |gb, gpus| {
        let id = with_gpus(&mut cluster, learned(&[0.1; 20], 0.1), gpus, since_ms);
        cluster.pending(id, ask(gb, 1), since_ms);
        id
    };
    let (one_gpu, leaves_room, leaves_none) = (of(1, 1), of(3, 0), of(4, 0));
    let mut named = offer(&mut cluster, node, 1, since_ms);
    named.sort_unstable();
    assert_eq!(named, [one_gpu, leaves_room, leaves_none], "no node is kept yet");

    assert_eq!(offer(&mut cluster, node, 1, KEPT_FROM_MS), [leaves_room]);
    let kept = KeptNode::of(&cluster).unwrap();
    assert_eq!((kept.node, kept.application, kept.start_ms), (node, both, None));
    for waits in [one_gpu, leaves_none] {
        assert_eq!(cluster.wait_reason(waits, KEPT_FROM_MS), Some(WaitReason::Kept(kept)));
    }
    assert_eq!(offer(&mut cluster, node, 2, KEPT_FROM_MS), [both], "now it has its room");

    let given_up_ms = KEPT_FROM_MS + 5 * 60_000;
    assert!(offer(&mut cluster, node, 1, given_up_ms).contains(&one_gpu), "not for ever");
}

#[test]
fn a_node_that_has_the_gpus_is_kept_and_while_none_is_known_one_that_may_have_them() {
    let (mut cluster, first) = cluster_of_one(settings());
    let second = cluster.node_added("node-2:1", request(8, 8));
    let without = cluster.node_added("node-3:1", request(8, 8));
    with_gpus(&mut cluster, Demands::default(), 2, 0);
    offer(&mut cluster, without, 0, KEPT_FROM_MS);
    assert_eq!(kept_node(&cluster), None, "none is known to have any");

    let rested_ms = KEPT_FROM_MS + 61_000;
    offer(&mut cluster, second, 1, KEPT_FROM_MS);
    offer(&mut cluster, second, 1, rested_ms);
    assert_eq!(kept_node(&cluster), Some(second), "it may have two");

    let next_ms = rested_ms + 2 * 5 * 60_000 + 2_000;
    offer(&mut cluster, second, 1, rested_ms + 5 * 60_000);
    assert_eq!(kept_node(&cluster), None, "given up");
    cluster.offer(Offer { free_countables: &[2], ..silent(first) }, next_ms);
    cluster.reported(first, physical(), next_ms);
    offer(&mut cluster, second, 1, next_ms);
    assert_eq!(kept_node(&cluster), Some(first), "it has two");
}

/// An offer that tells what a node has and names nobody.
fn silent(node: NodeId) -> Offer<'static> {
    Offer {
        node,
        free: request(0, 0),
        free_countables: &[],
        at_user_limit: &[],
        naming: Naming::Best,
    }
}

#[test]
fn one_waits_for_its_turn_only_if_as_many_gpus_were_placed_meanwhile() {
    for (gpus, keeps) in [(0, true), (1, true), (2, false)] {
        let (mut cluster, node, _) = node_of_two();
        let other = with_gpus(&mut cluster, learned(&[0.1], 0.1), gpus, 65_000);
        cluster.reported(node, physical(), 65_000);
        assert!(matches!(place(&mut cluster, "other", other, node, 65_000), Commit::Placed(_)));
        offer(&mut cluster, node, 1, KEPT_FROM_MS);
        assert_eq!(kept_node(&cluster).is_some(), keeps, "{gpus} GPUs");
    }
}
