//! Puts the plan's limits in force for all containers at once.

use std::time::Instant;

use elastane_protocol::Limits;

use super::{Actuator, Agent, container::Container};
use crate::{
    actuators::{Change, Circumstances, KernelFileError, LimitStep},
    audit::Reason,
    container_id::ContainerId,
    plan::Plan,
};

/// The limits that a container should have, and why.
pub(super) struct Wanted<'a> {
    pub id: &'a ContainerId,
    pub container: &'a mut Container,
    pub limits: Limits,
    pub reason: Reason,
    /// Whether the watch of its memory limit woke.
    pub is_near_limit: bool,
}

impl<'a> Wanted<'a> {
    pub fn lifted(id: &'a ContainerId, container: &'a mut Container, reason: Reason) -> Self {
        Self { id, container, limits: Limits::default(), reason, is_near_limit: false }
    }
}

impl Agent {
    /// Puts the planned limits in force, and lets memory limits follow the resident memory.
    pub(super) fn write_limits(&mut self, now: Instant) {
        let plan = self.plan.as_ref();
        let mut outlived = false;
        let mut all = Vec::new();
        for (id, container) in &mut self.containers {
            let (limits, reason) = planned_limits(plan, id, now);
            let is_limited = container.limiter.in_force() != Limits::default();
            outlived |= is_limited && reason == Reason::PlanEnded;
            all.push(Wanted { limits, ..Wanted::lifted(id, container, reason) });
        }
        self.actuator.limit(all, now);
        if outlived {
            let message = "the plan ran out before the next one arrived: limits are lifted";
            self.troubles.warn("plans run out", message);
        }
    }
}

/// The planned limits of a container, and why they apply.
pub(super) fn planned_limits(
    plan: Option<&Plan>,
    id: &ContainerId,
    now: Instant,
) -> (Limits, Reason) {
    let Some(plan) = plan.filter(|plan| !plan.has_ended(now)) else {
        return (Limits::default(), Reason::PlanEnded);
    };
    match plan.limits_at(id, now) {
        Some(limits) => (limits, Reason::PlanStep),
        None => (Limits::default(), Reason::NotInPlan),
    }
}

impl Actuator {
    /// Writes the changes of all containers together, in one safe order. A failed write is tried
    /// again with the next call.
    pub(super) fn limit(&mut self, all: Vec<Wanted<'_>>, now: Instant) {
        let steps: Vec<Vec<LimitStep>> = all.iter().map(|wanted| self.steps(wanted)).collect();
        let changes = steps.iter().flatten().flat_map(|step| &step.changes);
        let changes: Vec<&Change> = changes.collect();
        let mut outcomes = self.files.write_all(&changes).into_iter();
        for (mut wanted, steps) in all.into_iter().zip(&steps) {
            for step in steps {
                let outcomes = outcomes.by_ref().take(step.changes.len());
                self.settle(&mut wanted, step, outcomes, now);
            }
        }
    }

    fn steps(&mut self, wanted: &Wanted<'_>) -> Vec<LimitStep> {
        let Wanted { id, container, .. } = wanted;
        let sensor = &container.sensor;
        let resident = sensor.is_charged_in_group();
        let circumstances = Circumstances {
            resident_bytes: resident.then(|| sensor.resident_bytes()),
            margin: self.margin,
            is_near_limit: wanted.is_near_limit,
            disks: &self.disks,
        };
        if wanted.limits.memory_bytes.is_some() && sensor.charges_elsewhere() {
            let message = format!("{id}: most of its memory is charged to its former group");
            self.troubles.warn("memory not limited", message);
        }
        let (files, journal) = (&mut self.files, &mut self.journal);
        let limiter = &container.limiter;
        let steps = limiter.steps(&wanted.limits, circumstances, files, journal);
        let mut possible = Vec::new();
        for step in steps {
            match step {
                Ok(step) => possible.push(step),
                Err(error) if error.is_gone() => self.forget(container),
                Err(error) => self.troubles.warn("limits", format!("{id}: {error}")),
            }
        }
        possible
    }

    fn settle(
        &mut self,
        wanted: &mut Wanted<'_>,
        step: &LimitStep,
        outcomes: impl Iterator<Item = Result<bool, KernelFileError>>,
        now: Instant,
    ) {
        let (id, container) = (wanted.id, &mut *wanted.container);
        let mut written = Vec::new();
        let mut failed = None;
        for (change, outcome) in step.changes.iter().zip(outcomes) {
            match outcome {
                Ok(true) => written.push(change),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if error.is_gone() => self.forget(container),
            Some(error) => self.troubles.warn("limits", format!("{id}: {error}")),
            None => {
                let (files, journal) = (&mut self.files, &mut self.journal);
                let saved = container.limiter.settle(step, files, journal);
                self.troubles.check("journal", saved);
            }
        }
        if written.is_empty() {
            return;
        }
        let reason = match step.follows_use && wanted.reason == Reason::PlanStep {
            true => Reason::FollowsUse,
            false => wanted.reason,
        };
        container.history.push(now, reason);
        self.audit.changed(id, reason, &wanted.limits, &written);
    }

    /// The container has ended, but the NodeManager still lists it.
    fn forget(&mut self, container: &Container) {
        for group in container.limiter.groups().filter(|group| !group.exists()) {
            self.files.forget(group);
            let saved = self.journal.forget_former_of(group);
            self.troubles.check("journal", saved);
        }
    }
}
