//! Raises a memory limit as soon as the kernel reports that it is near, without waiting for the next
//! reading.

use std::{sync::Arc, time::Instant};

use elastane_protocol::Limits;

use super::{Agent, container::Container, limits::Wanted};
use crate::{
    audit::Reason,
    cgroups::Controller,
    memory_watch::{Cause, MemoryWatch, Wake, WatchId},
    once::Once,
};

/// The watch of a container's memory limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    id: WatchId,
    limit_bytes: u64,
}

impl Agent {
    /// A separate thread waits for this watch and passes its wakes to [`Self::memory_woke`].
    pub fn memory_watch(&self) -> Arc<MemoryWatch> {
        Arc::clone(&self.memory_watch)
    }

    /// Raises the limits that resident memory is about to hit. A limit filled by page cache stays.
    pub fn memory_woke(&mut self, wakes: Vec<Wake>, now: Instant) {
        if self.stopped {
            return;
        }
        for wake in wakes {
            let is_it = |one: &Container| one.watched.is_some_and(|watched| watched.id == wake.id);
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

    /// Watches exactly the memory limits in force.
    pub(super) fn watch_memory(&mut self) {
        for container in self.containers.values_mut() {
            watch(container, &self.memory_watch, &mut self.troubles);
        }
    }
}

/// Adjusts a container's watch to the limit in force.
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
