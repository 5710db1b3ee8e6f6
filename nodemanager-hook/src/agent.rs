//! The agent's state. It changes with a request, a round or a wake of the memory watch.
//!
//! Nothing here waits or reads a clock: callers pass `now`.

mod arrivals;
mod capacity;
mod container;
mod container_network;
mod departures;
mod heap_plan;
mod heap_restore;
mod heap_shortage;
mod heap_wishes;
mod heaps;
mod history;
mod limits;
mod memory;
mod memory_victims;
mod network;
mod node;
mod node_network;
mod own_group;
mod shortage;
mod start;
mod tree_moves;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use elastane_protocol::{AgentRequest, AgentResponse, Limits, Reply, RunningContainer};

pub use self::departures::Restored;
use self::{container::Container, heaps::NodeHeaps, node::Node, node_network::NodeNetwork};
use crate::{
    actuators::{KernelFiles, Margin, OwnGroups},
    audit::{Audit, unix_ms},
    cgroups::Hierarchies,
    container_id::ContainerId,
    containers,
    journal::Journal,
    memory_watch::MemoryWatch,
    network::AllCounters,
    once::Once,
    peer::Peer,
    plan::Plan,
    report::{self, Identity, OfNode},
    samples::Samples,
    schedule::Due,
    sensors::{Device, KernelThreads, ProcFs, ProcessTable},
    status::{self, ContainerStatus, Status},
};

#[derive(Debug)]
pub struct Agent {
    proc: ProcFs,
    kernel_threads: KernelThreads,
    identity: Identity,
    /// The agent and its ancestors: they are never moved or killed.
    forbidden: Vec<u32>,
    hierarchies: Hierarchies,
    /// None if the agent cannot limit.
    own_groups: Option<OwnGroups>,
    /// Whether containers enter own groups on arrival, before a plan limits them.
    from_arrival: bool,
    containers: BTreeMap<ContainerId, Container>,
    node: Node,
    network: NodeNetwork,
    heaps: NodeHeaps,
    memory_watch: Arc<MemoryWatch>,
    samples: Samples,
    /// The newest sequence number reported.
    reported: u64,
    plan: Option<Plan>,
    actuator: Actuator,
    /// Own groups that no container needs any more, to be removed once they are empty.
    leaving: BTreeSet<PathBuf>,
    /// Own groups of a killed agent that this one removed.
    removed_at_start: usize,
    troubles: Once,
    status_file: PathBuf,
    stopped: bool,
}

/// The means to change a limit.
#[derive(Debug)]
struct Actuator {
    files: KernelFiles,
    journal: Journal,
    audit: Audit,
    margin: Margin,
    /// The disks whose traffic is limited.
    disks: Vec<Device>,
    troubles: Once,
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

    /// Reads every container and the node. Closes a sample when one is due.
    pub fn round(&mut self, due: Due, now: Instant) {
        if self.stopped {
            return;
        }
        if due.missed > 0 {
            let message = format!("{} readings were late and are skipped", due.missed);
            self.troubles.warn("missed readings", message);
        }
        self.read_all(now);
        self.read_node(now);
        if due.closes_sample {
            self.samples.close(now);
            self.write_status(now);
        }
        self.remove_leaving();
    }

    /// Puts the plan's limits for `now` in force. A limit that could not be written is tried again.
    pub fn follow_plan(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        self.enter_groups(now);
        self.count_networks();
        self.plan_heaps(now);
        self.write_limits(now);
        self.limit_networks(now);
        self.restore_heaps(now, None);
        self.advance_heaps(Duration::ZERO, now);
        self.watch_memory();
        self.leave_groups(now);
        self.count_networks();
    }

