//! A node's plan: its executors' demand over time and the remaining resources.

use crate::amounts::Amounts;
use crate::available::Available;
use crate::demand::Demand;
use crate::left::Left;
use crate::node::{ExecutorId, Node};
use crate::policy::Rates;
use crate::resources::{Resource, Resources};
use crate::running::Running;
use crate::slot_of;
use crate::timeline::{Timeline, on_grid_ms};

/// All changes of executors go through the plan, so that [`Node`] and [`Timeline`] agree.
///
/// Remaining resources are computed on demand, and only after a change: an executor, a measurement,
/// the node's size, or the slot of `now`.
#[derive(Debug, Clone)]
pub(crate) struct NodePlan {
    /// The slot of `now`.
    slot: i64,
    left: Left,
    /// Whether the timeline in `left` is kept up to date: from its first use on, since many policies never use it.
    is_timeline_kept: bool,
    left_is_current: bool,
    /// Counts how often `left` was computed.
    left_computed: u64,
    available: Available,
    available_is_current: bool,
    /// The rates that the policy reads, as of its latest refresh.
    pub(crate) rates: Option<Rates>,
}

/// Tells whether the remaining resources of one node in fixed point are still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PlanState {
    /// The slot of `now`.
    pub(crate) slot: i64,
    left_computed: u64,
}

impl Default for NodePlan {
    fn default() -> Self {
        Self {
            slot: i64::MIN,
            left: Left::default(),
            is_timeline_kept: false,
            left_is_current: false,
            left_computed: 0,
            available: Available::new(Resources::ZERO, [], 0),
            available_is_current: false,
            rates: None,
        }
    }
}

impl NodePlan {
    /// Advances the plan to `now`. If a clock was set back, executors that would start later start now.
    pub(crate) fn advance(&mut self, node: &mut Node, now_ms: i64) {
        let slot = slot_of(now_ms);
        if slot == self.slot {
            return;
        }
        self.changed();
        let is_back = slot < self.slot;
        self.slot = slot;
        if is_back {
            for executor in node.running_mut() {
                executor.start_ms = on_grid_ms(executor.start_ms, now_ms);
            }
            self.is_timeline_kept = false;
        } else if let Some(timeline) = self.timeline() {
            timeline.advance(slot);
        }
    }

    /// An executor starts at `start_ms`, and no later than now.
    pub(crate) fn insert(
        &mut self,
        node: &mut Node,
        id: ExecutorId,
        mut executor: Running,
        now_ms: i64,
    ) {
        self.advance(node, now_ms);
        executor.start_ms = on_grid_ms(executor.start_ms, now_ms);
        self.changed();
        if let Some(timeline) = self.timeline() {
            timeline.add(&executor);
        }
        node.insert(id, executor);
    }

    pub(crate) fn remove(&mut self, node: &mut Node, id: ExecutorId) {
        if let Some(executor) = node.remove(id) {
            self.changed();
            if let Some(timeline) = self.timeline() {
                timeline.remove(&executor);
            }
        }
    }

    /// An executor is planned by another demand, which counts from where the former one did.
    pub(crate) fn replace_demand(&mut self, node: &mut Node, id: ExecutorId, demand: Demand) {
        let Some(executor) = node.get_mut(id) else {
            return;
        };
        if let Some(timeline) = self.timeline() {
            timeline.remove(executor);
        }
        executor.demand = demand;
        if let Some(timeline) = self.timeline() {
            timeline.add(executor);
        }
        self.changed();
    }

    /// An executor's demand or progress changed: the demand counts from `start_ms` on.
    pub(crate) fn replace(
        &mut self,
        node: &mut Node,
        id: ExecutorId,
        demand: Demand,
        start_ms: i64,
        now_ms: i64,
    ) {
        self.advance(node, now_ms);
        let Some(executor) = node.get_mut(id) else {
            return;
        };
        let former = executor.clone();
        executor.demand = demand;
        executor.start_ms = on_grid_ms(start_ms, now_ms);
        if let Some(timeline) = self.timeline() {
            timeline.remove(&former);
            timeline.add(executor);
        }
        self.changed();
    }

    /// An executor's resident memory was measured.
    pub(crate) fn measured(&mut self, node: &mut Node, id: ExecutorId, memory_bytes: f64) {
        let Some(executor) = node.get_mut(id) else {
            return;
        };
        let is_same = |a, b| {
            Amounts::rounded_down_of(Resource::Memory, a)
                == Amounts::rounded_down_of(Resource::Memory, b)
        };
        if is_same(executor.measured_memory_bytes, memory_bytes) {
            return;
        }
        if let Some(timeline) = self.timeline()
            && timeline.measured(executor, memory_bytes)
        {
            self.left_is_current = false;
        }
        executor.measured_memory_bytes = memory_bytes;
        self.available_is_current = false;
    }

    fn timeline(&mut self) -> Option<&mut Timeline> {
        self.is_timeline_kept.then(|| self.left.timeline_mut())
    }

    /// Invalidates the remaining resources.
    pub(crate) fn changed(&mut self) {
        self.left_is_current = false;
        self.available_is_current = false;
    }

    /// Refreshes the remaining resources in fixed point.
    pub(crate) fn refresh_left(&mut self, node: &mut Node, now_ms: i64) {
        self.advance(node, now_ms);
        if !self.left_is_current {
            if !self.is_timeline_kept {
                *self.left.timeline_mut() = Timeline::of(self.slot, node.running());
                self.is_timeline_kept = true;
            }
            self.left.update(Amounts::rounded_down(node.capacity));
            self.left_is_current = true;
            self.left_computed += 1;
        }
    }

    /// Which remaining resources were refreshed last.
    pub(crate) fn state(&self) -> PlanState {
        PlanState { slot: self.slot, left_computed: self.left_computed }
    }

    /// Refreshes the remaining resources as [`Available`].
    pub(crate) fn refresh_available(&mut self, node: &mut Node, now_ms: i64) {
        self.advance(node, now_ms);
        if !self.available_is_current {
            self.available = node.available(on_grid_ms(now_ms, now_ms));
            self.available_is_current = true;
        }
    }

    /// For policies that do not look ahead: takes the node for idle.
    pub(crate) fn assume_idle(&mut self, node: &mut Node, now_ms: i64) {
        self.advance(node, now_ms);
        if self.available.capacity() != node.capacity {
            self.available = Available::new(node.capacity, [], now_ms);
        }
    }

    /// As refreshed last.
    pub(crate) fn left(&self) -> &Left {
        &self.left
    }

    /// As refreshed last.
    pub(crate) fn available(&self) -> &Available {
        &self.available
    }
}
