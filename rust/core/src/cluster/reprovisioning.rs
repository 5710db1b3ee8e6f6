//! Progress of containers, and what is corrected about their demand while they run.

use std::sync::Arc;

use super::Cluster;
use super::container::Container;
use super::node_entry::{NodeEntry, NodeId};
use super::window::Window;
use crate::demand::Demand;
use crate::progress::Progress;
use crate::reprovision::{
    Correction, Course, Finding, NotMeasured, ReprovisionSettings, Reprovisioned, Used,
    mean_between, range_around,
};
use crate::resources::Resources;
use crate::{SLOT_MS, slot_of};

const SLOT: i64 = SLOT_MS as i64;

/// What was set, and what was done since somebody asked.
#[derive(Debug, Default)]
pub(super) struct Reprovisioning {
    settings: Option<ReprovisionSettings>,
    done: Vec<Reprovisioned>,
}

impl Cluster {
    /// From now on running containers are reprovisioned; they are not unless this is called.
    pub fn reprovision_by(&mut self, settings: ReprovisionSettings) {
        self.reprovisioning.settings = Some(settings);
    }

    /// What was predicted for a container when it started; none where nothing is, or it is not there.
    #[must_use]
    pub fn predicted_demand(&self, container: &str) -> Option<&Demand> {
        let container = self.containers.get(container)?;
        let entry = self.nodes.get(&container.node)?;
        container.profile.as_ref()?;
        match entry.courses.get(&container.executor) {
            Some(course) => Some(course.predicted()),
            None => Some(&entry.node.get(container.executor)?.demand),
        }
    }

    /// What is left of a container's demand over what was predicted at first, by resource: 1 where nothing
    /// was corrected. Its work is no further for what it uses more of.
    #[must_use]
    pub fn corrected_by(&self, container: &str) -> Resources {
        self.containers
            .get(container)
            .and_then(|container| {
                let entry = self.nodes.get(&container.node)?;
                Some(entry.courses.get(&container.executor)?.factors())
            })
            .unwrap_or(Resources::ONE)
    }

    /// How far a container is. What it is expected to use follows that from now on, instead of the
    /// time since its start. Of one without a prediction nothing is kept. Returns whether what its
    /// node has left changed.
    pub fn progressed(&mut self, container: &str, progress: Progress, now_ms: i64) -> bool {
        let Some((entry, container, _)) = self.learned(container) else {
            return false;
        };
        let executor = container.executor;
        entry.plan.advance(&mut entry.node, now_ms);
        let has_window = entry.has_window(executor);
        let (Some(course), Some(running)) =
            (entry.courses.get_mut(&executor), entry.node.get(executor))
        else {
            return false;
        };
        let slot = slot_of(now_ms).saturating_sub(slot_of(running.start_ms));
        let Some(told) = course.told(progress, slot, now_ms) else {
            return false;
        };
        // What it was lent lies in slots of its demand, which have to stay where they are.
        if has_window {
            return false;
        }
        let start_ms = slot_of(now_ms).saturating_sub(told).saturating_mul(SLOT);
        let demand = running.demand.clone();
        entry
            .plan
            .replace(&mut entry.node, executor, demand, start_ms, now_ms);
        true
    }

