//! The parts of all queues, by path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::part::{Part, QueueShare};
use super::taken::{Taken, TakenBy, with_ancestors};

/// Each queue has a part of the nodes of each label. A queue that CapacityScheduler no longer has is forgotten with its
/// last container.
#[derive(Debug, Default)]
pub(super) struct Queues {
    parts: BTreeMap<Arc<str>, Vec<Part>>,
}

impl Queues {
    /// The queues as they are now configured.
    pub(super) fn configure(&mut self, shares: Vec<QueueShare>) {
        self.parts.values_mut().flatten().for_each(|part| part.share = None);
        for share in shares {
            let (queue, label) = (share.queue.as_str().into(), share.label.as_str().into());
            self.part(&queue, &label).share = Some(share);
        }
        self.forget_empty();
    }

    pub(super) fn started(&mut self, by: &TakenBy) {
        for queue in with_ancestors(&by.queue) {
            let part = self.part(&queue.into(), &by.label);
            part.taken = part.taken.plus(by.taken);
        }
        self.part(&by.queue, &by.label).leaf_started(by);
    }

    pub(super) fn ended(&mut self, by: &TakenBy) {
        self.part(&by.queue, &by.label).leaf_ended(by);
        let mut is_forgotten = false;
        for queue in with_ancestors(&by.queue) {
            let part = self.part(&queue.into(), &by.label);
            part.taken = part.taken.minus(by.taken);
            is_forgotten |= part.share.is_none() && part.taken == Taken::default();
        }
        if is_forgotten {
            self.forget_empty();
        }
    }

    fn part(&mut self, queue: &Arc<str>, label: &Arc<str>) -> &mut Part {
        let parts = self.parts.entry(Arc::clone(queue)).or_default();
        let place = parts.iter().position(|part| part.label == *label).unwrap_or_else(|| {
            parts.push(Part { label: Arc::clone(label), ..Part::default() });
            parts.len() - 1
        });
        &mut parts[place]
    }

    fn forget_empty(&mut self) {
        self.parts.retain(|_, parts| {
            parts.retain(|part| part.share.is_some() || part.taken != Taken::default());
            !parts.is_empty()
        });
    }

    /// The part of a queue that is configured.
    pub(super) fn known(&self, queue: &str, label: &str) -> Option<&Part> {
        self.parts.get(queue)?.iter().find(|part| &*part.label == label && part.share.is_some())
    }

    /// The paths of all queues.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.parts.keys()
    }

    /// Every part with its queue's path.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Part)> {
        self.parts.iter().flat_map(|(queue, parts)| parts.iter().map(move |part| (queue, part)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        self.parts.values_mut().flatten()
    }
}
