//! JVMs follow the planned memory of their container: they shrink before the limit falls, may grow
//! after it has risen, and are restored when the plan does not limit them.
//!
//! [`crate::agent::actuator`] writes the limit itself, which falls with the resident memory.

use std::{
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::Limits;
use serde_json::json;

use super::NodeHeaps;
use crate::{
    agent::host::Host,
    audit::Reason,
    jvm::{ContainerMemory, HeapStep, Wish},
};

/// How long a stopping agent waits for JVMs.
const RESTORE_WITHIN: Duration = Duration::from_secs(3);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Plans the next steps of each container's JVMs, by the limits in force before they change.
/// [`super::wishes::HeapWishes::advance`] carries the steps out afterwards.
pub fn plan_heaps(heaps: &mut NodeHeaps, host: &mut Host, now: Instant) {
    let Host { containers, plan, actuator, .. } = host;
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
                    container.was_asked_for_node |= is_for_node;
                    let reading = ContainerMemory { limit_bytes: Some(limit_bytes), ..reading };
                    heaps.shrink(id, container, reading, is_for_node);
                }
                HeapStep::Hold => heaps.hold(id, container),
                HeapStep::Grow { limit_bytes } => {
                    let was_for_node = std::mem::take(&mut container.was_asked_for_node);
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
pub fn restore_heaps(heaps: &mut NodeHeaps, host: &mut Host, why: Option<Reason>, now: Instant) {
    let Host { containers, plan, actuator, .. } = host;
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
            Some(container) if container.was_asked_for_node && is_limited => Reason::NodeNotShort,
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
        if container.was_asked_for_node && container.smaller_bytes.is_none() {
            let mut changed = actuator.journal.jvms();
            container.was_asked_for_node = changed.any(|(changed, _)| changed == id);
        }
    }
    heaps.wishes.advance(Duration::ZERO, actuator, now);
}

/// Restores all JVMs and waits a moment.
pub fn restore_all_heaps(heaps: &mut NodeHeaps, host: &mut Host) {
    let deadline = Instant::now() + RESTORE_WITHIN;
    loop {
        let now = Instant::now();
        let left = deadline.saturating_duration_since(now);
        restore_heaps(heaps, host, Some(Reason::AgentStops), now);
        let is_over = !heaps.wishes.are_open() && !heaps.search.is_held_up();
        if is_over || left.is_zero() {
            break;
        }
        if !heaps.wishes.are_open() {
            thread::sleep(BETWEEN_LOOKS);
            continue;
        }
        // One that hangs must not keep the next one from a thread.
        heaps.wishes.advance(left.min(BETWEEN_LOOKS), &mut host.actuator, now);
    }
    let left = host.actuator.journal.jvms().len();
    if left > 0 {
        log::warn!("{left} JVMs did not answer: their flags are not restored");
    }
}
