//! JVMs follow their container's memory in the plan: they give back before the limit comes down,
//! may grow after it has risen, and are as they were when the plan does not limit them.
//!
//! The limit itself is written elsewhere: it comes down as what is resident falls.

use std::time::{Duration, Instant};

use super::{Agent, heaps::FoundJvm, limits::why_not_planned};
use crate::{
    audit::Reason,
    container_id::ContainerId,
    jvm::{Reading, Step, Wish, heap_for_limit},
    sensors::ProcessKey,
};

/// How long a JVM has to give memory back before its limit is left above the plan's.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);
/// How long a stopping agent waits for JVMs to be as they were.
const RESTORE_WITHIN: Duration = Duration::from_secs(3);

impl Agent {
    /// What the JVMs of each container have to do now; to be asked before limits change and
    /// carried out, by [`Self::ask_heaps`], after that.
    pub(super) fn plan_heaps(&mut self, now: Instant) -> Vec<(ContainerId, Step)> {
        let mut steps = Vec::new();
        let ids: Vec<ContainerId> = self.containers.keys().cloned().collect();
        for id in ids {
            let planned = self.planned_memory(&id, now);
            let Some(container) = self.containers.get_mut(&id) else {
                continue;
            };
            if planned.is_some() && !container.sensor.is_charged_in_group() {
                // There is no limit to follow yet.
                continue;
            }
            let resident_bytes = container.sensor.resident_bytes();
            let margin_bytes = self.actuator.rules.margin.bytes(resident_bytes);
            let in_force = container.limiter.in_force().memory_bytes;
            let fits = |planned: &u64| resident_bytes.saturating_add(margin_bytes) <= *planned;
            let reading = Reading {
                resident_bytes,
                margin_bytes,
                limit_bytes: match planned.filter(fits) {
                    // Nothing is left to do but for the limit to come down.
                    Some(planned) if in_force.is_none_or(|limit| limit > planned) => Some(planned),
                    _ => in_force,
                },
            };
            let todo = container.heap_follower.follow(planned, reading, now);
            steps.extend(todo.into_iter().map(|step| (id.clone(), step)));
        }
        steps
    }

    /// Asks JVMs for what is planned, and restores those that no plan limits any more.
    pub(super) fn ask_heaps(&mut self, steps: Vec<(ContainerId, Step)>, now: Instant) {
        for (id, step) in steps {
            match step {
                Step::Shrink { limit_bytes } => self.shrink_heaps(&id, limit_bytes),
                Step::Hold => {
                    for jvm in self.jvms_of(&id) {
                        let reason = Reason::FollowsUse;
                        self.heaps.wishes.want(&id, jvm.control, Wish::Hold, reason);
                    }
                }
                Step::Grow { limit_bytes } => {
                    // Without a limit they are restored, which is seen to below.
                    if let Some(limit_bytes) = limit_bytes {
                        self.grow_heaps(&id, limit_bytes);
                    }
                }
                Step::GaveUp { above_plan_bytes } => self.heap_stays(&id, above_plan_bytes, now),
                // The limit follows what is resident by itself.
                Step::SetLimit { .. } => {}
            }
        }
        self.restore_heaps(now, None);
        self.advance_heaps(Duration::ZERO, now);
    }

    /// Asks the JVMs that a killed agent left changed to be as they were.
    pub(super) fn restore_heaps_left_behind(&mut self, now: Instant) {
        self.restore_heaps(now, Some(Reason::LeftBehind));
        self.advance_heaps(Duration::ZERO, now);
    }

    /// Brings all JVMs to what they were, and waits for that a moment; says how many are not.
    pub(super) fn restore_heaps_at_stop(&mut self) -> usize {
        let begun = Instant::now();
        let deadline = begun + RESTORE_WITHIN;
        loop {
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            self.restore_heaps(now, Some(Reason::AgentStops));
            self.advance_heaps(Duration::ZERO, now);
            if !self.heaps.wishes.are_open() || left.is_zero() {
                break;
            }
            self.advance_heaps(left, now);
        }
        let left = self.actuator.journal.jvms().len();
        if left > 0 {
            log::warn!("{left} JVMs did not answer and are not as they were");
        }
        left
    }

    /// Asks those JVMs to be as they were that are changed and in no container whose memory is
    /// limited; with a reason, all that are changed.
    fn restore_heaps(&mut self, now: Instant, why: Option<Reason>) {
        let journal = &self.actuator.journal;
        let changed = journal.jvms().map(|(id, jvm)| (id.clone(), jvm));
        for (id, jvm) in changed.collect::<Vec<_>>() {
            if self.heaps.wishes.restores(jvm, now) {
                continue;
            }
            let container = self.containers.get(&id);
            let is_in_it = container.is_some_and(|container| container.pids.contains(&jvm.pid));
            let is_limited = self.planned_memory(&id, now).is_some();
            if why.is_none() && is_in_it && is_limited {
                continue;
            }
            let reason = why.unwrap_or(match container {
                None => Reason::ContainerGone,
                Some(_) => why_not_planned(self.plan.as_ref(), now),
            });
            self.restore_heap(&id, jvm, reason);
        }
    }

