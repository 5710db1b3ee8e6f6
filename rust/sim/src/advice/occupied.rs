//! How long nodes had a container in fact, and each application's part of that time.

use std::collections::BTreeMap;

use elastane_core::Resources;
use elastane_runtime::{PastCluster, PastContainer};

use super::groups::Groups;
use crate::workload::dominant_share;

/// A container that starts or ends on a node.
struct Change {
    node: u32,
    at_ms: i64,
    /// The place of the container.
    container: usize,
}

/// A container that is replayed.
struct Counted<'a> {
    application: &'a str,
    /// Of the nodes of its label.
    dominant_share: f64,
}

/// By application, in seconds: as in the simulator, a node's time is divided among its containers by the dominant shares
/// of their requests.
pub(super) fn occupied_s(groups: &Groups<'_>, past: &PastCluster) -> BTreeMap<String, f64> {
    let mut counted = Vec::new();
    let mut changes = Vec::new();
    for application in groups.applications() {
        for container in &application.containers {
            let from_ms = container.started_ms.max(past.since_ms);
            let until_ms = container.ended_ms.unwrap_or(past.until_ms);
            if from_ms < until_ms {
                let place = counted.len();
                let change = |at_ms| Change { node: container.node.0, at_ms, container: place };
                changes.extend([from_ms, until_ms].map(change));
                counted.push(Counted {
                    application: &application.subject.application_id,
                    dominant_share: share(groups, container),
                });
            }
        }
    }
    changes.sort_by_key(|change| (change.node, change.at_ms));
    divided(&counted, &changes)
}

fn share(groups: &Groups<'_>, container: &PastContainer) -> f64 {
    let nodes: Resources = groups.nodes_of(&container.label);
    dominant_share(groups.counted(container.request), nodes)
}

fn divided(counted: &[Counted<'_>], changes: &[Change]) -> BTreeMap<String, f64> {
    let mut parts_s: BTreeMap<String, f64> = BTreeMap::new();
    let mut running: Vec<usize> = Vec::new();
    let mut since_ms = 0;
    for change in changes {
        // None runs at the first change of a node.
        let length_s = (change.at_ms - since_ms) as f64 / 1e3;
        let whole: f64 = running.iter().map(|it| counted[*it].dominant_share).sum();
        for Counted { application, dominant_share } in running.iter().map(|it| &counted[*it]) {
            if length_s > 0.0 {
                let part_s = length_s * dominant_share / whole;
                *parts_s.entry((*application).to_owned()).or_default() += part_s;
            }
        }
        since_ms = change.at_ms;
        match running.iter().position(|it| *it == change.container) {
            Some(place) => drop(running.swap_remove(place)),
            None => running.push(change.container),
        }
    }
    parts_s
}
