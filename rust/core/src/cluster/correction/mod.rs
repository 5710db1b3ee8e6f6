//! Corrections of running containers' demands, by their progress and their use.

mod window;

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::state::{Container, NodeEntry, NodeId, State};
use crate::demand::Demand;
use crate::node::ExecutorId;
use crate::progress::Progress;
use crate::reprovision::{
    Correction, Course, NotMeasured, ReprovisionSettings, Reprovisioned, Used, mean_between,
    range_around,
};
use crate::resources::Resources;
use crate::{slot_of, slot_start_ms};
use window::{NodeCorrections, Window};

/// The settings, the corrections of each node, and the log since it was last taken.
#[derive(Debug, Default)]
pub(crate) struct Corrections {
    /// None while reprovisioning is off.
    pub(crate) settings: Option<ReprovisionSettings>,
    by_node: HashMap<NodeId, NodeCorrections>,
    pub(crate) done: Vec<Reprovisioned>,
}

impl Corrections {
    pub(crate) fn predicted_demand<'a>(
        &'a self,
        state: &'a State,
        container: &str,
    ) -> Option<&'a Demand> {
        let container = state.containers.get(container)?;
        let entry = state.nodes.get(container.node)?;
        container.profile()?;
        match self.course(container) {
            Some(course) => Some(course.predicted()),
            None => Some(&entry.node.get(container.executor)?.demand),
        }
    }

    pub(crate) fn factors(&self, state: &State, container: &str) -> Resources {
        let container = state.containers.get(container);
        let course = container.and_then(|container| self.course(container));
        course.map_or(Resources::ONE, Course::factors)
    }

    /// Whether a container's demand follows its progress and use.
    pub(crate) fn corrects(&self, container: &Container) -> bool {
        self.course(container).is_some()
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

    /// Returns none if the node's remaining resources did not change.
    pub(crate) fn progressed(
        &mut self,
        state: &mut State,
        container: &str,
        progress: Progress,
        now_ms: i64,
    ) -> Option<()> {
        let Tracked { container, corrections, entry, .. } = self.tracked(state, container)?;
        let executor = container.executor;
        entry.plan.advance(&mut entry.node, now_ms);
        let has_window = corrections.has_window(executor);
        let course = corrections.courses.get_mut(&executor)?;
        let running = entry.node.get(executor)?;
        let slot = slot_of(now_ms).saturating_sub(slot_of(running.start_ms));
        let slot_now = course.update_progress(progress, slot, now_ms)?;
        // The loan lies in fixed slots of the demand, so the demand must not move.
        if has_window {
            return None;
        }
        let start_ms = slot_start_ms(slot_of(now_ms).saturating_sub(slot_now));
        let demand = running.demand.clone();
        entry.plan.replace(&mut entry.node, executor, demand, start_ms, now_ms);
        Some(())
    }

    /// Returns none if the node's remaining resources did not change.
    pub(crate) fn used(
        &mut self,
        state: &mut State,
        container: &str,
        used: Used,
        now_ms: i64,
    ) -> Option<()> {
        let settings = self.settings?;
        let is_part = (0.0..=1.0).contains(&used.throttled);
        if used.usage.first_invalid().is_some() || !is_part || used.from_ms >= used.to_ms {
            return None;
        }
        let Tracked { id, container, corrections, entry } = self.tracked(state, container)?;
        let capacity = entry.node.capacity;
        let executor = container.executor;
        let window = corrections.window.filter(|window| window.executor == executor);
        let course = corrections.courses.get_mut(&executor)?;
        let start_ms = entry.node.get(executor)?.start_ms;
        course.record_sample(used);
        let demand = course.demand(capacity);
        let (from_ms, to_ms) =
            (used.from_ms.saturating_sub(start_ms), used.to_ms.saturating_sub(start_ms));
        let predicted = mean_between(&demand, from_ms, to_ms);
        let around = range_around(&demand, from_ms, to_ms);
        let what = match window {
            Some(window) if window.is_measured_by(used) => {
                let is_measured = course.close_window(used.usage, around, window.slow, capacity);
                course.restart_measuring(now_ms);
                if is_measured {
                    Correction::Measured { used: used.usage, predicted, factors: course.factors() }
                } else {
                    Correction::Returned { because: NotMeasured::HeldUp }
                }
            }
            None if course.record_use(used, predicted, around, capacity, &settings) => {
                Correction::Unused { factors: course.factors() }
            }
            _ => return None,
        };
        corrections.set_demand(entry, executor, now_ms);
        self.record(id, &container, what, now_ms);
        Some(())
    }

    /// `decides`: whether the core decides about the node. Where nothing is reprovisioned any more, ends what is lent.
    pub(crate) fn reprovision(
        &mut self,
        state: &mut State,
        node: NodeId,
        decides: bool,
        now_ms: i64,
    ) -> bool {
        let settings = self.settings.filter(|_| decides);
        let ended = self.end_window(state, node, settings.is_some(), now_ms);
        let opened = settings.and_then(|it| self.open_window(state, node, &it, now_ms));
        ended.or(opened).is_some()
    }

    /// A container ended, which ends its loan.
    pub(crate) fn ended(&mut self, id: &Arc<str>, container: &Container) {
        let Some(corrections) = self.by_node.get_mut(&container.node) else {
            return;
        };
        let executor = container.executor;
        corrections.courses.remove(&executor);
        let is_its_own = |window: &mut Window| window.executor == executor;
        if let Some(window) = corrections.window.take_if(is_its_own) {
            let because = NotMeasured::Ended;
            let what = Correction::Returned { because };
            self.record(Arc::clone(id), container, what, window.opened_ms);
        }
    }

    /// A node is about to be removed, which ends its loan.
    pub(crate) fn node_lost(&mut self, state: &State, node: NodeId) {
        let corrections = self.by_node.remove(&node);
        if let Some(window) = corrections.and_then(|corrections| corrections.window) {
            let because = NotMeasured::NodeLost;
            let what = Correction::Returned { because };
            self.record_for(state, node, window.executor, what, window.opened_ms);
        }
    }

    /// Ends the window if it is over; none if it is not.
    fn end_window(
        &mut self,
        state: &mut State,
        node: NodeId,
        decides: bool,
        now_ms: i64,
    ) -> Option<()> {
        let corrections = self.by_node.get_mut(&node)?;
        let entry = state.nodes.get_mut(node)?;
        let is_over = |window: &mut Window| !decides || !window.awaits_sample(now_ms);
        let window = corrections.window.take_if(is_over)?;
        if let Some(course) = corrections.courses.get_mut(&window.executor) {
            course.restart_measuring(now_ms);
        }
        corrections.set_demand(entry, window.executor, now_ms);
        let because = if decides { NotMeasured::NoSample } else { NotMeasured::NotDecided };
        let what = Correction::Returned { because };
        self.record_for(state, node, window.executor, what, now_ms);
        Some(())
    }

    /// Opens a window if there is none; none if no executor gets one.
    fn open_window(
        &mut self,
        state: &mut State,
        node: NodeId,
        settings: &ReprovisionSettings,
        now_ms: i64,
    ) -> Option<()> {
        let corrections = self.by_node.get_mut(&node)?;
        if corrections.window.is_some() {
            return None;
        }
        let mut due = corrections.due(settings, now_ms);
        let ids = &state.nodes.get(node)?.containers;
        due.retain(|(executor, _)| {
            let container = ids.get(executor).and_then(|id| state.containers.get(id));
            !container.is_some_and(|container| state.is_observed(container))
        });
        if due.is_empty() {
            return None;
        }
        let entry = state.nodes.get_mut(node)?;
        let done = corrections.open_window(entry, settings, due, now_ms);
        let opened = corrections.window.map(|_| ());
        for (executor, what) in done {
            self.record_for(state, node, executor, what, now_ms);
        }
        opened
    }

    fn record_for(
        &mut self,
        state: &State,
        node: NodeId,
        executor: ExecutorId,
        what: Correction,
        now_ms: i64,
    ) {
        let id = state.nodes.get(node).and_then(|entry| entry.containers.get(&executor));
        if let Some((id, container)) = id.and_then(|id| state.containers.get_key_value(id)) {
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

    /// A container that is planned by its own profile and has a predicted end. Tracks its course from now on.
    fn tracked<'a>(&'a mut self, state: &'a mut State, container: &str) -> Option<Tracked<'a>> {
        let (id, container) = state.containers.get_key_value(container)?;
        container.profile()?;
        let (id, container) = (Arc::clone(id), container.clone());
        let entry = state.nodes.get_mut(container.node)?;
        let running = entry.node.get(container.executor)?;
        running.demand.duration_ms()?;
        let corrections = self.by_node.entry(container.node).or_default();
        let course = corrections.courses.entry(container.executor);
        course.or_insert_with(|| Course::new(&running.demand));
        Some(Tracked { id, container, corrections, entry })
    }
}

/// A container whose course is tracked, with its node.
struct Tracked<'a> {
    id: Arc<str>,
    container: Container,
    corrections: &'a mut NodeCorrections,
    entry: &'a mut NodeEntry,
}
