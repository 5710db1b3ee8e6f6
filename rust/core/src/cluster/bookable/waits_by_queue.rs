//! What waits in each queue.

use std::collections::HashMap;

use super::booked::Booked;
use super::demanded_of;
use super::shares::Shares;
use super::taken::{Next, Taken};
use super::waits::QueueWaits;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, Applications, Nodes};
use crate::cluster::waiting::WaitingTable;

/// By queue, what waits. CPU is counted as on the first node.
pub(super) fn waits_by_queue<'a>(
    settings: &ClusterSettings,
    shares: &Shares,
    nodes: &Nodes,
    applications: &'a Applications,
    waiting: &WaitingTable,
) -> HashMap<&'a str, QueueWaits> {
    let mut by_queue: HashMap<&str, QueueWaits> = HashMap::new();
    let Some(node) = nodes.entries().next() else {
        return by_queue;
    };
    for (line, predicted) in waiting.lines_predicted() {
        let Some(application) = applications.get(&line.application) else {
            continue;
        };
        let demanded = demanded_of(node, predicted, line.request, settings.virtual_cores_count);
        let taken = Taken { requested: Booked::from(line.request), demanded };
        let of_queue = by_queue.entry(&application.queue).or_default();
        of_queue.taken = of_queue.taken.plus(taken.times(line.executors));
        let is_skipped = line.skipped_since_ms.is_some() || line.user_at_limit;
        if !of_queue.for_room && !is_skipped && !line.asks_countables {
            let Application { queue, user, .. } = application;
            let active_users = waiting.users_in(queue);
            let label = &node.label;
            of_queue.for_room =
                shares.is_due(&Next { queue, label, user, active_users, container: taken });
        }
    }
    by_queue
}
