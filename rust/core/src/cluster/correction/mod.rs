//! Corrections of running containers' demands, by their progress and their use.

mod window;

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::state::{Container, NodeId, State};
use crate::demand::Demand;
use crate::node::ExecutorId;
use crate::progress::Progress;
use crate::reprovision::{
    Correction, Course, Finding, NotMeasured, ReprovisionSettings, Reprovisioned, Used,
    mean_between, range_around,
};
use crate::resources::Resources;
use crate::{SLOT_MS, slot_of};
use window::{NodeCorrections, Window};

const SLOT: i64 = SLOT_MS as i64;

/// The settings, the corrections of each node, and the log since it was last taken.
#[derive(Debug, Default)]
pub(crate) struct Corrections {
    settings: Option<ReprovisionSettings>,
    by_node: HashMap<NodeId, NodeCorrections>,
    done: Vec<Reprovisioned>,
}

impl Corrections {
    pub(crate) fn reprovision_by(&mut self, settings: ReprovisionSettings) {
        self.settings = Some(settings);
    }

    pub(crate) fn predicted_demand<'a>(
        &'a self,
        state: &'a State,
        container: &str,
    ) -> Option<&'a Demand> {
        let container = state.containers.get(container)?;
        let entry = state.nodes.get(container.node)?;
        container.profile.as_ref()?;
        match self.course(container) {
            Some(course) => Some(course.predicted()),
            None => Some(&entry.node.get(container.executor)?.demand),
        }
    }

    pub(crate) fn factors(&self, state: &State, container: &str) -> Resources {
        let course = state
            .containers
            .get(container)
            .and_then(|it| self.course(it));
        course.map_or(Resources::ONE, Course::factors)
    }

    fn course(&self, container: &Container) -> Option<&Course> {
        let node = self.by_node.get(&container.node)?;
        node.courses.get(&container.executor)
    }

    /// The executor to which a node's remaining resources are lent.
    pub(crate) fn lent_to(&self, node: NodeId) -> Option<ExecutorId> {
        let window = self.by_node.get(&node)?.window?;
        Some(window.executor)
    }

    pub(crate) fn progressed(
        &mut self,
        state: &mut State,
        container: &str,
        progress: Progress,
        now_ms: i64,
    ) -> bool {
        let Some((_, container)) = self.predicted_container(state, container) else {
            return false;
        };
        let executor = container.executor;
        let (Some(corrections), Some(entry)) = (
            self.by_node.get_mut(&container.node),
            state.nodes.get_mut(container.node),
        ) else {
            return false;
        };
        entry.plan.advance(&mut entry.node, now_ms);
        let has_window = corrections.has_window(executor);
        let (Some(course), Some(running)) = (
            corrections.courses.get_mut(&executor),
            entry.node.get(executor),
        ) else {
            return false;
        };
        let slot = slot_of(now_ms).saturating_sub(slot_of(running.start_ms));
        let Some(slot_now) = course.update_progress(progress, slot, now_ms) else {
            return false;
        };
        // The loan lies in fixed slots of the demand, so the demand must not move.
        if has_window {
            return false;
        }
        let start_ms = slot_of(now_ms)
            .saturating_sub(slot_now)
            .saturating_mul(SLOT);
        let demand = running.demand.clone();
        entry
            .plan
            .replace(&mut entry.node, executor, demand, start_ms, now_ms);
        true
    }

    pub(crate) fn used(
        &mut self,
        state: &mut State,
        container: &str,
        used: Used,
        now_ms: i64,
    ) -> bool {
        let Some(settings) = self.settings else {
            return false;
        };
        let is_part = (0.0..=1.0).contains(&used.throttled);
        if used.usage.first_invalid().is_some() || !is_part || used.from_ms >= used.to_ms {
            return false;
        }
        let Some((id, container)) = self.predicted_container(state, container) else {
            return false;
        };
        let (Some(corrections), Some(entry)) = (
            self.by_node.get_mut(&container.node),
            state.nodes.get_mut(container.node),
        ) else {
            return false;
        };
        let capacity = entry.node.capacity;
        let executor = container.executor;
        let window = corrections
            .window
            .filter(|window| window.executor == executor);
        let (Some(course), Some(running)) = (
            corrections.courses.get_mut(&executor),
            entry.node.get(executor),
        ) else {
            return false;
        };
        course.record_sample(used);
        let demand = course.demand(capacity);
        let since_start = |at_ms: i64| at_ms.saturating_sub(running.start_ms);
        let predicted = mean_between(&demand, since_start(used.from_ms), since_start(used.to_ms));
        let around = range_around(&demand, since_start(used.from_ms), since_start(used.to_ms));
        let what = match window {
            Some(window) if window.is_measured_by(used) => {
                let finding = course.close_window(used.usage, around, window.slow, capacity);
                course.restart_measuring(now_ms);
                if finding == Finding::HeldUp {
                    Correction::Returned {
                        because: NotMeasured::HeldUp,
                    }
                } else {
                    Correction::Measured {
                        used: used.usage,
                        predicted,
                        factors: course.factors(),
                    }
                }
            }
            Some(_) => return false,
            None if course.record_use(used, predicted, around, capacity, &settings) => {
                Correction::Unused {
                    factors: course.factors(),
                }
            }
            None => return false,
        };
        corrections.set_demand(entry, executor, now_ms);
        self.record(id, &container, what, now_ms);
        true
    }

    /// `decides`: whether the core decides about the node.
    pub(crate) fn reprovision(
        &mut self,
        state: &mut State,
        node: NodeId,
        decides: bool,
        now_ms: i64,
    ) -> bool {
        let Some(settings) = self.settings else {
            return false;
        };
        let mut changed = self.end_window(state, node, decides, now_ms);
        if !decides {
            return changed;
        }
        let (Some(corrections), Some(entry)) =
            (self.by_node.get_mut(&node), state.nodes.get_mut(node))
        else {
            return changed;
        };
        let mut done = Vec::new();
        if corrections.window.is_none() {
            done = corrections.open_window(entry, &settings, now_ms);
            changed |= corrections.window.is_some();
        }
        for (executor, what) in done {
            self.record_for(state, node, executor, what, now_ms);
        }
        changed
    }

    pub(crate) fn take_done(&mut self) -> Vec<Reprovisioned> {
        std::mem::take(&mut self.done)
    }

    /// A container ended, which ends its loan.
    pub(crate) fn ended(&mut self, id: &Arc<str>, container: &Container) {
        let Some(corrections) = self.by_node.get_mut(&container.node) else {
            return;
        };
        let executor = container.executor;
        corrections.courses.remove(&executor);
        let window = corrections
            .window
            .take_if(|window| window.executor == executor);
        if let Some(window) = window {
            let because = NotMeasured::Ended;
            let what = Correction::Returned { because };
            self.record(Arc::clone(id), container, what, window.opened_ms);
        }
    }

    /// A node is about to be removed, which ends its loan.
    pub(crate) fn node_lost(&mut self, state: &State, node: NodeId) {
        if let Some(NodeCorrections {
            window: Some(window),
            ..
        }) = self.by_node.remove(&node)
        {
            let because = NotMeasured::NodeLost;
            let what = Correction::Returned { because };
            self.record_for(state, node, window.executor, what, window.opened_ms);
        }
    }

    fn end_window(&mut self, state: &mut State, node: NodeId, decides: bool, now_ms: i64) -> bool {
        let (Some(corrections), Some(entry)) =
            (self.by_node.get_mut(&node), state.nodes.get_mut(node))
        else {
            return false;
        };
        let is_over = |window: &mut Window| !decides || !window.awaits_sample(now_ms);
        let Some(window) = corrections.window.take_if(is_over) else {
            return false;
        };
        if let Some(course) = corrections.courses.get_mut(&window.executor) {
            course.restart_measuring(now_ms);
        }
        corrections.set_demand(entry, window.executor, now_ms);
        let because = if decides {
            NotMeasured::NoSample
        } else {
            NotMeasured::NotDecided
        };
        let what = Correction::Returned { because };
        self.record_for(state, node, window.executor, what, now_ms);
        true
    }

    fn record_for(
        &mut self,
        state: &State,
        node: NodeId,
        executor: ExecutorId,
        what: Correction,
        now_ms: i64,
    ) {
        let id = state
            .nodes
            .get(node)
            .and_then(|entry| entry.containers.get(&executor));
        if let Some((id, container)) = id.and_then(|id| state.containers.entry(id)) {
            self.record(Arc::clone(id), container, what, now_ms);
        }
    }

    fn record(&mut self, id: Arc<str>, container: &Container, what: Correction, now_ms: i64) {
        self.done.push(Reprovisioned {
            time_ms: now_ms,
            container: id,
            application: container.application,
            node: container.node,
            what,
        });
    }

    /// A container that has a prediction with an end. Tracks its course from now on.
    fn predicted_container(
        &mut self,
        state: &State,
        container: &str,
    ) -> Option<(Arc<str>, Container)> {
        let (id, container) = state.containers.entry(container)?;
        container.profile.as_ref()?;
        let running = state
            .nodes
            .get(container.node)?
            .node
            .get(container.executor)?;
        running.demand.duration_ms()?;
        let corrections = self.by_node.entry(container.node).or_default();
        corrections
            .courses
            .entry(container.executor)
            .or_insert_with(|| Course::new(&running.demand));
        Some((Arc::clone(id), container.clone()))
    }
}
