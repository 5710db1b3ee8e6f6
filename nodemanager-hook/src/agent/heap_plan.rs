//! JVMs follow their container's memory in the plan: they give back before the limit comes down,
//! may grow after it has risen, and are as they were when the plan does not limit them.
//!
//! The limit itself is written elsewhere: it comes down as what is resident falls.

use std::time::{Duration, Instant};

use super::{Agent, heaps::FoundJvm};
use crate::{
    audit::Reason,
    container_id::ContainerId,
    jvm::{Reading, Step, Wish, heap_for_limit, heap_in_use},
};

/// How long a JVM has to give memory back before its limit is left above the plan's.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// What the JVMs of a container are to fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeapTarget {
    pub bytes: u64,
    /// Because the node is short of memory; else the plan says so.
    pub is_for_node: bool,
}

impl Agent {
    /// What the JVMs of each container have to do now; to be asked before limits change and
    /// carried out, by [`Self::ask_heaps`], after that.
    pub(super) fn plan_heaps(&mut self, now: Instant) -> Vec<(ContainerId, Step)> {
        let mut steps = Vec::new();
        let ids: Vec<ContainerId> = self.containers.keys().cloned().collect();
        for id in ids {
            let target = self.heap_target(&id, now);
            let Some(container) = self.containers.get_mut(&id) else {
                continue;
            };
            let is_planned = target.is_some_and(|target| !target.is_for_node);
            if is_planned && !container.sensor.is_charged_in_group() {
                // There is no limit to follow yet.
                continue;
            }
            let target_bytes = target.map(|target| target.bytes);
            let resident_bytes = container.sensor.resident_bytes();
            let margin_bytes = self.actuator.rules.margin.bytes(resident_bytes);
            let in_force = container.limiter.in_force().memory_bytes;
            let fits = |target: &u64| resident_bytes.saturating_add(margin_bytes) <= *target;
            let reading = Reading {
                resident_bytes,
                margin_bytes,
                limit_bytes: match target_bytes.filter(fits) {
                    // Nothing is left to do but for the limit to come down, if there is one.
                    Some(target) if in_force.is_none_or(|limit| limit > target) => Some(target),
                    _ => in_force,
                },
            };
            let todo = container.heap_follower.follow(target_bytes, reading, now);
            steps.extend(todo.into_iter().map(|step| (id.clone(), step)));
        }
        steps
    }

    /// Asks JVMs for what is planned, and restores those that no plan limits any more.
    pub(super) fn ask_heaps(&mut self, steps: Vec<(ContainerId, Step)>, now: Instant) {
        for (id, step) in steps {
            match step {
                Step::Shrink { limit_bytes } => {
                    let target = self.heap_target(&id, now);
                    let is_for_node = target.is_some_and(|target| target.is_for_node);
                    self.shrink_heaps(&id, limit_bytes, is_for_node);
                }
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
                Step::GaveUp { above_plan_bytes } => {
                    let target = self.heap_target(&id, now);
                    if target.is_some_and(|target| !target.is_for_node) {
                        self.heap_stays(&id, above_plan_bytes, now);
                    }
                }
                // The limit follows what is resident by itself.
                Step::SetLimit { .. } => {}
            }
        }
        self.restore_heaps(now, None);
        self.advance_heaps(Duration::ZERO, now);
    }

    fn shrink_heaps(&mut self, id: &ContainerId, limit_bytes: u64, is_for_node: bool) {
        let mut are_left_alone = false;
        let reason = match is_for_node {
            true => Reason::NodeShort,
            false => Reason::PlanStep,
        };
        if let Some(container) = self.containers.get_mut(id).filter(|_| is_for_node) {
            container.gave_back_for_node = true;
        }
        for (jvm, heap_bytes) in self.heap_sizes(id, limit_bytes) {
            if jvm.control.kind().flags().is_empty() {
                are_left_alone = true;
                continue;
            }
            let used_bytes = jvm.heap.used_bytes;
            // How much is missing says nothing of what is live, below which a JVM would collect
            // without end.
            let least_bytes = if is_for_node {
                heap_in_use(used_bytes)
            } else {
                0
            };
            let wish = Wish::Shrink {
                heap_bytes: heap_bytes.max(least_bytes),
                used_bytes,
                may_collect: false,
            };
            self.heaps.wishes.want(id, jvm.control, wish, reason);
        }
        if are_left_alone {
            let message = format!("{id}: a JVM's collector gives nothing back at run time");
            self.troubles.warn("heaps left alone", message);
        }
    }

    fn grow_heaps(&mut self, id: &ContainerId, limit_bytes: u64) {
        let container = self.containers.get_mut(id);
        let was_for_node = container.is_some_and(|one| std::mem::take(&mut one.gave_back_for_node));
        let reason = match was_for_node {
            true => Reason::NodeNotShort,
            false => Reason::PlanStep,
        };
        for (jvm, heap_bytes) in self.heap_sizes(id, limit_bytes) {
            let wish = Wish::Grow { heap_bytes };
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

    pub(super) fn jvms_of(&mut self, id: &ContainerId) -> Vec<FoundJvm> {
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

    pub(super) fn advance_heaps(&mut self, within: Duration, now: Instant) {
        let wishes = &mut self.heaps.wishes;
        let changed = wishes.advance(within, &mut self.actuator, now, &mut self.troubles);
        for (id, reason) in changed {
            if let Some(container) = self.containers.get_mut(&id) {
                container.history.push(now, reason);
            }
        }
    }

    /// What the JVMs of a container are to fit now, for whichever reason is the tighter one;
    /// nothing where they are to be as they were.
    pub(super) fn heap_target(&self, id: &ContainerId, now: Instant) -> Option<HeapTarget> {
        let container = self.containers.get(id)?;
        let for_node = self.shortage_target(id, now);
        let is_for_node = for_node.is_some() || container.gave_back_for_node;
        let planned = self.planned_memory(id, now).map(|bytes| HeapTarget {
            bytes,
            is_for_node: false,
        });
        // Where there is no limit to follow yet, the node alone counts.
        let planned = planned.filter(|_| container.sensor.is_charged_in_group() || !is_for_node);
        let all = planned.into_iter().chain(for_node);
        all.min_by_key(|target| target.bytes)
    }

    /// The memory that the plan allows a container whose JVMs follow it; nothing where they do not.
    fn planned_memory(&self, id: &ContainerId, now: Instant) -> Option<u64> {
        if !self.heaps.follow || self.own_groups.is_none() {
            return None;
        }
        self.plan.as_ref()?.limits_at(id, now)?.memory_bytes
    }
}
