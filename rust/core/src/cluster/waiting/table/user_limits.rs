//! The waiting applications whose users are at CapacityScheduler's limit.

use super::WaitingTable;
use crate::cluster::state::{ApplicationId, Applications, NodeId};
use crate::cluster::waiting::Note;

impl WaitingTable {
    /// Marks the rows of the users and queues of `applications`: on nodes without a label, CapacityScheduler gives these
    /// users nothing more there. Neither application masters are marked, to which CapacityScheduler tells the limit only
    /// if they are named, nor asks for a label. A row that is not marked any more loses the note of the limit.
    pub(crate) fn mark_users_at_limit(
        &mut self,
        applications: &[ApplicationId],
        known: &Applications,
        node: NodeId,
    ) {
        if applications.is_empty() && !self.is_any_user_at_limit {
            return;
        }
        // By the number of the queue, sorted: a round looks here for each row.
        let mut users_of_queues: Vec<Vec<&str>> = vec![Vec::new(); self.queues.end()];
        for application in applications.iter().filter_map(|id| known.get(id)) {
            if let Some(queue) = self.queues.number_of(&application.queue) {
                users_of_queues[queue as usize].push(&application.user);
            }
        }
        users_of_queues.iter_mut().for_each(|users| users.sort_unstable());
        self.is_any_user_at_limit = false;
        let rows = self.lines.iter_mut().zip(&self.users).zip(&mut self.notes);
        for ((line, user), note) in rows {
            line.user_at_limit = !line.kind.is_application_master()
                && !line.asks_label
                && users_of_queues[line.queue as usize].binary_search(&&**user).is_ok();
            if line.user_at_limit {
                *note = Note::UserAtCapacityLimit { node };
                self.is_any_user_at_limit = true;
            } else {
                forget(note);
            }
        }
    }
}

/// Rounds write a note only where they refuse a row: the note of a limit that does not hold would stay.
pub(super) fn forget(note: &mut Note) {
    if matches!(note, Note::UserAtCapacityLimit { .. }) {
        *note = Note::None;
    }
}
