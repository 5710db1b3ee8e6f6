//! An application goes first while it would otherwise miss its deadline.

use super::*;
use crate::policy::{ElastanePolicy, Favor};

const SLOT: i64 = crate::SLOT_MS as i64;
/// The length of every executor here.
const LIFE_SLOTS: i64 = 20;
const LIFE_MS: i64 = LIFE_SLOTS * SLOT;

fn cluster() -> (Cluster, NodeId) {
    let policy = ElastanePolicy { peaks: Peaks::Strict, favor: Favor::Balanced };
    let mut cluster = Cluster::new(settings(), Box::new(policy));
    let node = cluster.node_added("node-1:1", request(8, 8));
    (cluster, node)
}

fn submitted(
    cluster: &mut Cluster,
    name: &str,
    deadline_ms: Option<i64>,
    demands: Demands,
    ask: Ask,
) -> ApplicationId {
    let application = Application::new(name, name, "root.default", demands, 0);
    let id = cluster.application_added(application.due_by(deadline_ms));
    cluster.pending(id, ask, 0);
    id
}

/// Nine executors with a deadline.
fn large(cluster: &mut Cluster, deadline_ms: i64) -> ApplicationId {
    let demands = learned(&[1.0; LIFE_SLOTS as usize], 1.0);
    submitted(cluster, "large", Some(deadline_ms), demands, ask(1, 1))
}

/// One executor; the policy puts it first.
fn small(cluster: &mut Cluster) -> ApplicationId {
    let demands = learned(&[0.5; LIFE_SLOTS as usize], 1.0);
    submitted(cluster, "small", None, demands, Ask { count: 1, ..ask(1, 1) })
}

/// Starts a container that uses `cores` of the node's 4 cores for 30 s.
fn busy(cluster: &mut Cluster, node: NodeId, cores: f64) {
    cluster.reported(node, physical(), 0);
    let hog = waiting(cluster, "hog", learned(&[cores; 10], 1.0), ask(1, 1));
    assert!(matches!(place(cluster, "hog", hog, node, 0), Commit::Placed(_)));
    cluster.application_removed(hog);
}

fn order(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> Vec<ApplicationId> {
    cluster.reported(node, physical(), now_ms);
    cluster.round(node, request(8, 8), now_ms).unwrap()
}

#[test]
fn it_goes_first_from_one_life_before_its_latest_start_until_it_is_too_late() {
    let (mut cluster, node) = cluster();
    let latest_start_ms = 2 * LIFE_MS;
    let late = large(&mut cluster, latest_start_ms + LIFE_MS);
    // Neither starves meanwhile.
    cluster.settings.starvation_wait_ms = i64::MAX;
    let usual = small(&mut cluster);
    let from_ms = latest_start_ms - LIFE_MS;
    let until_ms = latest_start_ms + LIFE_MS / 10;
    for (now_ms, first, second) in [
        (from_ms - 1, usual, late),
        (from_ms, late, usual),
        (until_ms, late, usual),
        (until_ms + 1, usual, late),
    ] {
        assert_eq!(order(&mut cluster, node, now_ms), [first, second], "at {now_ms} ms");
    }
}

#[test]
fn of_several_the_one_that_has_to_start_first_goes_first() {
    let (mut cluster, node) = cluster();
    let later = large(&mut cluster, 2 * LIFE_MS);
    let sooner = large(&mut cluster, 2 * LIFE_MS - 1);
    let usual = small(&mut cluster);
    assert_eq!(order(&mut cluster, node, 0), [sooner, later, usual]);
}

#[test]
fn priorities_and_starving_applications_go_before_it() {
    let (mut cluster, node) = cluster();
    busy(&mut cluster, node, 3.8);
    let starving = small(&mut cluster);
    let now_ms = settings().starvation_wait_ms;
    let tiny = || learned(&[0.1; LIFE_SLOTS as usize], 1.0);
    let due = submitted(&mut cluster, "due", Some(now_ms + 2 * LIFE_MS), tiny(), ask(1, 1));
    let important =
        submitted(&mut cluster, "important", None, tiny(), Ask { priority: 1, ..ask(1, 1) });
    assert_eq!(order(&mut cluster, node, now_ms), [important, starving, due]);
}

#[test]
fn without_a_predicted_end_nobody_knows_when_it_has_to_start() {
    let (mut cluster, node) = cluster();
    let usual = small(&mut cluster);
    let unknown = submitted(&mut cluster, "unknown", Some(LIFE_MS), Demands::default(), ask(1, 1));
    assert_eq!(order(&mut cluster, node, 0), [usual, unknown]);
}

#[test]
fn its_start_is_planned_before_all_others_and_not_once_it_is_too_late() {
    for (deadline_ms, is_first) in [(2 * LIFE_MS, true), (LIFE_MS / 2, false)] {
        let (mut cluster, node) = cluster();
        busy(&mut cluster, node, 3.5);
        let wide = learned(&[4.0; LIFE_SLOTS as usize], 1.0);
        let wide = submitted(&mut cluster, "wide", Some(deadline_ms), wide, ask(1, 1));
        // It fits now, and would take a part of what the other one waits for.
        let fits = small(&mut cluster);
        crate::cluster::plan_starts(&mut cluster, 0);
        let named = order(&mut cluster, node, 0);
        assert_eq!(named, if is_first { vec![] } else { vec![fits] });
        let why = cluster.wait_reason(fits, 0);
        let waits = matches!(why, Some(WaitReason::Behind { behind, .. }) if behind == wide);
        assert_eq!(waits, is_first, "{why:?}");
    }
}

#[test]
fn its_master_does_not_wait_for_running_applications_that_lack_memory() {
    let (mut cluster, node) = cluster();
    cluster.reported(node, physical(), 0);
    let runs = waiting(&mut cluster, "runs", Demands::default(), ask(5, 1));
    place(&mut cluster, "1", runs, node, 0);
    let master = Ask { kind: ContainerKind::ApplicationMaster, count: 1, ..ask(1, 1) };
    let of_master = || {
        let known = learned(&[0.1; LIFE_SLOTS as usize], 1.0);
        let predicted = known.of(ContainerKind::DEFAULT_EXECUTOR).cloned();
        Demands::from_iter([(ContainerKind::ApplicationMaster, predicted.unwrap())])
    };
    let usual = submitted(&mut cluster, "usual", None, of_master(), master);
    let due = submitted(&mut cluster, "due", Some(2 * LIFE_MS), of_master(), master);
    assert_eq!(order(&mut cluster, node, 0), [due, usual], "no round has refused anyone yet");
    assert_eq!(order(&mut cluster, node, 0), [due]);
}