    fn restore_heap(&mut self, id: &ContainerId, jvm: ProcessKey, reason: Reason) {
        match self.heaps.control_of(jvm) {
            Ok(Some(control)) => self.heaps.wishes.want(id, control, Wish::Restore, reason),
            Ok(None) => {
                // It has ended.
                if let Err(error) = self.actuator.journal.forget_jvm(jvm) {
                    self.troubles.warn("journal", error);
                }
            }
            Err(error) => self.troubles.warn("heaps not changed", error),
        }
    }

    fn shrink_heaps(&mut self, id: &ContainerId, limit_bytes: u64) {
        let mut are_left_alone = false;
        for (jvm, heap_bytes) in self.heap_sizes(id, limit_bytes) {
            if jvm.control.kind().flags().is_empty() {
                are_left_alone = true;
                continue;
            }
            let wish = Wish::Shrink {
                heap_bytes,
                used_bytes: jvm.heap.used_bytes,
                may_collect: false,
            };
            let reason = Reason::PlanStep;
            self.heaps.wishes.want(id, jvm.control, wish, reason);
        }
        if are_left_alone {
            let message = format!("{id}: a JVM's collector gives nothing back at run time");
            self.troubles.warn("heaps left alone", message);
        }
    }

    fn grow_heaps(&mut self, id: &ContainerId, limit_bytes: u64) {
        for (jvm, heap_bytes) in self.heap_sizes(id, limit_bytes) {
            let wish = Wish::Grow { heap_bytes };
            let reason = Reason::PlanStep;
            self.heaps.wishes.want(id, jvm.control, wish, reason);
        }
    }

    /// How large the heap of each of its JVMs may be under a limit: each gets the part that it has
    /// of them now.
    fn heap_sizes(&mut self, id: &ContainerId, limit_bytes: u64) -> Vec<(FoundJvm, u64)> {
        let jvms = self.jvms_of(id);
        let Some(container) = self.containers.get(id) else {
            return Vec::new();
        };
        let committed = jvms.iter().map(|jvm| jvm.heap.committed_bytes);
        let committed_bytes = committed.fold(0, u64::saturating_add);
        let resident_bytes = container.sensor.resident_bytes();
        let margin_bytes = self.actuator.rules.margin.bytes(resident_bytes);
        let all_bytes = heap_for_limit(limit_bytes, resident_bytes, committed_bytes, margin_bytes);
        let sized = jvms.into_iter().map(|jvm| {
            let part = jvm.heap.committed_bytes;
            let bytes =
                u128::from(all_bytes) * u128::from(part) / u128::from(committed_bytes.max(1));
            (jvm, u64::try_from(bytes).unwrap_or(all_bytes))
        });
        sized.collect()
    }

    fn jvms_of(&mut self, id: &ContainerId) -> Vec<FoundJvm> {
        let Some(container) = self.containers.get(id) else {
            return Vec::new();
        };
        self.heaps.found(&container.pids, &mut self.troubles)
    }

    fn heap_stays(&mut self, id: &ContainerId, above_plan_bytes: u64, now: Instant) {
        let message = format!("{id}: its limit stays {above_plan_bytes} bytes above the plan's");
        self.troubles.warn("heaps that stay", message);
        if let Some(container) = self.containers.get_mut(id) {
            container.history.push(now, Reason::HeapStays);
        }
        let audit = &mut self.actuator.audit;
        if let Err(error) = audit.heap_stays(id, above_plan_bytes) {
            self.troubles.warn("audit", format!("audit file: {error}"));
        }
    }

    fn advance_heaps(&mut self, within: Duration, now: Instant) {
        let wishes = &mut self.heaps.wishes;
        let changed = wishes.advance(within, &mut self.actuator, now, &mut self.troubles);
        for (id, reason) in changed {
            if let Some(container) = self.containers.get_mut(&id) {
                container.history.push(now, reason);
            }
        }
    }

    /// The memory that the plan allows a container whose JVMs follow it; nothing where they do not.
    fn planned_memory(&self, id: &ContainerId, now: Instant) -> Option<u64> {
        if !self.heaps.follow || self.own_groups.is_none() {
            return None;
        }
        self.plan.as_ref()?.limits_at(id, now)?.memory_bytes
    }
}
