//! JVMs follow the planned memory of their container: they shrink before the limit falls, may grow
//! after it has risen, and are restored when the plan does not limit them.
//!
//! [`super::limits`] writes the limit itself, which falls with the resident memory.

use std::time::{Duration, Instant};

use super::{Agent, heaps::FoundJvm, warnings};
use crate::{
    audit::Reason,
    container_id::ContainerId,
    jvm::{ContainerMemory, Step, Wish, heap_for_limit, heap_in_use},
};

/// How long a JVM has to shrink before its container's limit is left above the planned one.
pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The memory that a container's JVMs have to fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeapTarget {
    pub bytes: u64,
    /// Whether the node's shortage of memory asks for this, not the plan.
    pub is_for_node: bool,
}

impl Agent {
    /// The next step of each container's JVMs. Computed before limits change; [`Self::ask_heaps`]
    /// carries the steps out afterwards.
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
            let reading = ContainerMemory {
                resident_bytes,
                margin_bytes,
                limit_bytes: match target_bytes.filter(fits) {
                    // The JVMs have shrunk enough; only the limit, if any, has to fall.
                    Some(target) if in_force.is_none_or(|limit| limit > target) => Some(target),
                    _ => in_force,
                },
            };
            let todo = container.heap_follower.follow(target_bytes, reading, now);
            steps.extend(todo.into_iter().map(|step| (id.clone(), step)));
        }
        steps
    }

    /// Carries out the steps, and restores the JVMs that no plan limits any more.
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
                    // Without a limit, `restore_heaps` below restores them.
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
                // The limit follows the resident memory anyway.
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
            if jvm.control.kind.flags().is_empty() {
                are_left_alone = true;
                continue;
            }
            let used_bytes = jvm.heap.used_bytes;
            // The node's shortage says nothing about the live objects of the heap. Below their size
            // a JVM would collect without end.
            let min_bytes = match is_for_node {
                true => heap_in_use(used_bytes),
                false => 0,
            };
            let wish = Wish::Shrink {
                heap_bytes: heap_bytes.max(min_bytes),
                used_bytes,
                may_collect: false,
            };
            self.heaps.wishes.want(id, jvm.control, wish, reason);
        }
        if are_left_alone {
            let message = format!("{id}: a JVM's collector does not return memory at run time");
            self.troubles.warn("collectors not supported", message);
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

    /// The heap size of each JVM under a limit, in proportion to the present heaps.
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
        let message =
            format!("{id}: its limit stays {above_plan_bytes} bytes above the planned one");
        self.troubles.warn("heaps above the plan", message);
        if let Some(container) = self.containers.get_mut(id) {
            container.history.push(now, Reason::HeapStays);
        }
        let written = self.actuator.audit.heap_stays(id, above_plan_bytes);
        warnings::audit(&mut self.troubles, written);
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

    /// The tighter target of plan and node. None if the JVMs are to be restored.
    pub(super) fn heap_target(&self, id: &ContainerId, now: Instant) -> Option<HeapTarget> {
        let container = self.containers.get(id)?;
        let for_node = self.shortage_target(id, now);
        let is_for_node = for_node.is_some() || container.gave_back_for_node;
        let planned = self.planned_memory(id, now).map(|bytes| HeapTarget {
            bytes,
            is_for_node: false,
        });
        // While no limit can follow, the node's target alone counts.
        let planned = planned.filter(|_| container.sensor.is_charged_in_group() || !is_for_node);
        let all = planned.into_iter().chain(for_node);
        all.min_by_key(|target| target.bytes)
    }

    /// The planned memory of a container, or None if its JVMs do not follow the plan.
    fn planned_memory(&self, id: &ContainerId, now: Instant) -> Option<u64> {
        if !self.heaps.follow || self.own_groups.is_none() {
            return None;
        }
        self.plan.as_ref()?.limits_at(id, now)?.memory_bytes
    }
}
