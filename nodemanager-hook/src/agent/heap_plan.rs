//! JVMs follow the planned memory of their container: they shrink before the limit falls, may grow
//! after it has risen, and are restored when the plan does not limit them.
//!
//! [`super::actuator`] writes the limit itself, which falls with the resident memory.

use std::time::Instant;

use elastane_protocol::Limits;
use serde_json::json;

use super::{actuator::Actuator, container::Containers, heaps::NodeHeaps};
use crate::{
    audit::Reason,
    jvm::{ContainerMemory, HeapStep, Wish},
    plan::Plan,
};

/// Plans the next steps of each container's JVMs, by the limits in force before they change.
/// [`super::heap_wishes::HeapWishes::advance`] carries the steps out afterwards.
pub(super) fn plan_heaps(
    heaps: &mut NodeHeaps,
    containers: &mut Containers,
    plan: &Plan,
    actuator: &mut Actuator,
    now: Instant,
) {
    for (id, container) in containers {
        let (planned, _) = plan.wanted(id, now);
        let target = container.heap_target(&planned, heaps.follow_plan);
        let is_for_node = target.is_some_and(|target| target.is_for_node);
        if target.is_some() && !is_for_node && !container.sensor.is_charged_in_group() {
            // There is no limit to follow yet.
            continue;
        }
        let target_bytes = target.map(|target| target.bytes);
        let resident_bytes = container.sensor.resident_bytes();
        let margin_bytes = actuator.margin.bytes(resident_bytes);
        let limit_bytes = container.limiter.in_force().memory_bytes;
        let reading = ContainerMemory { resident_bytes, margin_bytes, limit_bytes };
        for step in container.heap_follower.follow(target_bytes, reading, now) {
            match step {
                HeapStep::Shrink { limit_bytes } => {
                    container.gave_back_for_node |= is_for_node;
                    let reading = ContainerMemory { limit_bytes: Some(limit_bytes), ..reading };
                    heaps.shrink(id, container, reading, is_for_node);
                }
                HeapStep::Hold => heaps.hold(id, container),
                HeapStep::Grow { limit_bytes } => {
                    let was_for_node = std::mem::take(&mut container.gave_back_for_node);
                    let reason = if was_for_node { Reason::NodeNotShort } else { Reason::PlanStep };
                    let reading = ContainerMemory { limit_bytes: Some(limit_bytes), ..reading };
                    heaps.grow(id, container, reading, reason);
                }
                HeapStep::GaveUp { .. } if is_for_node => {}
                HeapStep::GaveUp { above_plan_bytes: above } => {
                    let message =
                        format!("{id}: its limit stays {above} bytes above the planned one");
                    actuator.troubles.warn("heaps above the plan", message);
                    let event = json!({ "above_plan_bytes": above });
                    actuator.audit.record(id, Reason::HeapStays, event);
                }
            }
        }
    }
}

/// Restores the changed JVMs whose container has no target; with a reason, all changed JVMs.
pub(super) fn restore_heaps(
    heaps: &mut NodeHeaps,
    containers: &mut Containers,
    plan: &Plan,
    actuator: &mut Actuator,
    why: Option<Reason>,
    now: Instant,
) {
    let changed = actuator.journal.jvms().map(|(id, jvm)| (id.clone(), jvm));
    for (id, jvm) in changed.collect::<Vec<_>>() {
        if heaps.wishes.restores(jvm, now) {
            continue;
        }
        let container = containers.get(&id);
        let (planned, why_not_planned) = plan.wanted(&id, now);
        let has_target = container.is_some_and(|container| {
            let target = container.heap_target(&planned, heaps.follow_plan);
            container.pids.contains(&jvm.pid) && target.is_some()
        });
        if why.is_none() && has_target {
            continue;
        }
        let is_limited = planned != Limits::default();
        let reason = why.unwrap_or(match container {
            None => Reason::ContainerGone,
            Some(container) if container.gave_back_for_node && is_limited => Reason::NodeNotShort,
            Some(_) => why_not_planned,
        });
        match heaps.control_of(jvm, now) {
            Ok(Some(control)) => heaps.wishes.want(&id, control, Wish::Restore, reason),
            // The JVM has ended.
            Ok(None) => {
                actuator.journaled(|journal| journal.forget_jvm(jvm));
            }
            Err(error) => actuator.troubles.warn("heaps not changed", error),
        }
    }
    for (id, container) in containers {
        if container.gave_back_for_node && container.smaller_bytes.is_none() {
            let mut changed = actuator.journal.jvms();
            container.gave_back_for_node = changed.any(|(changed, _)| changed == id);
        }
    }
}
