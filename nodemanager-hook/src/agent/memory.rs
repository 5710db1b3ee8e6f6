//! Memory limits that are about to be hit: raised at once, when the kernel says so, rather than
//! with the next reading.

use std::{sync::Arc, time::Instant};

use elastane_protocol::Limits;

use super::{Agent, container::Container, limits::Wanted};
use crate::{
    audit::Reason,
    cgroups::Controller,
    memory_watch::{Cause, MemoryWatch, Wake, WatchId},
    once::Once,
};

/// The watch of a container's memory group, and the limit that it waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    id: WatchId,
    limit_bytes: u64,
}

impl Agent {
    /// What a thread of its own waits for; what it wakes with goes to [`Self::memory_woke`].
    pub fn memory_watch(&self) -> Arc<MemoryWatch> {
        Arc::clone(&self.memory_watch)
    }

    /// Raises the limits of containers that are about to hit them with what they need. Where page
    /// cache fills the limit nothing changes.
    pub fn memory_woke(&mut self, wakes: Vec<Wake>, now: Instant) {
        if self.stopped {
            return;
        }
        for wake in wakes {
            let is_it = |container: &Container| {
                container
                    .watched
                    .is_some_and(|watched| watched.id == wake.id)
            };
            let mut containers = self.containers.iter_mut();
            let Some((id, container)) = containers.find(|(_, container)| is_it(container)) else {
                continue;
            };
            match wake.cause {
                Cause::NearLimit { .. } => {}
                Cause::Gone => {
                    container.watched = None;
                    continue;
                }
                Cause::Failed(error) => {
                    container.watched = None;
                    self.troubles.warn("memory watch", format!("{id}: {error}"));
                    continue;
                }
            }
            if let Err(error) = container.sensor.read_memory_again() {
                self.troubles.warn("readings", format!("{id}: {error}"));
                continue;
            }
            let plan = self.plan.as_ref();
            let Some(limits) = plan.and_then(|plan| plan.limits_at(id, now)) else {
                continue;
            };
            let wanted = Wanted {
                id,
                container,
                limits,
                reason: Reason::PlanStep,
                is_near_limit: true,
            };
            self.actuator.limit(vec![wanted], now, &mut self.troubles);
            watch(container, &self.memory_watch, &mut self.troubles);
        }
    }

    /// Watches every group whose memory is limited now, and no other.
    pub(super) fn watch_memory(&mut self) {
        for container in self.containers.values_mut() {
            watch(container, &self.memory_watch, &mut self.troubles);
        }
    }
}

/// Lets the watch of a container wait for the limit that is in force.
pub(super) fn watch(container: &mut Container, all: &MemoryWatch, troubles: &mut Once) {
    let Limits { memory_bytes, .. } = container.limiter.in_force();
    let place = container.limiter.place(Controller::Memory);
    let Some((place, limit_bytes)) = place.zip(memory_bytes) else {
        if let Some(watched) = container.watched.take() {
            all.forget(watched.id);
        }
        return;
    };
    let outcome = match container.watched {
        Some(watched) if watched.limit_bytes == limit_bytes => return,
        Some(watched) => all
            .rearm(watched.id, limit_bytes)
            .map(|is_there| is_there.then_some(watched.id)),
        None => all
            .watch(&place.group, place.version, limit_bytes)
            .map(Some),
    };
    match outcome {
        Ok(id) => container.watched = id.map(|id| Watched { id, limit_bytes }),
        Err(error) => troubles.warn("memory watch", error),
    }
}
