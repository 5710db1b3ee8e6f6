//! The agent's state. It changes with a request, a round or a wake of the memory watch.
//!
//! Callers pass `now`, and hold the agent's lock meanwhile. What waits here has a bound: the counters of `nft` 100 ms, a
//! change of its rules 2 s, and not again after one that hung, the search for a JVM of the journal 200 ms, the audit file
//! 0.5 s, and not again while its disk is slow. Start and stop wait for JVMs and groups.

mod actuator;
mod arrival;
mod capacity;
mod container;
mod decommissions;
mod groups;
mod heaps;
mod host;
mod left_behind;
mod lowerings;
mod network;
mod node;
mod reader;
mod stages;
mod start;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use elastane_protocol::{
    AgentRequest, AgentResponse, CanLimit, Capacity, Limits, Reply, Report, RunningContainer,
};

pub use self::network::link_bytes_per_s;
use self::{
    actuator::Wanted,
    arrival::receive,
    container::NodeContainer,
    decommissions::Decommissions,
    groups::ContainerGroups,
    heaps::{NodeHeaps, plan_heaps, restore_all_heaps, restore_heaps},
    host::Host,
    network::NodeNetwork,
    node::WatchedNode,
    stages::ToldStages,
    start::{describe, start},
};
use crate::{
    actuators::UrgentRaises,
    audit::{Reason, unix_ms},
    config::Config,
    container_id::ContainerId,
    containers,
    memory_watch::{MemoryWatch, Wake},
    own_file,
    peer::Peer,
    plan::Plan,
    report,
    schedule::DueReading,
    sensors::{ProcessTable, pressure},
    status::{self, AgentStatus, ContainerStatus},
    troubles::Troubles,
};

#[derive(Debug)]
pub struct Agent {
    /// A random number.
    agent_run: u64,
    /// What this host allows, for containers that may be moved.
    can_limit: CanLimit,
    capacity: Capacity,
    host: Host,
    groups: ContainerGroups,
    heaps: NodeHeaps,
    network: NodeNetwork,
    node: WatchedNode,
    decommissions: Decommissions,
    stages: ToldStages,
    /// The newest sequence number reported.
    reported: u64,
    troubles: Troubles,
    status_file: PathBuf,
    stopped: bool,
}

impl Agent {
    /// Inspects the host, reads the journal, and restores all changes of a killed agent, since a new
    /// agent has no plan.
    pub fn start(config: &Config) -> Result<Self, String> {
        start(config)
    }

    /// The node's size and the resources that the agent can limit, for the log.
    pub fn describe(&self) -> String {
        describe(self.capacity, self.can_limit)
    }

    pub fn handle(&mut self, request: AgentRequest, peer: Peer, now: Instant) -> AgentResponse {
        if self.stopped {
            return AgentResponse::Refused("the agent is stopping".into());
        }
        let done = match request {
            AgentRequest::Containers(list) => self.take_list(&list, peer, now),
            AgentRequest::Collect => return AgentResponse::Report(self.report(now)),
            AgentRequest::Apply(reply) => self.take_reply(&reply, now),
        };
        match done {
            Ok(()) => AgentResponse::Done,
            Err(reason) => AgentResponse::Refused(reason),
        }
    }

    /// One round: reads the memory of all containers and of the node, and all counters when a sample is due. Then
    /// acts on a shortage of the node's memory, which may kill a container, closes the sample, and removes the
    /// groups that no container needs any more.
    pub fn round(&mut self, due: DueReading, now: Instant) {
        if self.stopped {
            return;
        }
        if due.missed > 0 {
            let message = format!("{} readings were late and are skipped", due.missed);
            self.troubles.warn("missed readings", message);
        }
        self.heaps.read(&mut self.host.containers, now);
        if due.closes_sample {
            self.host.read_all(|| self.network.counters(), now);
            self.node.read(&mut self.host, &mut self.network, now);
        } else {
            self.host.read_between(now);
            self.node.read_between(&mut self.host);
        }
        self.node.step(&mut self.host, &self.heaps, now);
        self.decommissions.step(&mut self.host, now);
        if due.closes_sample {
            self.stages.step(&self.host.containers, now);
            self.host.reader.samples.close(now);
            self.write_status(now);
        }
        self.host.actuator.remove_leaving();
    }

