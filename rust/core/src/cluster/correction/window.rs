//! A window: for a short time one executor is lent all remaining resources of its node.

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::cluster::state::NodeEntry;
use crate::left_ahead::LeftAhead;
use crate::node::ExecutorId;
use crate::reprovision::{
    Correction, Course, ReprovisionSettings, Slow, Used, WINDOW_MS, too_little,
};
use crate::resources::{Resource, Resources};
use crate::{slot_of, slot_start_ms};

/// Minimum part of a sample inside the window. Agents close samples a moment before the reply
/// reaches them, so most samples lie partly outside.
const LEAST_PART_IN_WINDOW: f64 = 0.6;

/// Maximum time to wait for a window's sample.
const LONGEST_WAIT_MS: i64 = 3 * WINDOW_MS;

/// The executor to which its node's remaining resources are lent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    pub(crate) executor: ExecutorId,
    pub(crate) opened_ms: i64,
    /// Why the window was opened.
    pub(crate) slow: Slow,
}

impl Window {
    /// End of the loan for a window that opens now: the end of the sample that measures it. That is
    /// the next sample if enough of it lies in the window, else the one after it. Agents close
    /// samples on their own schedule; the newest sample ended at `sampled_to_ms`.
    fn end_ms(sampled_to_ms: Option<i64>, now_ms: i64) -> i64 {
        let age_ms = sampled_to_ms.map_or(0, |to_ms| now_ms.saturating_sub(to_ms));
        let in_window_ms = WINDOW_MS.saturating_sub(age_ms) as f64;
        let next_is_too_early =
            age_ms < WINDOW_MS && in_window_ms < LEAST_PART_IN_WINDOW * WINDOW_MS as f64;
        let more_ms = if next_is_too_early { WINDOW_MS - age_ms } else { 0 };
        now_ms.saturating_add(WINDOW_MS + more_ms)
    }

    /// Whether a sample may still measure the window.
    pub(crate) fn awaits_sample(&self, now_ms: i64) -> bool {
        (0..LONGEST_WAIT_MS).contains(&now_ms.saturating_sub(self.opened_ms))
    }

    pub(crate) fn is_measured_by(&self, used: Used) -> bool {
        let from_ms = used.from_ms.max(self.opened_ms);
        let in_window_ms = used.to_ms.saturating_sub(from_ms) as f64;
        let length_ms = used.to_ms.saturating_sub(used.from_ms) as f64;
        in_window_ms >= LEAST_PART_IN_WINDOW * length_ms
            && used.to_ms.saturating_sub(self.opened_ms) <= 2 * WINDOW_MS
    }
}

/// Corrections of the executors of one node.
#[derive(Debug, Default)]
pub(crate) struct NodeCorrections {
    /// The executors planned by their own profile for which progress or use was reported.
    pub(crate) courses: BTreeMap<ExecutorId, Course>,
    /// The open window, if any.
    pub(crate) window: Option<Window>,
}

impl NodeCorrections {
    pub(crate) fn has_window(&self, executor: ExecutorId) -> bool {
        self.window.is_some_and(|window| window.executor == executor)
    }

    /// The executors that are due for a window, the slowest first.
    pub(crate) fn due(
        &self,
        settings: &ReprovisionSettings,
        now_ms: i64,
    ) -> Vec<(ExecutorId, Slow)> {
        let due = self.courses.iter().filter_map(|(executor, course)| {
            let slow = course.due_slowness(settings, now_ms)?;
            Some((*executor, slow))
        });
        let mut due: Vec<_> = due.collect();
        due.sort_by(|a, b| b.1.times().total_cmp(&a.1.times()));
        due
    }

    /// Opens a window for the first executor of those `due` that finds enough left. Returns those before it that find
    /// too little, and it.
    pub(crate) fn open_window(
        &mut self,
        entry: &mut NodeEntry,
        settings: &ReprovisionSettings,
        due: Vec<(ExecutorId, Slow)>,
        now_ms: i64,
    ) -> Vec<(ExecutorId, Correction)> {
        entry.plan.refresh_left(&mut entry.node, now_ms);
        let capacity = entry.node.capacity;
        let [now, next, last] = [0, 1, 2].map(|slot| lendable(entry.plan.left().slot(slot)));
        let next = now.zip(next, f64::min);
        let last = next.zip(last, f64::min);
        let mut done = Vec::new();
        for (executor, slow) in due {
            let (Some(course), Some(running)) =
                (self.courses.get_mut(&executor), entry.node.get(executor))
            else {
                continue;
            };
            course.mark_checked(now_ms);
            let demand = course.demand(capacity);
            let slot = slot_of(now_ms).saturating_sub(slot_of(running.start_ms));
            let predicted = demand.at(slot_start_ms(slot));
            if let Some(resource) = too_little(predicted, now, capacity, settings.least_left) {
                let what = Correction::Reschedule {
                    slow,
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
            entry.plan.replace(&mut entry.node, executor, raised, start_ms, now_ms);
            self.window = Some(Window { executor, opened_ms: now_ms, slow });
            let what = Correction::Opened { slow, predicted, lent: now };
            done.push((executor, what));
            break;
        }
        done
    }

    /// Plans an executor by its corrected demand, and ends its loan.
    pub(crate) fn set_demand(&mut self, entry: &mut NodeEntry, executor: ExecutorId, now_ms: i64) {
        self.window.take_if(|window| window.executor == executor);
        let (Some(course), Some(running)) = (self.courses.get(&executor), entry.node.get(executor))
        else {
            return;
        };
        let demand = course.demand(entry.node.capacity);
        let start_ms = running.start_ms;
        entry.plan.replace(&mut entry.node, executor, demand, start_ms, now_ms);
    }
}

/// Remaining resources, where positive.
fn lendable(left: Amounts) -> Resources {
    let amounts = Resource::ALL.map(|resource| left.in_units(resource).max(0.0));
    Resources::from_array(amounts)
}