    /// When [`Self::follow_plan`] is due next.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        self.plan.as_ref()?.next_change(now)
    }

    fn take_list(
        &mut self,
        list: &[RunningContainer],
        peer: Peer,
        now: Instant,
    ) -> Result<(), String> {
        let running = containers::check(list, &self.forbidden)?;
        // A container with another root process has started anew.
        let is_same = |id: &ContainerId, container: &Container| {
            let now = running.get(id);
            now.is_some_and(|now| container.begins_at(now.pid))
        };
        let ended = self.containers.iter().filter(|(id, one)| !is_same(id, one));
        let ended: Vec<ContainerId> = ended.map(|(id, _)| id.clone()).collect();
        for id in ended {
            self.depart(&id, now);
        }
        let arrived = running
            .iter()
            .filter(|(id, _)| !self.containers.contains_key(*id))
            .map(|(id, running)| (id.clone(), running.clone()))
            .collect();
        self.arrive(arrived, peer, now);
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
        self.samples.acknowledge(reply.acknowledged);
        self.plan = Some(plan);
        for container in self.containers.values_mut() {
            container.held_back = false;
        }
        self.follow_plan(now);
        Ok(())
    }

    fn report(&mut self, now: Instant) -> elastane_protocol::Report {
        let running = self.containers.iter().map(|(id, container)| {
            let limits = container.in_force();
            (id.clone(), (limits != Limits::default()).then_some(limits))
        });
        let running = running.collect();
        let of_node = OfNode {
            pressure: self.node.pressure(&self.proc),
            memory_victims: self.memory_victims(),
        };
        let report = report::report(&self.identity, &running, of_node, &self.samples, now);
        self.reported = self.reported.max(report.sequence);
        report
    }

    fn write_status(&mut self, now: Instant) {
        let counts = self.network.is_counted();
        let containers = self.containers.iter().map(|(id, container)| {
            let reasons = container.history.at(now);
            ContainerStatus {
                container: id.to_string(),
                usage: self.samples.newest_of(id),
                planned: self.plan.as_ref().and_then(|plan| plan.limits_at(id, now)),
                in_force: container.in_force(),
                is_network_counted: counts && container.network.is_some(),
                reasons: reasons.collect(),
            }
        });
        let troubles = self.troubles.counts().into_iter();
        let status = Status {
            unix_ms: unix_ms(),
            pid: std::process::id(),
            can_limit: self.identity.can_limit,
            capacity: self.identity.capacity,
            node_usage: self.samples.newest_of_node(),
            others_usage: status::others(&self.samples.newest_of_node(), &self.samples.newest()),
            pressure: self.node.pressure(&self.proc),
            memory_victims: self.memory_victims(),
            containers: containers.collect(),
            troubles: troubles.map(|(kind, count)| (kind.into(), count)).collect(),
        };
        if let Err(error) = status.write(&self.status_file) {
            let path = self.status_file.display();
            self.troubles.warn("status", format!("{path}: {error}"));
        }
    }

    fn read_all(&mut self, now: Instant) {
        self.read_heaps(now);
        // One scan serves all containers. None is needed when every container has a group.
        let needs_table = self.containers.values().any(Container::needs_table);
        let table = match needs_table {
            true => self.scan(),
            false => Some(ProcessTable::default()),
        };
        let Some(table) = table else {
            return;
        };
        let networks = self.read_networks();
        let ids: Vec<ContainerId> = self.containers.keys().cloned().collect();
        for id in &ids {
            self.read_container(id, &table, networks.as_ref(), now);
        }
    }

    /// Reads one container between two rounds.
    fn read_one(&mut self, id: &ContainerId, table: &ProcessTable, now: Instant) {
        let networks = self.read_networks();
        self.read_container(id, table, networks.as_ref(), now);
    }

    /// The network counters of all containers. None if they are not counted or cannot be read.
    fn read_networks(&mut self) -> Option<AllCounters> {
        let networks = self.network.read_containers();
        self.troubles.check("networks not read", networks).flatten()
    }

    fn read_container(
        &mut self,
        id: &ContainerId,
        table: &ProcessTable,
        networks: Option<&AllCounters>,
        now: Instant,
    ) {
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        let disks = self.node.disks();
        let reading = container.read(&self.proc, table, disks, now);
        let reading = reading.map_err(|error| format!("{id}: {error}"));
        if let Some(Some(mut reading)) = self.troubles.check("readings", reading) {
            if let (Some(network), Some(all)) = (&mut container.network, networks) {
                reading.counted.add(network.read(all));
            }
            self.samples.add(id, &reading);
        }
        let processes = &mut container.sensor.processes;
        if std::mem::take(&mut processes.disk_denied) {
            let message = "disk use of other users' processes cannot be read without root";
            self.troubles.warn("disk use denied", message);
        }
        if std::mem::take(&mut processes.opened_anew) {
            let message = "half of the agent's file descriptors are in use: it opens the files of \
                           processes anew for each reading; raise LimitNOFILE";
            self.troubles.warn("files opened anew", message);
        }
    }

    /// Reads all processes, or None if `/proc` cannot be listed.
    fn scan(&mut self) -> Option<ProcessTable> {
        let scanned = ProcessTable::scan(&self.proc, &mut self.kernel_threads);
        let table = self.troubles.check("process table", scanned)?;
        for error in table.unreadable() {
            self.troubles.warn("processes not readable", error);
        }
        Some(table)
    }
}
