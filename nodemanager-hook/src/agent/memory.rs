//! Raises a memory limit as soon as the kernel reports that it is near, without waiting for the next
//! reading.

use std::{sync::Arc, time::Instant};

use super::{Agent, container::Container, limits::Wanted};
use crate::{
    audit::Reason,
    memory_watch::{Cause, MemoryWatch, Wake},
};

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
            let is_it = |one: &Container| one.watched.is_some_and(|(id, _)| id == wake.id);
            let mut containers = self.containers.iter_mut();
            let Some((id, container)) = containers.find(|(_, container)| is_it(container)) else {
                continue;
            };
            if !matches!(wake.cause, Cause::NearLimit { .. }) {
                container.watched = None;
                if let Cause::Failed(error) = wake.cause {
                    self.troubles.warn("memory watch", format!("{id}: {error}"));
                }
                continue;
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
                limits,
                is_near_limit: true,
                ..Wanted::lifted(id, container, Reason::PlanStep)
            };
            self.actuator.limit(vec![wanted], now);
            let watched = container.watch_memory_limit(&self.memory_watch);
            self.troubles.check("memory watch", watched);
        }
    }

    /// Watches exactly the memory limits in force.
    pub(super) fn watch_memory(&mut self) {
        for container in self.containers.values_mut() {
            let watched = container.watch_memory_limit(&self.memory_watch);
            self.troubles.check("memory watch", watched);
        }
    }
}
