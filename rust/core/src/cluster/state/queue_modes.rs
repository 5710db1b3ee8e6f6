//! In which queues the core's decisions count.

use std::collections::BTreeMap;

use crate::cluster::bookable::with_ancestors;

/// Modes of queues by their paths.
#[derive(Debug, Default)]
pub(super) struct QueueModes {
    enforce_by_path: BTreeMap<String, bool>,
}

impl QueueModes {
    pub(super) fn new(enforce_by_path: BTreeMap<String, bool>) -> Self {
        Self { enforce_by_path }
    }

    /// Whether a queue is in observe: it, or else the nearest queue above that has a mode.
    pub(super) fn observes(&self, queue: &str) -> bool {
        let mode = with_ancestors(queue).find_map(|path| self.enforce_by_path.get(path));
        mode.is_some_and(|enforces| !enforces)
    }
}
