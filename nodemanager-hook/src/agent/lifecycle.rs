//! Containers that the NodeManager lists for the first time or no longer, and the end of the agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::RunningContainer;

use super::{
    Agent, actuator::Wanted, container::NodeContainer, heap_plan::restore_heaps,
    node::KILLED_WITHIN, own_group::executors_places,
};
use crate::{
    audit::Reason, container_id::ContainerId, own_file, peer::Peer, sensors::ProcessTable,
};

/// How long a stopping agent waits for JVMs.
const RESTORE_WITHIN: Duration = Duration::from_secs(3);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

impl Agent {
    /// Follows the new containers and reads them. A container that the peer may not name is refused.
    pub(super) fn arrive(
        &mut self,
        arrived: BTreeMap<ContainerId, RunningContainer>,
        peer: Peer,
        now: Instant,
    ) {
        if arrived.is_empty() {
            return;
        }
        let Some(table) = self.reader.scan() else {
            return;
        };
        if let Some(own) = &mut self.own_groups {
            own.forget_failures();
        }
        let ids: Vec<ContainerId> = arrived.keys().cloned().collect();
        for (id, running) in arrived {
            let received = self.receive(&id, running, &table, peer);
            let refused = |reason| format!("{id} is neither measured nor limited: {reason}");
            let received = received.map_err(refused);
            let container = self.troubles.check("containers refused", received);
            self.containers.extend(container.map(|container| (id, container)));
        }
        self.check_moves_of(ids);
        self.heaps.read(&mut self.containers, now);
        self.read(false, now);
    }

    fn receive(
        &self,
        id: &ContainerId,
        running: RunningContainer,
        table: &ProcessTable,
        peer: Peer,
    ) -> Result<NodeContainer, String> {
        let Some(root) = table.get(running.pid) else {
            return Ok(NodeContainer::new(running, None));
        };
        let proc = &self.reader.proc;
        let files = proc.users(root.pid).and_then(|users| Ok(users.zip(proc.cgroup(root.pid)?)));
        let Some((users, cgroup)) = files.map_err(|error| error.to_string())? else {
            return Ok(NodeContainer::new(running, None));
        };
        let own = self.own_groups.as_ref();
        let executors = executors_places(id, &cgroup, own, &self.actuator.hierarchies);
        peer.may_name(root, users, table, !executors.is_empty())?;
        let mut container = NodeContainer::new(running, Some(root.key()));
        container.settle_in(executors).map_err(|error| error.to_string())?;
        if own.is_none() {
            container.limiter = Default::default();
        }
        Ok(container)
    }

    /// Ends a container that the NodeManager no longer lists. Reads it once more, since its group
    /// still has its usage up to the end, then removes its group.
    pub(super) fn depart(&mut self, id: &ContainerId, now: Instant) {
        let Some(mut container) = self.containers.remove(id) else {
            return;
        };
        if !container.needs_table() {
            let (table, counters) = (ProcessTable::default(), self.network.counters());
            self.reader.read(id, &mut container, &table, counters.as_ref(), now);
        }
        let wanted = Wanted::lifted(id, &mut container, Reason::ContainerGone);
        self.actuator.limit(vec![wanted]);
        let watched = container.watch_memory_limit(&self.memory_watch);
        self.troubles.check("memory watch", watched);
        self.network.end(id, &mut container, Reason::ContainerGone, &mut self.actuator.audit);
        self.actuator.leaving.extend(container.own_groups());
        self.actuator.remove_leaving();
    }

    /// Lifts all limits, returns all processes to their former groups and removes the own groups.
    /// Every later call of the agent does nothing. Returns the number of changes not undone.
    pub fn stop(&mut self) -> usize {
        self.stopped = true;
        self.record_kill(Instant::now() + KILLED_WITHIN);
        let removed = own_file::remove(&self.status_file);
        self.troubles.check("status", removed);
        let mut containers = std::mem::take(&mut self.containers);
        let all = containers.iter_mut();
        let all = all.map(|(id, container)| Wanted::lifted(id, container, Reason::AgentStops));
        self.actuator.limit(all.collect());
        for (id, container) in &mut containers {
            self.actuator.leaving.extend(container.own_groups());
            self.network.end(id, container, Reason::AgentStops, &mut self.actuator.audit);
        }
        self.restore_all_heaps();
        let mut failed = self.actuator.remove_leaving_now();
        failed += self.network.restore(&mut self.actuator.journal);
        let journal = &self.actuator.journal;
        failed += journal.jvms().len() + journal.all_former().count();
        // The parent is locked by this agent until it is gone.
        self.own_groups = None;
        self.actuator.remove_parents(&BTreeSet::new());
        for (kind, count) in self.troubles.counts() {
            log::info!("{kind}: {count}");
        }
        if self.reader.samples.dropped() > 0 {
            log::info!("samples dropped: {}", self.reader.samples.dropped());
        }
        failed
    }

    /// Restores all JVMs and waits a moment.
    fn restore_all_heaps(&mut self) {
        let deadline = Instant::now() + RESTORE_WITHIN;
        loop {
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            self.restore_heaps(Some(Reason::AgentStops), now);
            let is_over = !self.heaps.wishes.are_open() && !self.heaps.is_searching();
            if is_over || left.is_zero() {
                break;
            }
            if !self.heaps.wishes.are_open() {
                thread::sleep(BETWEEN_LOOKS);
                continue;
            }
            self.heaps.wishes.advance(left, &mut self.actuator, now);
        }
        let left = self.actuator.journal.jvms().len();
        if left > 0 {
            log::warn!("{left} JVMs did not answer: their flags are not restored");
        }
    }

    /// Restores the changed JVMs that have no target any more; with a reason, all changed JVMs.
    pub(super) fn restore_heaps(&mut self, why: Option<Reason>, now: Instant) {
        let (containers, actuator) = (&mut self.containers, &mut self.actuator);
        restore_heaps(&mut self.heaps, containers, &self.plan, actuator, why, now);
        self.heaps.wishes.advance(Duration::ZERO, actuator, now);
    }
}
