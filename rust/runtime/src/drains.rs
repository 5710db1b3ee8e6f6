//! Nodes that an administrator decommissions gracefully: their Spark executors are to leave, one after the other.
//!
//! YARN waits for the containers of such a node, and Elastane ends none of them: an executor that cannot leave stays.

use elastane_core::cluster::{Cluster, NodeId};

use crate::journal::MigrationCause;
use crate::migrations::Migrations;

/// An executor that did not handle the signal, or whose agent told no outcome, is asked again after this time.
const AGAIN_AFTER_MS: i64 = 30_000;
const REASON: &str = "the node is being decommissioned";

/// Asks that the next executor of a node leaves, if the node is being decommissioned and none of its executors leaves
/// already; gives the container whose agent is to be told.
pub(crate) fn ask_next(
    cluster: &Cluster,
    migrations: &mut Migrations,
    node: NodeId,
    now_ms: i64,
) -> Option<String> {
    let is_draining = cluster.node(node).is_some_and(|entry| entry.is_draining);
    if !is_draining || !cluster.decides(node, now_ms) {
        return None;
    }
    let open_for_ms = cluster.settings().fresh_for_ms;
    let turns = match migrations.in_progress(node, open_for_ms, now_ms) {
        Some(container) => vec![container.to_owned()],
        None => in_turn(cluster, migrations, node, now_ms),
    };
    let cause = MigrationCause::NodeDrained;
    let mut enforced = turns.into_iter().filter(|container| is_enforced(cluster, container));
    enforced.find(|container| migrations.ask(cluster, container, cause, REASON, now_ms))
}

/// Whether a container's application is in mode enforce.
fn is_enforced(cluster: &Cluster, container: &str) -> bool {
    let known = cluster.container(container);
    let application = known.and_then(|known| cluster.application(known.application));
    application.is_some_and(|application| !application.demands.are_withheld())
}

/// The containers of a node that may be asked, those first that were not asked yet.
fn in_turn(cluster: &Cluster, migrations: &Migrations, node: NodeId, now_ms: i64) -> Vec<String> {
    let again_after_ms = AGAIN_AFTER_MS.max(cluster.settings().fresh_for_ms);
    let is_recent = |latest_ms| now_ms.saturating_sub(latest_ms) <= again_after_ms;
    let containers = cluster.node(node).into_iter().flat_map(|entry| entry.containers());
    let mut turns: Vec<_> = containers
        .map(|(container, _)| (migrations.latest_ms(container), container))
        .filter(|(latest_ms, _)| !latest_ms.is_some_and(is_recent))
        .collect();
    turns.sort_by_key(|(latest_ms, _)| *latest_ms);
    turns.into_iter().map(|(_, container)| container.to_owned()).collect()
}
