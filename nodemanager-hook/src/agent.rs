//! The agent's state. It changes with a request, a round or a wake of the memory watch.
//!
//! Nothing here waits or reads a clock: callers pass `now`.

mod actuator;
mod capacity;
mod container;
mod groups;
mod heaps;
mod host;
mod left_behind;
mod lifecycle;
mod network;
mod node;
mod reader;
mod start;

use std::{path::PathBuf, sync::Arc, time::Instant};

use elastane_protocol::{
    AgentRequest, AgentResponse, CanLimit, Capacity, Limits, Reply, Report, RunningContainer,
};

pub use self::network::link_bytes_per_s;
use self::{
    actuator::Wanted,
    container::NodeContainer,
    groups::ContainerGroups,
    heaps::{NodeHeaps, plan_heaps, restore_heaps},
    host::Host,
    network::NodeNetwork,
    node::WatchedNode,
};
use crate::{
    audit::{Reason, unix_ms},
    container_id::ContainerId,
    containers,
    memory_watch::{Cause, MemoryWatch, Wake},
    once::Once,
    peer::Peer,
    plan::Plan,
    report,
    schedule::DueReading,
    sensors::{ProcessTable, pressure},
    status::{self, AgentStatus, ContainerStatus},
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
    memory_watch: Arc<MemoryWatch>,
    /// The newest sequence number reported.
    reported: u64,
    troubles: Once,
    status_file: PathBuf,
    stopped: bool,
}

impl Agent {
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

    /// Reads the memory of every container, and the node. When a sample is due, reads all counters and closes it.
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
            self.read(false, now);
        } else {
            // Nothing counts for the processes of a tree: what one has used is lost when it ends between two readings.
            self.read(true, now);
            for (id, container) in &mut self.host.containers {
                if !container.needs_table() {
                    self.host.reader.read_memory(id, container);
                }
            }
        }
        self.node.step(&mut self.host, &self.heaps, &mut self.network, now);
        if due.closes_sample {
            self.host.reader.samples.close(now);
            self.write_status(now);
        }
        self.host.actuator.remove_leaving();
    }

    /// Puts the plan's limits for `now` in force. A limit that could not be written is tried again.
    pub fn follow_plan(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        let host = &mut self.host;
        self.groups.enter(host, &self.network, now);
        self.network.count(&mut host.containers);
        plan_heaps(&mut self.heaps, host, now);
        self.write_limits(now);
        let host = &mut self.host;
        self.network.follow_plan(host, now);
        restore_heaps(&mut self.heaps, host, None, now);
        self.watch_memory();
        let host = &mut self.host;
        self.groups.leave(host, &self.network, now);
        self.groups.release(host);
        self.network.count(&mut host.containers);
    }

    /// When [`Self::follow_plan`] is due next.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        self.host.plan.next_change(now)
    }

    /// A separate thread waits for this watch and passes its wakes to [`Self::memory_woke`].
    pub fn memory_watch(&self) -> Arc<MemoryWatch> {
        Arc::clone(&self.memory_watch)
    }

    /// Raises the limits that resident memory is about to hit, without waiting for the next reading.
    /// A limit filled by page cache stays.
    pub fn memory_woke(&mut self, wakes: Vec<Wake>, now: Instant) {
        if self.stopped {
            return;
        }
        for wake in wakes {
            let is_it = |one: &NodeContainer| one.watched.is_some_and(|(id, _)| id == wake.id);
            let mut containers = self.host.containers.iter_mut();
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
            let read = container.sensor.read_memory_again();
            if self.troubles.check_of("readings", id, read).is_some() {
                let wanted = Wanted::new(id, container, self.host.plan.wanted(id, now));
                self.host.actuator.limit(vec![Wanted { is_near_limit: true, ..wanted }]);
                let watched = container.watch_memory_limit(&self.memory_watch);
                self.troubles.check("memory watch", watched);
            }
        }
    }

    /// Puts the planned limits in force, and lets memory limits follow the resident memory.
    fn write_limits(&mut self, now: Instant) {
        let mut outlived = false;
        let mut all = Vec::new();
        for (id, container) in &mut self.host.containers {
            let is_limited = container.limiter.in_force() != Limits::default();
            let wanted = Wanted::new(id, container, self.host.plan.wanted(id, now));
            outlived |= is_limited && wanted.reason == Reason::PlanEnded;
            all.push(wanted);
        }
        self.host.actuator.limit(all);
        if outlived {
            let message = "the plan ran out before the next one arrived: limits are lifted";
            self.troubles.warn("plans run out", message);
        }
    }

    /// Watches exactly the memory limits in force.
    fn watch_memory(&mut self) {
        for container in self.host.containers.values_mut() {
            let watched = container.watch_memory_limit(&self.memory_watch);
            self.troubles.check("memory watch", watched);
        }
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
        running.retain(|id, _| !self.host.containers.contains_key(id));
        self.arrive(running, peer, now);
        self.follow_plan(now);
        Ok(())
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
        self.groups.take_plan(&mut self.host);
        self.follow_plan(now);
        Ok(())
    }

    fn report(&mut self, now: Instant) -> Report {
        let running = self.host.containers.iter().map(|(id, container)| {
            let limits = container.in_force();
            (id.clone(), (limits != Limits::default()).then_some(limits))
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
            containers: Vec::new(),
        };
        let report = report::with_samples(report, &running, samples, now);
        self.reported = self.reported.max(report.sequence);
        report
    }

    /// Whether the agent can limit a resource of any container here.
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

    /// Reads all containers, or those that are trees, without their network.
    fn read(&mut self, only_trees: bool, now: Instant) {
        let is_read = |container: &NodeContainer| !only_trees || container.needs_table();
        let containers =
            self.host.containers.iter_mut().filter(|(_, container)| is_read(container));
        let containers: Vec<_> = containers.collect();
        if containers.is_empty() {
            return;
        }
        // One scan serves all containers. None is needed when every container has a group.
        let needs_table = containers.iter().any(|(_, container)| container.needs_table());
        let table =
            if needs_table { self.host.reader.scan() } else { Some(ProcessTable::default()) };
        let Some(table) = table else {
            return;
        };
        let counters = if only_trees { None } else { self.network.counters() };
        for (id, container) in containers {
            self.host.reader.read(id, container, &table, counters.as_ref(), now);
        }
    }
}
