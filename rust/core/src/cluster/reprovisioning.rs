//! Progress of containers, and what is corrected about their demand while they run.

use std::sync::Arc;

use super::Cluster;
use super::container::Container;
use super::node_entry::{NodeEntry, NodeId};
use crate::amounts::Amounts;
use crate::demand::Demand;
use crate::node::ExecutorId;
use crate::progress::Progress;
use crate::reprovision::{
    Correction, Course, Finding, NotMeasured, ReprovisionSettings, Reprovisioned, Used, WINDOW_MS,
    mean_between, range_around, too_little,
};
use crate::resources::{Resource, Resources};
use crate::timeline::on_grid_ms;
use crate::{SLOT_MS, slot_of};

const SLOT: i64 = SLOT_MS as i64;

/// A sample of which less lies in the window says nothing of it: agents close samples a moment before
/// the reply reaches them.
const LEAST_PART_IN_WINDOW: f64 = 0.6;

/// No sample of a window is waited for longer.
const LONGEST_WAIT_MS: i64 = 3 * WINDOW_MS;

/// The one executor of a node that has what the node has left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    executor: ExecutorId,
    opened_ms: i64,
    slowness: f64,
}

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
        if used.usage.first_invalid().is_some() || used.from_ms >= used.to_ms {
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
                let finding = course.measured(used.usage, around, window.slowness, capacity);
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
            None if course.used(used, predicted, around, capacity, &settings, now_ms) => {
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
        let because = |window: &mut Window| {
            let waited_ms = now_ms.saturating_sub(window.opened_ms);
            !decides || !(0..LONGEST_WAIT_MS).contains(&waited_ms)
        };
        let Some(window) = entry.window.take_if(because) else {
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

impl Window {
    /// When the loan of one that opens now ends: with the sample that measures it. The next one does
    /// where enough of it lies in the window, else the one after that. Agents close samples in their own
    /// time, and the newest one ended at `sampled_to_ms`.
    fn end_ms(sampled_to_ms: Option<i64>, now_ms: i64) -> i64 {
        let age_ms = sampled_to_ms.map_or(0, |to_ms| now_ms.saturating_sub(to_ms));
        let in_window_ms = WINDOW_MS.saturating_sub(age_ms) as f64;
        let next_is_too_early =
            age_ms < WINDOW_MS && in_window_ms < LEAST_PART_IN_WINDOW * WINDOW_MS as f64;
        let more_ms = if next_is_too_early {
            WINDOW_MS - age_ms
        } else {
            0
        };
        now_ms.saturating_add(WINDOW_MS + more_ms)
    }

    fn was_measured(&self, used: Used) -> bool {
        let from_ms = used.from_ms.max(self.opened_ms);
        let in_window_ms = used.to_ms.saturating_sub(from_ms) as f64;
        let length_ms = used.to_ms.saturating_sub(used.from_ms) as f64;
        in_window_ms >= LEAST_PART_IN_WINDOW * length_ms
            && used.to_ms.saturating_sub(self.opened_ms) <= 2 * WINDOW_MS
    }
}

impl NodeEntry {
    /// Whether a container's demand still follows the time since its start alone.
    pub(super) fn counts_from_its_start(&self, container: &Container) -> bool {
        let running = self.node.get(container.executor);
        let moved = running.is_some_and(|running| {
            running.start_ms != on_grid_ms(container.start_ms, container.start_ms)
        });
        !moved && !self.has_window(container.executor)
    }

    fn has_window(&self, executor: ExecutorId) -> bool {
        self.window
            .is_some_and(|window| window.executor == executor)
    }

    /// Opens a window for the slowest executor that is due. Names those that its node has too little
    /// left for, and the one that has it.
    fn open_window(
        &mut self,
        settings: &ReprovisionSettings,
        now_ms: i64,
    ) -> Vec<(ExecutorId, Correction)> {
        let due = self.courses.iter().filter_map(|(executor, course)| {
            let slowness = course.is_due(settings, now_ms)?;
            Some((*executor, slowness))
        });
        let mut due: Vec<_> = due.collect();
        due.sort_by(|a, b| b.1.total_cmp(&a.1));
        if due.is_empty() {
            return Vec::new();
        }
        self.plan.look_at_left(&mut self.node, now_ms);
        let capacity = self.node.capacity;
        let [now, next, last] = [0, 1, 2].map(|slot| positive(self.plan.left().slot(slot)));
        let next = now.zip(next, f64::min);
        let last = next.zip(last, f64::min);
        let mut done = Vec::new();
        for (executor, slowness) in due {
            let (Some(course), Some(running)) =
                (self.courses.get_mut(&executor), self.node.get(executor))
            else {
                continue;
            };
            course.looked_at(now_ms);
            let demand = course.demand(capacity);
            let slot = slot_of(now_ms).saturating_sub(slot_of(running.start_ms));
            let predicted = demand.at(slot.saturating_mul(SLOT));
            if let Some(resource) = too_little(predicted, now, capacity, settings.least_left) {
                let what = Correction::Reschedule {
                    slowness,
                    resource,
                    predicted: predicted.get(resource),
                    left: now.get(resource),
                };
                done.push((executor, what));
                continue;
            }
            let slot = usize::try_from(slot).unwrap_or(0);
            let end_ms = Window::end_ms(course.sampled_to_ms(), now_ms);
            let lent: Vec<_> = [now, next, last]
                .into_iter()
                .zip(slot_of(now_ms)..=slot_of(end_ms - 1))
                .map(|(lent, _)| lent)
                .collect();
            let raised = demand.raised(slot, &lent);
            let start_ms = running.start_ms;
            self.plan
                .replace(&mut self.node, executor, raised, start_ms, now_ms);
            self.window = Some(Window {
                executor,
                opened_ms: now_ms,
                slowness,
            });
            let what = Correction::Opened {
                slowness,
                predicted,
                lent: now,
            };
            done.push((executor, what));
            break;
        }
        done
    }

    /// Gives an executor its demand as it is now, and takes back what it was lent.
    fn set_demand(&mut self, executor: ExecutorId, now_ms: i64) {
        self.window.take_if(|window| window.executor == executor);
        let (Some(course), Some(running)) = (self.courses.get(&executor), self.node.get(executor))
        else {
            return;
        };
        let demand = course.demand(self.node.capacity);
        let start_ms = running.start_ms;
        self.plan
            .replace(&mut self.node, executor, demand, start_ms, now_ms);
    }
}

/// What can be lent of what is left.
fn positive(left: Amounts) -> Resources {
    let amounts = Resource::ALL.map(|resource| left.in_units(resource).max(0.0));
    Resources::from_array(amounts)
}
