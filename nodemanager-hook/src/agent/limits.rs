//! The plan's limits, put in force for all containers at once.

use std::time::Instant;

use elastane_protocol::Limits;

use super::{Actuator, Agent, container::Container};
use crate::{
    actuators::{Change, Circumstances, KernelFileError, LimitError, Margin, Step},
    audit::Reason,
    container_id::ContainerId,
    once::Once,
    plan::Plan,
    sensors::Device,
};

/// What a container is to be limited to, and why.
pub(super) struct Wanted<'a> {
    pub id: &'a ContainerId,
    pub container: &'a mut Container,
    pub limits: Limits,
    pub reason: Reason,
    /// Whether its memory limit is about to be hit.
    pub is_near_limit: bool,
}

/// What limits follow beside the plan.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub margin: Margin,
    /// The disks that are limited.
    pub disks: Vec<Device>,
}

impl Agent {
    /// Puts in force what the plan says now, and lets memory limits follow what is resident.
    pub(super) fn write_limits(&mut self, now: Instant) {
        let plan = self.plan.as_ref();
        let mut outlived = false;
        let mut all = Vec::new();
        for (id, container) in &mut self.containers {
            let limits = plan.and_then(|plan| plan.limits_at(id, now));
            let reason = match limits {
                Some(_) => Reason::PlanStep,
                None => why_not_planned(plan, now),
            };
            let is_limited = container.limiter.in_force() != Limits::default();
            outlived |= is_limited && reason == Reason::PlanEnded;
            all.push(Wanted {
                id,
                container,
                limits: limits.unwrap_or_default(),
                reason,
                is_near_limit: false,
            });
        }
        self.actuator.limit(all, now, &mut self.troubles);
        if outlived {
            let message = "the plan ran out before another one came: limits are lifted";
            self.troubles.warn("plans run out", message);
        }
    }
}

/// Why a container is not limited any more that still runs.
pub(super) fn why_not_planned(plan: Option<&Plan>, now: Instant) -> Reason {
    if plan.is_none_or(|plan| plan.has_ended(now)) {
        Reason::PlanEnded
    } else {
        Reason::NotInPlan
    }
}

impl Actuator {
    /// Writes what has to change for all of them, in an order that suits them all. What could not
    /// be written is tried again with the next call.
    pub(super) fn limit(&mut self, all: Vec<Wanted<'_>>, now: Instant, troubles: &mut Once) {
        let mut steps: Vec<Vec<Step>> = Vec::new();
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

    fn steps(&mut self, wanted: &Wanted<'_>, troubles: &mut Once) -> Vec<Step> {
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
            let message = format!("{id}: most of its memory is charged to where it was before");
            troubles.warn("memory not limited", message);
        }
        let (files, journal) = (&mut self.files, &mut self.journal);
        let steps = container
            .limiter
            .steps(&wanted.limits, circumstances, files, journal);
        let mut written = Vec::new();
        for step in steps {
            match step {
                Ok(step) => written.push(step),
                Err(error) => self.failed(wanted.id, container, &error, troubles),
            }
        }
        written
    }

    fn settle(
        &mut self,
        wanted: Wanted<'_>,
        steps: &[Step],
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
                    if let Err(error) = container.limiter.settle(step, files, journal) {
                        troubles.warn("journal", error);
                    }
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
            if let Err(error) = self.audit.changed(id, reason, &limits, &written) {
                troubles.warn("audit", format!("audit file: {error}"));
            }
        }
    }

    fn failed(
        &mut self,
        id: &ContainerId,
        container: &Container,
        error: &LimitError,
        troubles: &mut Once,
    ) {
        if error.is_gone() {
            self.forget(container, troubles);
        } else {
            troubles.warn("limits", format!("{id}: {error}"));
        }
    }

    /// The container has ended; the NodeManager has not said so yet.
    fn forget(&mut self, container: &Container, troubles: &mut Once) {
        for group in container.limiter.groups() {
            if group.exists() {
                continue;
            }
            self.files.forget(group);
            if let Err(error) = self.journal.forget_former_of(group) {
                troubles.warn("journal", error);
            }
        }
    }
}
