//! What waits in each queue for nodes of each label.

use std::collections::HashMap;

use super::booked::Booked;
use super::demanded_of;
use super::shares::Shares;
use super::taken::{Next, Taken};
use super::waits::WaitsByQueue;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, Applications, NodeEntry, Nodes};
use crate::cluster::waiting::WaitingTable;

/// By queue and the label asked for, what waits. CPU is counted as on the first node of the label. Nothing is known of
/// what waits for a label that no node has.
pub(super) fn waits_by_queue<'a>(
    settings: &ClusterSettings,
    shares: &Shares,
    nodes: &Nodes,
    applications: &'a Applications,
    waiting: &WaitingTable,
) -> WaitsByQueue<'a> {
    let mut by_queue = WaitsByQueue::new();
    let mut first_of_label: HashMap<&str, Option<&NodeEntry>> = HashMap::new();
    let first_of = |label: &str| nodes.entries().find(|entry| *entry.label == *label);
    for (line, predicted) in waiting.lines_predicted() {
        let Some(application) = applications.get(&line.application) else {
            continue;
        };
        let label = &*application.label;
        let Some(node) = *first_of_label.entry(label).or_insert_with(|| first_of(label)) else {
            continue;
        };
        let demanded = demanded_of(node, predicted, line.request, settings.virtual_cores_count);
        let taken = Taken { requested: Booked::from(line.request), demanded };
        let of_queue = by_queue.entry((&*application.queue, label)).or_default();
        of_queue.taken = of_queue.taken.plus(taken.times(line.executors));
        let is_skipped = line.skipped_since_ms.is_some() || line.user_at_limit;
        if !of_queue.for_room && !is_skipped && !line.asks_countables {
            let Application { queue, user, .. } = application;
            let active_users = waiting.users_in(queue);
            of_queue.for_room =
                shares.is_due(&Next { queue, label, user, active_users, container: taken });
        }
    }
    by_queue
}
