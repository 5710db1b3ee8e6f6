//! Limits over time of every container of a node.

use elastane_protocol::{CanLimit, Limits, Step};

use crate::cluster::state::{Container, NodeEntry, NodeId, State};
use crate::node::ExecutorId;
use crate::plan::{LimitPlan, PlanSettings};
use crate::running::Running;
use crate::timeline::on_grid_ms;

/// Maximum number of steps for all containers of a node. At about 37 bytes each they leave room for
/// hundreds of ids in a message of 256 KiB.
const MOST_STEPS_OF_A_NODE: usize = 6_000;

/// Limits of every container of a node, from `now_ms` on, for an agent with the abilities
/// `can_limit`. A container without an entry is not limited. `lent_to` is the executor to which the
/// node's remaining resources are lent.
///
/// The use of an executor without a profile is unknown, and that of one in observe counts as unknown. Where CPU is
/// weighed, it weighs its share of the virtual cores that run there, so that it neither starves nor starves others.
pub(crate) fn limit_plans<'a>(
    state: &'a State,
    node: NodeId,
    lent_to: Option<ExecutorId>,
    settings: &PlanSettings,
    can_limit: CanLimit,
    now_ms: i64,
) -> Vec<(&'a str, Vec<Step>)> {
    let Some(entry) = state.nodes.get(node) else {
        return Vec::new();
    };
    let vcores = |container: &Container| f64::from(container.request.vcores.max(1));
    let all_vcores: f64 = state.containers_on(entry).map(|(_, container)| vcores(container)).sum();
    let share_of_vcores =
        |container: &Container| entry.node.capacity.cpu_cores * vcores(container) / all_vcores;
    let most_steps = MOST_STEPS_OF_A_NODE / entry.containers.len().max(1);
    let steps = |container: &Container| {
        let running = planned(entry, container, lent_to)?;
        let steps = if container.profile().is_some() && !state.is_observed(container) {
            let plan = LimitPlan {
                settings,
                can_limit,
                most_steps,
                margin: container.margin,
                request: entry.request_resources(container.request),
            };
            plan.steps(&running, now_ms)
        } else if settings.weighs_cpu && can_limit.cpu {
            vec![Step {
                offset_ms: 0,
                limits: Limits {
                    cpu_weight_cores: Some(share_of_vcores(container) as f32),
                    ..Limits::default()
                },
            }]
        } else {
            Vec::new()
        };
        (!steps.is_empty()).then_some(steps)
    };
    let mut plans: Vec<_> = state
        .containers_on(entry)
        .filter_map(|(id, container)| Some((id, steps(container)?)))
        .collect();
    plans.sort_unstable_by_key(|(id, _)| *id);
    plans
}

/// The executor that a container's limits follow. While nothing but time moved its demand, the
/// demand counts from the start itself and not from the slot of the start.
fn planned(
    entry: &NodeEntry,
    container: &Container,
    lent_to: Option<ExecutorId>,
) -> Option<Running> {
    let mut running = entry.node.get(container.executor)?.clone();
    let was_moved = running.start_ms != on_grid_ms(container.start_ms, container.start_ms);
    if !was_moved && lent_to != Some(container.executor) {
        running.start_ms = container.start_ms;
    }
    Some(running)
}
