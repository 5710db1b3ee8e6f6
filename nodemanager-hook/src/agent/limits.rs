//! Puts the plan's limits in force for all containers at once.

use std::time::Instant;

use elastane_protocol::Limits;

use super::{Actuator, Agent, container::Container, warnings};
use crate::{
    actuators::{Change, Circumstances, KernelFileError, LimitStep, Margin},
    audit::Reason,
    container_id::ContainerId,
    once::Once,
    plan::Plan,
    sensors::Device,
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
    /// No limits any more.
    pub fn lifted(id: &'a ContainerId, container: &'a mut Container, reason: Reason) -> Self {
        Self {
            id,
            container,
            limits: Limits::default(),
            reason,
            is_near_limit: false,
        }
    }
}

/// The settings that limits depend on besides the plan.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub margin: Margin,
    /// The disks whose traffic is limited.
    pub disks: Vec<Device>,
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
            all.push(Wanted {
                limits,
                ..Wanted::lifted(id, container, reason)
            });
        }
        self.actuator.limit(all, now, &mut self.troubles);
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
    match plan.and_then(|plan| plan.limits_at(id, now)) {
        Some(limits) => (limits, Reason::PlanStep),
        None => (Limits::default(), why_not_planned(plan, now)),
    }
}

/// Why the plan does not limit a running container.
pub(super) fn why_not_planned(plan: Option<&Plan>, now: Instant) -> Reason {
    if plan.is_none_or(|plan| plan.has_ended(now)) {
        Reason::PlanEnded
    } else {
        Reason::NotInPlan
    }
}

impl Actuator {
    /// Writes the changes of all containers together, in one safe order. A failed write is tried
    /// again with the next call.
    pub(super) fn limit(&mut self, all: Vec<Wanted<'_>>, now: Instant, troubles: &mut Once) {
        let mut steps: Vec<Vec<LimitStep>> = Vec::new();
        for wanted in &all {
            steps.push(self.steps(wanted, troubles));
        }
        let changes: Vec<&Change> = steps
            .iter()
            .flatten()
            .flat_map(|one| &one.changes)
            .collect();
        let mut outcomes = self.files.write_all(&changes).into_iter();
        for (wanted, steps) in all.into_iter().zip(&steps) {
            self.settle(wanted, steps, &mut outcomes, now, troubles);
        }
    }

    fn steps(&mut self, wanted: &Wanted<'_>, troubles: &mut Once) -> Vec<LimitStep> {
        let Wanted { id, container, .. } = wanted;
        let sensor = &container.sensor;
        let resident = sensor.is_charged_in_group();
        let circumstances = Circumstances {
            resident_bytes: resident.then(|| sensor.resident_bytes()),
            margin: self.rules.margin,
            is_near_limit: wanted.is_near_limit,
            disks: &self.rules.disks,
        };
        if wanted.limits.memory_bytes.is_some() && sensor.charges_elsewhere() {
            let message = format!("{id}: most of its memory is charged to its former group");
            troubles.warn("memory not limited", message);
        }
        let (files, journal) = (&mut self.files, &mut self.journal);
        let limiter = &container.limiter;
        let steps = limiter.steps(&wanted.limits, circumstances, files, journal);
        let mut possible = Vec::new();
        for step in steps {
            match step {
                Ok(step) => possible.push(step),
                Err(error) if error.is_gone() => self.forget(container, troubles),
                Err(error) => troubles.warn("limits", format!("{id}: {error}")),
            }
        }
        possible
    }

    fn settle(
        &mut self,
        wanted: Wanted<'_>,
        steps: &[LimitStep],
        outcomes: &mut impl Iterator<Item = Result<bool, KernelFileError>>,
        now: Instant,
        troubles: &mut Once,
    ) {
        let Wanted {
            id,
            container,
            limits,
            reason,
            ..
        } = wanted;
        for step in steps {
            let mut written = Vec::new();
            let mut failed = None;
            for (change, outcome) in step.changes.iter().zip(&mut *outcomes) {
                match outcome {
                    Ok(true) => written.push(change),
                    Ok(false) => {}
                    Err(error) => failed = Some(error),
                }
            }
            match failed {
                Some(error) if error.is_gone() => self.forget(container, troubles),
                Some(error) => troubles.warn("limits", format!("{id}: {error}")),
                None => {
                    let (files, journal) = (&mut self.files, &mut self.journal);
                    let saved = container.limiter.settle(step, files, journal);
                    warnings::journal(troubles, saved);
                }
            }
            if written.is_empty() {
                continue;
            }
            let reason = match step.follows_use && reason == Reason::PlanStep {
                true => Reason::FollowsUse,
                false => reason,
            };
            container.history.push(now, reason);
            let recorded = self.audit.changed(id, reason, &limits, &written);
            warnings::audit(troubles, recorded);
        }
    }

    /// The container has ended, but the NodeManager still lists it.
    fn forget(&mut self, container: &Container, troubles: &mut Once) {
        for group in container.limiter.groups().filter(|group| !group.exists()) {
            self.files.forget(group);
            warnings::journal(troubles, self.journal.forget_former_of(group));
        }
    }
}
