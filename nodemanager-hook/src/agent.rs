//! The agent's state. It changes with a request, a round or a wake of the memory watch.
//!
//! Nothing here waits or reads a clock: callers pass `now`.

mod actuator;
mod capacity;
mod container;
mod container_network;
mod gather;
mod group_entry;
mod heap_plan;
mod heap_shortage;
mod heap_wishes;
mod heaps;
mod left_behind;
mod lifecycle;
mod memory_victims;
mod network_start;
mod node;
mod node_network;
mod own_group;
mod reader;
mod refused_moves;
mod shortage;
mod start;
mod tree_moves;

use std::{path::PathBuf, sync::Arc, time::Instant};

use elastane_protocol::{
    AgentRequest, AgentResponse, CanLimit, Capacity, Limits, Reply, Report, RunningContainer,
};

pub use self::network_start::link_bytes_per_s;
use self::{
    actuator::{Actuator, Wanted},
    container::{Containers, NodeContainer},
    heap_plan::plan_heaps,
    heaps::NodeHeaps,
    node::WatchedNode,
    node_network::NodeNetwork,
    reader::Reader,
};
use crate::{
    actuators::OwnGroups,
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
    reader: Reader,
    /// None if the agent cannot limit.
    own_groups: Option<OwnGroups>,
    /// Whether containers enter own groups on arrival, before a plan limits them.
    from_arrival: bool,
    containers: Containers,
    node: WatchedNode,
    network: NodeNetwork,
    heaps: NodeHeaps,
    memory_watch: Arc<MemoryWatch>,
    /// The newest sequence number reported.
    reported: u64,
    plan: Plan,
    actuator: Actuator,
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
        self.heaps.read(&mut self.containers, now);
        if due.closes_sample {
            self.read(false, now);
        } else {
            // Nothing counts for the processes of a tree: what one has used is lost when it ends between two readings.
            self.read(true, now);
            for (id, container) in &mut self.containers {
                if !container.needs_table() {
                    self.reader.read_memory(id, container);
                }
            }
        }
        self.read_node(now);
        if due.closes_sample {
            self.reader.samples.close(now);
            self.write_status(now);
        }
        self.actuator.remove_leaving();
    }

    /// Puts the plan's limits for `now` in force. A limit that could not be written is tried again.
    pub fn follow_plan(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        self.enter_groups(now);
        self.network.count(&mut self.containers);
        let (containers, actuator) = (&mut self.containers, &mut self.actuator);
        plan_heaps(&mut self.heaps, containers, &self.plan, actuator, now);
        self.write_limits(now);
        let (containers, audit) = (&mut self.containers, &mut self.actuator.audit);
        self.network.follow_plan(containers, &self.plan, audit, now);
        self.restore_heaps(None, now);
        self.watch_memory();
        self.leave_groups(now);
        self.release_groups();
        self.network.count(&mut self.containers);
    }

    /// When [`Self::follow_plan`] is due next.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        self.plan.next_change(now)
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
            let read = container.sensor.read_memory_again();
            if self.troubles.check_of("readings", id, read).is_some() {
                let wanted = Wanted::new(id, container, self.plan.wanted(id, now));
                self.actuator.limit(vec![Wanted { is_near_limit: true, ..wanted }]);
                let watched = container.watch_memory_limit(&self.memory_watch);
                self.troubles.check("memory watch", watched);
            }
        }
    }

    /// Puts the planned limits in force, and lets memory limits follow the resident memory.
    fn write_limits(&mut self, now: Instant) {
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
            self.troubles.warn("plans run out", message);
        }
    }

    /// Watches exactly the memory limits in force.
    fn watch_memory(&mut self) {
        for container in self.containers.values_mut() {
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
        let mut running = containers::check(list, &self.reader.forbidden)?;
        // A container with another root process has started anew.
        let is_same = |id: &ContainerId, container: &NodeContainer| {
            running.get(id).is_some_and(|now| container.begins_at(now.pid))
        };
        let ended = self.containers.iter().filter(|(id, one)| !is_same(id, one));
        let ended: Vec<ContainerId> = ended.map(|(id, _)| id.clone()).collect();
        for id in ended {
            self.depart(&id, now);
        }
        running.retain(|id, _| !self.containers.contains_key(id));
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
        self.reader.samples.acknowledge(reply.acknowledged);
        self.plan = plan;
        for container in self.containers.values_mut() {
            container.held_back = false;
        }
        self.check_refusals();
        self.gather();
        self.follow_plan(now);
        Ok(())
    }

    fn report(&mut self, now: Instant) -> Report {
        let running = self.containers.iter().map(|(id, container)| {
            let limits = container.in_force();
            (id.clone(), (limits != Limits::default()).then_some(limits))
        });
        let running = running.collect();
        let samples = &self.reader.samples;
        let report = Report {
            agent_run: self.agent_run,
            sequence: 0,
            can_limit: self.can_limit(),
            capacity: self.capacity,
            containers_usage: samples.newest(),
            node_usage: samples.newest_of_node(),
            pressure: pressure(&self.reader.proc),
            memory_victims: self.memory_victims(),
            containers: Vec::new(),
        };
        let report = report::with_samples(report, &running, samples, now);
        self.reported = self.reported.max(report.sequence);
        report
    }

    fn write_status(&mut self, now: Instant) {
        self.actuator.audit.retain(|id| self.containers.contains_key(id));
        let (samples, counts) = (&self.reader.samples, self.network.is_counted());
        let containers = self.containers.iter().map(|(id, container)| ContainerStatus {
            container: id.to_string(),
            usage: samples.newest_of(id),
            planned: self.plan.limits_at(id, now),
            in_force: container.in_force(),
            is_network_counted: counts && container.network.is_some(),
            left_in_its_group: container.refusals.values().cloned().collect(),
            reasons: self.actuator.audit.newest_reasons(id),
        });
        let troubles = self.troubles.counts().into_iter();
        let status = AgentStatus {
            unix_ms: unix_ms(),
            pid: std::process::id(),
            can_limit: self.can_limit(),
            capacity: self.capacity,
            node_usage: samples.newest_of_node(),
            others_usage: status::others(samples.newest_of_node(), samples.newest()),
            pressure: pressure(&self.reader.proc),
            memory_victims: self.memory_victims(),
            containers: containers.collect(),
            troubles: troubles.map(|(kind, count)| (kind.into(), count)).collect(),
        };
        let written = status.write(&self.status_file);
        self.troubles.check_of("status", self.status_file.display(), written);
    }

    /// Reads all containers, or those that are trees, without their network.
    fn read(&mut self, only_trees: bool, now: Instant) {
        let is_read = |container: &NodeContainer| !only_trees || container.needs_table();
        let containers = self.containers.iter_mut().filter(|(_, container)| is_read(container));
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
        let counters = if only_trees { None } else { self.network.counters() };
        for (id, container) in containers {
            self.reader.read(id, container, &table, counters.as_ref(), now);
        }
    }
}