    /// What a container used. Samples have to come in the order of time, before the progress that
    /// follows from them. Returns whether what its node has left changed.
    pub fn used(&mut self, container: &str, used: Used, now_ms: i64) -> bool {
        let Some(settings) = self.reprovisioning.settings else {
            return false;
        };
        let is_part = (0.0..=1.0).contains(&used.throttled);
        if used.usage.first_invalid().is_some() || !is_part || used.from_ms >= used.to_ms {
            return false;
        }
        let Some((entry, container, id)) = self.learned(container) else {
            return false;
        };
        let capacity = entry.node.capacity;
        let executor = container.executor;
        let window = entry.window.filter(|window| window.executor == executor);
        let (Some(course), Some(running)) =
            (entry.courses.get_mut(&executor), entry.node.get(executor))
        else {
            return false;
        };
        course.sampled(used);
        let demand = course.demand(capacity);
        let since_start = |at_ms: i64| at_ms.saturating_sub(running.start_ms);
        let predicted = mean_between(&demand, since_start(used.from_ms), since_start(used.to_ms));
        let around = range_around(&demand, since_start(used.from_ms), since_start(used.to_ms));
        let what = match window {
            Some(window) if window.was_measured(used) => {
                let finding = course.measured(used.usage, around, window.slow, capacity);
                course.begin(now_ms);
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
            None if course.used(used, predicted, around, capacity, &settings) => {
                Correction::Unused {
                    factors: course.factors(),
                }
            }
            None => return false,
        };
        entry.set_demand(executor, now_ms);
        self.note(id, &container, what, now_ms);
        true
    }

    /// Returns what windows on a node hold no longer, and gives the slowest of its executors what the
    /// node has left, where one is slow. To be asked once for each report, after what it says.
    pub fn reprovision(&mut self, node: NodeId, now_ms: i64) -> bool {
        let Some(settings) = self.reprovisioning.settings else {
            return false;
        };
        let decides = self.decides(node, now_ms);
        let mut changed = self.end_window(node, decides, now_ms);
        if !decides {
            return changed;
        }
        let Some(entry) = self.nodes.get_mut(&node) else {
            return changed;
        };
        let mut done = Vec::new();
        if entry.window.is_none() {
            done = entry.open_window(&settings, now_ms);
            changed |= entry.window.is_some();
        }
        for (executor, what) in done {
            let id = self
                .nodes
                .get(&node)
                .and_then(|entry| entry.containers.get(&executor));
            if let Some((id, container)) = id.and_then(|id| self.containers.get_key_value(id)) {
                let (id, container) = (Arc::clone(id), container.clone());
                self.note(id, &container, what, now_ms);
            }
        }
        changed
    }

    /// What was done since this was last asked.
    pub fn take_reprovisioned(&mut self) -> Vec<Reprovisioned> {
        std::mem::take(&mut self.reprovisioning.done)
    }

    /// A container ended, whatever it had been lent.
    pub(super) fn course_ended(&mut self, id: &Arc<str>, container: &Container) {
        let Some(entry) = self.nodes.get_mut(&container.node) else {
            return;
        };
        entry.courses.remove(&container.executor);
        let executor = container.executor;
        if let Some(window) = entry.window.take_if(|window| window.executor == executor) {
            let because = NotMeasured::Ended;
            let what = Correction::Returned { because };
            self.note(Arc::clone(id), container, what, window.opened_ms);
        }
    }

    /// A node is gone, and what was lent on it.
    pub(super) fn window_lost(&mut self, node: NodeId) {
        if let Some(entry) = self.nodes.get_mut(&node)
            && let Some(window) = entry.window.take()
        {
            self.returned(node, window, NotMeasured::NodeLost, window.opened_ms);
        }
    }

    fn end_window(&mut self, node: NodeId, decides: bool, now_ms: i64) -> bool {
        let Some(entry) = self.nodes.get_mut(&node) else {
            return false;
        };
        let is_over = |window: &mut Window| !decides || !window.waits(now_ms);
        let Some(window) = entry.window.take_if(is_over) else {
            return false;
        };
        if let Some(course) = entry.courses.get_mut(&window.executor) {
            course.begin(now_ms);
        }
        entry.set_demand(window.executor, now_ms);
        let because = if decides {
            NotMeasured::NoSample
        } else {
            NotMeasured::NotDecided
        };
        self.returned(node, window, because, now_ms);
        true
    }

    fn returned(&mut self, node: NodeId, window: Window, because: NotMeasured, now_ms: i64) {
        let id = self
            .nodes
            .get(&node)
            .and_then(|entry| entry.containers.get(&window.executor));
        if let Some((id, container)) = id.and_then(|id| self.containers.get_key_value(id)) {
            let (id, container) = (Arc::clone(id), container.clone());
            self.note(id, &container, Correction::Returned { because }, now_ms);
        }
    }

    fn note(&mut self, id: Arc<str>, container: &Container, what: Correction, now_ms: i64) {
        self.reprovisioning.done.push(Reprovisioned {
            time_ms: now_ms,
            container: id,
            application: container.application,
            node: container.node,
            what,
        });
    }

    /// A container with a prediction that ends, and where it runs.
    fn learned(&mut self, container: &str) -> Option<(&mut NodeEntry, Container, Arc<str>)> {
        let (id, container) = self.containers.get_key_value(container)?;
        container.profile.as_ref()?;
        let entry = self.nodes.get_mut(&container.node)?;
        let running = entry.node.get(container.executor)?;
        running.demand.duration_ms()?;
        entry
            .courses
            .entry(container.executor)
            .or_insert_with(|| Course::new(&running.demand));
        Some((entry, container.clone(), Arc::clone(id)))
    }
}
