//! Containers that the NodeManager lists for the first time or no longer, and the end of the agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use elastane_protocol::RunningContainer;

use super::{Agent, actuator::Wanted, container::NodeContainer, heaps::restore_all_heaps};
use crate::{
    audit::Reason, container_id::ContainerId, own_file, peer::Peer, sensors::ProcessTable,
};

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
        let Some(table) = self.host.reader.scan() else {
            return;
        };
        let ids: BTreeSet<ContainerId> = arrived.keys().cloned().collect();
        for (id, running) in arrived {
            let received = self.receive(&id, running, &table, peer);
            let refused = |reason| format!("{id} is neither measured nor limited: {reason}");
            let received = received.map_err(refused);
            let container = self.troubles.check("containers refused", received);
            self.host.containers.extend(container.map(|container| (id, container)));
        }
        self.groups.take_arrived(&mut self.host, &ids);
        self.heaps.read(&mut self.host.containers, now);
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
        let proc = &self.host.reader.proc;
        let files = proc.users(root.pid).and_then(|users| Ok(users.zip(proc.cgroup(root.pid)?)));
        let Some((users, cgroup)) = files.map_err(|error| error.to_string())? else {
            return Ok(NodeContainer::new(running, None));
        };
        let executors = self.groups.of_executor(id, &cgroup, &self.host.actuator.hierarchies);
        peer.may_name(root, users, table, !executors.is_empty())?;
        let mut container = NodeContainer::new(running, Some(root.key()));
        container.settle_in(executors).map_err(|error| error.to_string())?;
        if !self.groups.can_limit() {
            container.limiter = Default::default();
        }
        Ok(container)
    }

    /// Ends a container that the NodeManager no longer lists. Reads it once more, since its group
    /// still has its usage up to the end, then removes its group.
    pub(super) fn depart(&mut self, id: &ContainerId, now: Instant) {
        let Some(mut container) = self.host.containers.remove(id) else {
            return;
        };
        if !container.needs_table() {
            let (table, counters) = (ProcessTable::default(), self.network.counters());
            self.host.reader.read(id, &mut container, &table, counters.as_ref(), now);
        }
        let wanted = Wanted::lifted(id, &mut container, Reason::ContainerGone);
        self.host.actuator.limit(vec![wanted]);
        let watched = container.watch_memory_limit(&self.memory_watch);
        self.troubles.check("memory watch", watched);
        self.network.end(id, &mut container, Reason::ContainerGone, &mut self.host.actuator.audit);
        self.host.actuator.leaving.extend(container.own_groups());
        self.host.actuator.remove_leaving();
    }

    /// Lifts all limits, returns all processes to their former groups and removes the own groups.
    /// Every later call of the agent does nothing. Returns the number of changes not undone.
    pub fn stop(&mut self) -> usize {
        self.stopped = true;
        self.node.end(&mut self.host, Instant::now());
        let removed = own_file::remove(&self.status_file);
        self.troubles.check("status", removed);
        let mut containers = std::mem::take(&mut self.host.containers);
        let all = containers.iter_mut();
        let all = all.map(|(id, container)| Wanted::lifted(id, container, Reason::AgentStops));
        self.host.actuator.limit(all.collect());
        for (id, container) in &mut containers {
            self.host.actuator.leaving.extend(container.own_groups());
            self.network.end(id, container, Reason::AgentStops, &mut self.host.actuator.audit);
        }
        restore_all_heaps(&mut self.heaps, &mut self.host);
        let mut failed = self.host.actuator.remove_leaving_now();
        failed += self.network.restore(&mut self.host.actuator.journal);
        let journal = &self.host.actuator.journal;
        failed += journal.jvms().len() + journal.all_former().count();
        // The parent is locked by this agent until it is gone.
        self.groups.end();
        self.host.actuator.remove_parents(&BTreeSet::new());
        for (kind, count) in self.troubles.counts() {
            log::info!("{kind}: {count}");
        }
        if self.host.reader.samples.dropped() > 0 {
            log::info!("samples dropped: {}", self.host.reader.samples.dropped());
        }
        failed
    }
}
