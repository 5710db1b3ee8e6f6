//! The agent's state, and what it does when a request comes or a round is due.
//!
//! Nothing here waits or reads a clock: `now` is given.

mod arrivals;
mod container;
mod departures;
mod own_group;
mod start;
mod tree_moves;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Instant,
};

use elastane_protocol::{AgentRequest, AgentResponse, CpuStep, Reply, RunningContainer};

use self::container::Container;
pub use self::{departures::Restored, start::StartError};
use crate::{
    actuators::{CpuLimit, CpuLimiter, KernelFiles, OwnGroups},
    audit::{Audit, Reason},
    cgroups::Hierarchies,
    container_id::ContainerId,
    containers,
    journal::Journal,
    once::Once,
    peer::Peer,
    plan::Plan,
    report::{self, Identity},
    samples::Samples,
    schedule::Due,
    sensors::{KernelThreads, ProcFs, ProcessTable},
};

/// Everything the agent knows.
#[derive(Debug)]
pub struct Agent {
    proc: ProcFs,
    kernel_threads: KernelThreads,
    identity: Identity,
    /// The agent and everything above it.
    forbidden: Vec<u32>,
    hierarchies: Hierarchies,
    /// Nothing when the agent cannot limit.
    own_groups: Option<OwnGroups>,
    containers: BTreeMap<ContainerId, Container>,
    samples: Samples,
    /// The newest sample that was ever reported.
    reported: u64,
    plan: Option<Plan>,
    actuator: Actuator,
    /// Own groups that no container needs any more; they are removed when they are empty.
    leaving: BTreeSet<PathBuf>,
    /// Own groups of an agent that was killed.
    removed_at_start: usize,
    troubles: Once,
    stopped: bool,
}

/// What it takes to change a limit.
#[derive(Debug)]
struct Actuator {
    files: KernelFiles,
    journal: Journal,
    audit: Audit,
}

