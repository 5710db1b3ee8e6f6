//! JVMs follow the planned memory of their container: they shrink before the limit falls, may grow
//! after it has risen, and are restored when the plan does not limit them.
//!
//! [`super::limits`] writes the limit itself, which falls with the resident memory.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Agent, limits::planned_limits};
use crate::{
    audit::Reason,
    jvm::{ContainerMemory, Step},
};

impl Agent {
    /// Plans the next steps of each container's JVMs, by the limits in force before they change.
    /// [`Self::advance_heaps`] carries the steps out afterwards.
    pub(super) fn plan_heaps(&mut self, now: Instant) {
        let follow_plan = self.heaps_follow_plan();
        let plan = self.plan.as_ref();
        for (id, container) in &mut self.containers {
            let (planned, _) = planned_limits(plan, id, now);
            let target = container.heap_target(&planned, follow_plan);
            let is_for_node = target.is_some_and(|target| target.is_for_node);
            if target.is_some() && !is_for_node && !container.sensor.is_charged_in_group() {
                // There is no limit to follow yet.
                continue;
            }
            let target_bytes = target.map(|target| target.bytes);
            let resident_bytes = container.sensor.resident_bytes();
            let margin_bytes = self.actuator.margin.bytes(resident_bytes);
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
            let heaps = &mut self.heaps;
            for step in container.heap_follower.follow(target_bytes, reading, now) {
                match step {
                    Step::Shrink { limit_bytes } => {
                        container.gave_back_for_node |= is_for_node;
                        let reading = ContainerMemory { limit_bytes: Some(limit_bytes), ..reading };
                        heaps.shrink(id, &container.pids, reading, is_for_node);
                    }
                    Step::Hold => heaps.hold(id, &container.pids),
                    // Without a limit, `restore_heaps` restores them.
                    Step::Grow { limit_bytes: None } => {}
                    Step::Grow { limit_bytes } => {
                        let reason = match std::mem::take(&mut container.gave_back_for_node) {
                            true => Reason::NodeNotShort,
                            false => Reason::PlanStep,
                        };
                        let reading = ContainerMemory { limit_bytes, ..reading };
                        heaps.grow(id, &container.pids, reading, reason);
                    }
                    Step::GaveUp { .. } if is_for_node => {}
                    Step::GaveUp { above_plan_bytes: above } => {
                        let message =
                            format!("{id}: its limit stays {above} bytes above the planned one");
                        self.troubles.warn("heaps above the plan", message);
                        container.history.push(now, Reason::HeapStays);
                        let event = json!({ "above_plan_bytes": above });
                        self.actuator.audit.record(id, Reason::HeapStays, event);
                    }
                    // The limit follows the resident memory anyway.
                    Step::SetLimit { .. } => {}
                }
            }
        }
    }

    /// Takes the results of the JVMs, waiting up to `within`, and sends the next wishes.
    pub(super) fn advance_heaps(&mut self, within: Duration, now: Instant) {
        let wishes = &mut self.heaps.wishes;
        for (id, reason) in wishes.advance(within, &mut self.actuator, now) {
            self.add_to_history(&id, reason, now);
        }
    }

    /// Whether the JVMs follow the planned memory.
    pub(super) fn heaps_follow_plan(&self) -> bool {
        self.heaps.follow && self.own_groups.is_some()
    }
}
