//! What all parts of the agent work on.

use std::{sync::Arc, time::Instant};

use elastane_protocol::Limits;

use super::{
    actuator::{Actuator, Wanted},
    container::{Containers, NodeContainer},
    reader::Reader,
};
use crate::{
    audit::Reason,
    container_id::ContainerId,
    memory_watch::{Cause, MemoryWatch, Wake},
    network::AllCounters,
    plan::Plan,
    sensors::ProcessTable,
};

/// The containers of this host, what reads them, what changes them, and the plan that says how.
#[derive(Debug)]
pub(super) struct Host {
    pub containers: Containers,
    pub plan: Plan,
    pub reader: Reader,
    pub actuator: Actuator,
    pub memory_watch: Arc<MemoryWatch>,
}

impl Host {
    /// Reads the counters of all containers, and takes those of their network.
    pub fn read_all(&mut self, network: impl FnOnce() -> Option<AllCounters>, now: Instant) {
        self.read(|_, _| true, network, now);
    }

    /// Reads what the next full reading would miss: peaks of memory, and the use of processes outside of groups that
    /// may end before. Nothing counts their use after their end.
    pub fn read_between(&mut self, now: Instant) {
        self.read(|_, container| container.needs_table(), || None, now);
        for (id, container) in &mut self.containers {
            if !container.needs_table() {
                self.reader.read_memory(id, container);
            }
        }
    }

    /// Reads some containers, and takes the counters of their network.
    pub fn read(
        &mut self,
        is_read: impl Fn(&ContainerId, &NodeContainer) -> bool,
        network: impl FnOnce() -> Option<AllCounters>,
        now: Instant,
    ) {
        let containers =
            self.containers.iter_mut().filter(|(id, container)| is_read(id, container));
        let containers: Vec<_> = containers.collect();
        if containers.is_empty() {
            return;
        }
        // One scan serves all containers. None is needed when every container has a group.
        let needs_table = containers.iter().any(|(_, container)| container.needs_table());
        let table = if needs_table { self.reader.scan() } else { Some(ProcessTable::default()) };
        let Some(table) = table else {
            return;
        };
        let counters = network();
        for (id, container) in containers {
            self.reader.read(id, container, &table, counters.as_ref(), now);
        }
    }

    /// Puts the planned limits in force, and lets memory limits follow the resident memory.
    pub fn write_limits(&mut self, now: Instant) {
        let mut outlived = false;
        let mut all = Vec::new();
        for (id, container) in &mut self.containers {
            let is_limited = container.limiter.in_force() != Limits::default();
            let wanted = Wanted::new(id, container, self.plan.wanted(id, now));
            outlived |= is_limited && wanted.reason == Reason::PlanEnded;
            all.push(wanted);
        }
        self.actuator.limit(all);
        if outlived {
            let message = "the plan ran out before the next one arrived: limits are lifted";
            self.actuator.troubles.warn("plans run out", message);
        }
    }

    /// Watches exactly the memory limits in force.
    pub fn watch_memory(&mut self) {
        for container in self.containers.values_mut() {
            let raises = &self.actuator.urgent_raises;
            let watched = container.watch_memory_limit(&self.memory_watch, raises);
            self.actuator.troubles.check("memory watch", watched);
        }
    }

    /// Raises a limit that resident memory is about to hit, without waiting for the next reading.
    /// A limit filled by page cache stays.
    pub fn memory_woke(&mut self, wake: Wake, now: Instant) {
        let Self { containers, plan, actuator, memory_watch, .. } = self;
        let is_it = |one: &NodeContainer| one.watched.is_some_and(|(id, _)| id == wake.id);
        let mut containers = containers.iter_mut();
        let Some((id, container)) = containers.find(|(_, container)| is_it(container)) else {
            return;
        };
        if !matches!(wake.cause, Cause::NearLimit { .. }) {
            container.forbid_raises(&actuator.urgent_raises);
            container.watched = None;
            if let Cause::Failed(error) = wake.cause {
                actuator.troubles.warn("memory watch", format!("{id}: {error}"));
            }
            return;
        }
        let read = container.sensor.read_memory_again();
        if actuator.troubles.check_of("readings", id, read).is_some() {
            let wanted = Wanted::new(id, container, plan.wanted(id, now));
            actuator.limit(vec![Wanted { is_near_limit: true, ..wanted }]);
            let watched = container.watch_memory_limit(memory_watch, &actuator.urgent_raises);
            actuator.troubles.check("memory watch", watched);
        }
    }
}