    /// Puts the plan's limits for `now` in force. A limit that could not be written is tried again. To be called after
    /// [`Self::round`] too: it writes the audit file.
    pub fn follow_plan(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        let host = &mut self.host;
        self.groups.enter(host, &self.network, now);
        self.network.count(&mut host.containers);
        plan_heaps(&mut self.heaps, host, now);
        host.write_limits(now);
        // At once: the network takes seconds at worst.
        host.watch_memory();
        self.network.follow_plan(host, now);
        restore_heaps(&mut self.heaps, host, None, now);
        self.groups.leave(host, &self.network, now);
        self.groups.release(host);
        self.network.count(&mut host.containers);
        host.actuator.audit.flush();
    }

    /// When [`Self::follow_plan`] is due next.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        self.host.plan.next_change(now)
    }

    /// A separate thread waits for this watch and passes its wakes to [`Self::memory_woke`].
    pub fn memory_watch(&self) -> Arc<MemoryWatch> {
        Arc::clone(&self.host.memory_watch)
    }

    /// What that thread raises limits by while the agent is busy.
    pub fn urgent_raises(&self) -> Arc<UrgentRaises> {
        Arc::clone(&self.host.actuator.urgent_raises)
    }

    /// Raises the limits that resident memory is about to hit.
    pub fn memory_woke(&mut self, wakes: Vec<Wake>, now: Instant) {
        if self.stopped {
            return;
        }
        for wake in wakes {
            self.host.memory_woke(wake, now);
        }
        self.host.actuator.audit.flush();
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
        failed += self.host.actuator.open_elsewhere();
        failed += self.network.restore(&mut self.host.actuator.journal);
        let journal = &self.host.actuator.journal;
        failed += journal.jvms().len() + journal.all_former().count();
        // The parent is locked by this agent until it is gone.
        self.groups.end();
        self.host.actuator.remove_parents(&BTreeSet::new());
        self.host.actuator.audit.end();
        for (kind, count) in self.troubles.counts() {
            log::info!("{kind}: {count}");
        }
        if self.host.reader.samples.dropped() > 0 {
            log::info!("samples dropped: {}", self.host.reader.samples.dropped());
        }
        failed
    }

    fn take_list(
        &mut self,
        list: &[RunningContainer],
        peer: Peer,
        now: Instant,
    ) -> Result<(), String> {
        let mut running = containers::check(list, &self.host.reader.forbidden)?;
        // A container with another root process has started anew.
        let is_same = |id: &ContainerId, container: &NodeContainer| {
            running.get(id).is_some_and(|now| container.begins_at(now.pid))
        };
        let ended = self.host.containers.iter().filter(|(id, one)| !is_same(id, one));
        let ended: Vec<ContainerId> = ended.map(|(id, _)| id.clone()).collect();
        for id in ended {
            self.depart(&id, now);
        }
        for (id, container) in &mut self.host.containers {
            if let Some(same) = running.remove(id) {
                // YARN may have resized it.
                container.running = same;
            }
        }
        self.arrive(running, peer, now);
        self.follow_plan(now);
        Ok(())
    }

    /// Follows the new containers and reads them. A container that the peer may not name is refused.
    fn arrive(
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
            let received = receive(&self.host, &self.groups, &id, running, &table, peer);
            let refused = |reason| format!("{id} is neither measured nor limited: {reason}");
            let received = received.map_err(refused);
            let container = self.troubles.check("containers refused", received);
            self.host.containers.extend(container.map(|container| (id, container)));
        }
        self.groups.take_arrived(&mut self.host, &ids);
        self.heaps.read(&mut self.host.containers, now);
        self.host.read_all(|| self.network.counters(), now);
    }

    /// Ends a container that the NodeManager no longer lists. Reads it once more, since its group
    /// still has its usage up to the end, then removes its group.
    fn depart(&mut self, id: &ContainerId, now: Instant) {
        let Some(mut container) = self.host.containers.remove(id) else {
            return;
        };
        if !container.needs_table() {
            let (table, counters) = (ProcessTable::default(), self.network.counters());
            self.host.reader.read(id, &mut container, &table, counters.as_ref(), now);
        }
        let wanted = Wanted::lifted(id, &mut container, Reason::ContainerGone);
        self.host.actuator.limit(vec![wanted]);
        let raises = &self.host.actuator.urgent_raises;
        let watched = container.watch_memory_limit(&self.host.memory_watch, raises);
        self.troubles.check("memory watch", watched);
        self.network.end(id, &mut container, Reason::ContainerGone, &mut self.host.actuator.audit);
        self.host.actuator.leaving.extend(container.own_groups());
        self.host.actuator.remove_leaving();
    }

    fn take_reply(&mut self, reply: &Reply, now: Instant) -> Result<(), String> {
        if reply.acknowledged > self.reported {
            return Err(format!(
                "the reply acknowledges sample {}, but this agent has reported up to {}",
                reply.acknowledged, self.reported
            ));
        }
        let plan = Plan::new(reply, now)?;
        self.host.reader.samples.acknowledge(reply.acknowledged);
        self.host.plan = plan;
        for container in self.host.containers.values_mut() {
            container.held_back = false;
        }
        self.decommissions.order(&reply.decommission, &self.host.containers, now);
        self.groups.take_plan(&mut self.host);
        self.follow_plan(now);
        Ok(())
    }

    fn report(&mut self, now: Instant) -> Report {
        let running = self.host.containers.iter().map(|(id, container)| {
            let limits = container.in_force();
            let limits = (limits != Limits::default()).then_some(limits);
            (id.clone(), report::Running { limits, stages: self.stages.of(id, now) })
        });
        let running = running.collect();
        let samples = &self.host.reader.samples;
        let report = Report {
            agent_run: self.agent_run,
            sequence: 0,
            can_limit: self.can_limit(),
            capacity: self.capacity,
            containers_usage: samples.newest(),
            node_usage: samples.newest_of_node(),
            pressure: pressure(&self.host.reader.proc),
            memory_victims: self.node.memory_victims(&self.host.containers),
            decommissioned: self.decommissions.outcomes(),
            containers: Vec::new(),
        };
        let report = report::with_samples(report, &running, samples, now);
        self.reported = self.reported.max(report.sequence);
        report
    }

    /// The resources that the agent can limit for at least one container of this node.
    fn can_limit(&self) -> CanLimit {
        let CanLimit { network_received, .. } = self.can_limit;
        let network_received = network_received && self.network.is_counted();
        let of_host = CanLimit { network_received, ..self.can_limit };
        self.groups.possible(of_host, &self.host.containers)
    }

    fn write_status(&mut self, now: Instant) {
        self.host.actuator.audit.retain(|id| self.host.containers.contains_key(id));
        let (samples, counts) = (&self.host.reader.samples, self.network.is_counted());
        let containers = self.host.containers.iter().map(|(id, container)| ContainerStatus {
            container: id.to_string(),
            usage: samples.newest_of(id),
            planned: self.host.plan.limits_at(id, now),
            in_force: container.in_force(),
            is_network_counted: counts && container.network.is_some(),
            left_in_its_group: container.refusals.values().cloned().collect(),
            reasons: self.host.actuator.audit.newest_reasons(id),
        });
        let troubles = self.troubles.counts().into_iter();
        let status = AgentStatus {
            unix_ms: unix_ms(),
            pid: std::process::id(),
            can_limit: self.can_limit(),
            capacity: self.capacity,
            node_usage: samples.newest_of_node(),
            others_usage: status::others(samples.newest_of_node(), samples.newest()),
            pressure: pressure(&self.host.reader.proc),
            memory_victims: self.node.memory_victims(&self.host.containers),
            containers: containers.collect(),
            troubles: troubles.map(|(kind, count)| (kind.into(), count)).collect(),
        };
        let written = status.write(&self.status_file);
        self.troubles.check_of("status", self.status_file.display(), written);
    }
}