impl Agent {
    /// Carries out a request of the NodeManager, or of whoever else `peer` is.
    pub fn handle(&mut self, request: AgentRequest, peer: Peer, now: Instant) -> AgentResponse {
        if self.stopped {
            return AgentResponse::Refused("the agent stops".into());
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

    /// Reads every container, and closes a sample when it is time to.
    pub fn round(&mut self, due: Due, now: Instant) {
        if self.stopped {
            return;
        }
        if due.missed > 0 {
            let message = format!("{} readings came too late and are left out", due.missed);
            self.troubles.warn("missed readings", message);
        }
        self.read_all(now);
        if due.closes_sample {
            self.samples.close(now);
        }
        self.remove_leaving();
    }

    /// Puts in force what the plan says now. A limit that could not be written is tried again.
    pub fn follow_plan(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        self.enter_groups(now);
        self.write_limits(now);
        self.leave_groups(now);
    }

    fn step_at(&self, id: &ContainerId, now: Instant) -> Option<CpuStep> {
        self.plan.as_ref()?.step_at(id, now)
    }

    fn write_limits(&mut self, now: Instant) {
        let ended = self.plan.as_ref().is_none_or(|plan| plan.has_ended(now));
        let mut limits_outlived_plan = false;
        for (id, container) in &mut self.containers {
            let Some(limiter) = &mut container.limiter else {
                continue;
            };
            let step = self.plan.as_ref().and_then(|plan| plan.step_at(id, now));
            if limiter.in_force() == step {
                continue;
            }
            let reason = match step {
                Some(_) => Reason::PlanStep,
                None if ended => Reason::PlanEnded,
                None => Reason::NotInPlan,
            };
            limits_outlived_plan |= reason == Reason::PlanEnded;
            let actuator = &mut self.actuator;
            actuator.limit(id, limiter, step, reason, &mut self.troubles);
        }
        if limits_outlived_plan {
            let message = "the plan ran out before another one came: limits are lifted";
            self.troubles.warn("plans run out", message);
        }
    }

    /// When [`Self::follow_plan`] has something to do next.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        self.plan.as_ref()?.next_change(now)
    }

    fn take_list(
        &mut self,
        list: &[RunningContainer],
        peer: Peer,
        now: Instant,
    ) -> Result<(), String> {
        let running =
            containers::check(list, &self.forbidden).map_err(|error| error.to_string())?;
        // One that begins at another process now is not the container that it was.
        let goes_on = |id: &ContainerId, container: &Container| {
            let pid = running.get(id);
            pid.is_some_and(|pid| container.begins_at(*pid))
        };
        let gone: Vec<ContainerId> = self
            .containers
            .iter()
            .filter(|(id, container)| !goes_on(id, container))
            .map(|(id, _)| id.clone())
            .collect();
        for id in gone {
            self.depart(&id, now);
        }
        let arrived = running
            .iter()
            .filter(|(id, _)| !self.containers.contains_key(*id))
            .map(|(id, pid)| (id.clone(), *pid))
            .collect();
        self.arrive(arrived, peer, now);
        self.follow_plan(now);
        Ok(())
    }

    fn take_reply(&mut self, reply: &Reply, now: Instant) -> Result<(), String> {
        if reply.acknowledged > self.reported {
            return Err(format!(
                "the reply acknowledges sample {}, the newest that this agent reported is {}",
                reply.acknowledged, self.reported
            ));
        }
        let plan = Plan::new(reply, now).map_err(|error| error.to_string())?;
        self.samples.acknowledge(reply.acknowledged);
        self.plan = Some(plan);
        for container in self.containers.values_mut() {
            container.held_back = false;
        }
        self.follow_plan(now);
        Ok(())
    }

    fn report(&mut self, now: Instant) -> elastane_protocol::Report {
        let limit_of = |container: &Container| container.limiter.as_ref()?.in_force();
        let running = self
            .containers
            .iter()
            .map(|(id, container)| (id.clone(), limit_of(container)))
            .collect();
        let report = report::report(&self.identity, &running, &self.samples, now);
        self.reported = self.reported.max(report.sequence);
        report
    }

    fn read_all(&mut self, now: Instant) {
        // One scan for all containers that need it; none when every container has a group.
        let needs_table = self.containers.values().any(Container::needs_table);
        let table = if needs_table {
            self.scan()
        } else {
            Some(ProcessTable::default())
        };
        let Some(table) = table else {
            return;
        };
        let ids: Vec<ContainerId> = self.containers.keys().cloned().collect();
        for id in &ids {
            self.read_one(id, &table, now);
        }
    }

    fn read_one(&mut self, id: &ContainerId, table: &ProcessTable, now: Instant) {
        let Some(container) = self.containers.get_mut(id) else {
            return;
        };
        match container.read(&self.proc, table, now) {
            Ok(Some(reading)) => self.samples.add(id, &reading),
            Ok(None) => {}
            Err(error) => self.troubles.warn("readings", format!("{id}: {error}")),
        }
        if container.sensor.disk_denied {
            container.sensor.disk_denied = false;
            let message = "disk use of other users' processes cannot be read without root";
            self.troubles.warn("disk use denied", message);
        }
    }

    /// Reads all processes; nothing when `/proc` cannot be listed.
    fn scan(&mut self) -> Option<ProcessTable> {
        let scanned = ProcessTable::scan(&self.proc, &mut self.kernel_threads);
        let table = scanned
            .map_err(|error| self.troubles.warn("process table", error))
            .ok()?;
        for error in table.unreadable() {
            self.troubles.warn("processes not readable", error);
        }
        Some(table)
    }
}

impl Actuator {
    fn limit(
        &mut self,
        id: &ContainerId,
        limiter: &mut CpuLimiter,
        step: Option<CpuStep>,
        reason: Reason,
        troubles: &mut Once,
    ) {
        match limiter.apply(step, &mut self.files, &mut self.journal) {
            Ok(Some(limit)) => self.record(id, reason, step, limit, troubles),
            Ok(None) => {}
            Err(error) if error.is_gone() => {
                // The container has ended; the NodeManager has not said so yet.
                if let Err(error) = self.journal.forget_former(limiter.group()) {
                    troubles.warn("journal", error);
                }
            }
            Err(error) => troubles.warn("limits", format!("{id}: {error}")),
        }
    }

    fn record(
        &mut self,
        id: &ContainerId,
        reason: Reason,
        step: Option<CpuStep>,
        limit: CpuLimit,
        troubles: &mut Once,
    ) {
        if let Err(error) = self.audit.record(id, reason, step, limit) {
            troubles.warn("audit", format!("audit file: {error}"));
        }
    }
}
