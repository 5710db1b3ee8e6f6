//! What a node's executors take over time, and what that leaves, kept up to date.

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

/// Executors come, go and are measured here, so that [`Node`] and [`Timeline`] say the same.
///
/// What is left is computed when somebody looks and only if something changed since: an executor, a
/// measurement, the node's size, or the slot that `now` lies in.
#[derive(Debug, Clone)]
pub(crate) struct NodePlan {
    /// The slot that `now` lies in.
    slot: i64,
    /// Kept from the first look at it on: many policies never look.
    timeline: Option<Timeline>,
    left: Left,
    left_is_current: bool,
    available: Available,
    available_is_current: bool,
    rates: Option<Rates>,
}

impl Default for NodePlan {
    fn default() -> Self {
        Self {
            slot: i64::MIN,
            timeline: None,
            left: Left::default(),
            left_is_current: false,
            available: Available::new(Resources::ZERO, [], 0),
            available_is_current: false,
            rates: None,
        }
    }
}

impl NodePlan {
    /// Brings `now` into the plan. Where a clock was put back, what has not started yet starts now.
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
            self.timeline = None;
        } else if let Some(timeline) = &mut self.timeline {
            timeline.advance(slot);
        }
    }

    /// An executor starts, as early as `start_ms` and no later than now.
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
        if let Some(timeline) = &mut self.timeline {
            timeline.add(&executor);
        }
        node.insert(id, executor);
    }

    /// An executor ends.
    pub(crate) fn remove(&mut self, node: &mut Node, id: ExecutorId) {
        if let Some(executor) = node.remove(id) {
            self.changed();
            if let Some(timeline) = &mut self.timeline {
                timeline.remove(&executor);
            }
        }
    }

    /// What an executor is expected to use changed, or how far it is: since `start_ms`, as if it had
    /// started then.
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
        if let Some(timeline) = &mut self.timeline {
            timeline.remove(&former);
            timeline.add(executor);
        }
        self.changed();
    }

    /// An executor was measured.
    pub(crate) fn measured(&mut self, node: &mut Node, id: ExecutorId, memory_bytes: f64) {
        let Some(executor) = node.get_mut(id) else {
            return;
        };
        let same = |a, b| Amounts::one(Resource::Memory, a) == Amounts::one(Resource::Memory, b);
        if same(executor.measured_memory_bytes, memory_bytes) {
            return;
        }
        if let Some(timeline) = &mut self.timeline
            && timeline.measured(executor, memory_bytes)
        {
            self.left_is_current = false;
        }
        executor.measured_memory_bytes = memory_bytes;
        self.available_is_current = false;
    }

    /// Something changed, so that what is left has to be computed anew.
    pub(crate) fn changed(&mut self) {
        self.left_is_current = false;
        self.available_is_current = false;
    }

    /// Computes what is left from now on in fixed point, if it is not known.
    pub(crate) fn look_at_left(&mut self, node: &mut Node, now_ms: i64) {
        self.advance(node, now_ms);
        if !self.left_is_current {
            let slot = self.slot;
            let timeline = self
                .timeline
                .get_or_insert_with(|| Timeline::of(slot, node.running()));
            self.left
                .update(Amounts::rounded_down(node.capacity), timeline);
            self.left_is_current = true;
        }
    }

    /// Computes what is left from now on as [`Available`], if it is not known.
    pub(crate) fn look_at_available(&mut self, node: &mut Node, now_ms: i64) {
        self.advance(node, now_ms);
        if !self.available_is_current {
            self.available = node.available(on_grid_ms(now_ms, now_ms));
            self.available_is_current = true;
        }
    }

    /// For those that do not look ahead.
    pub(crate) fn look_at_nothing(&mut self, node: &mut Node, now_ms: i64) {
        self.advance(node, now_ms);
        if self.available.capacity() != node.capacity {
            self.available = Available::new(node.capacity, [], now_ms);
        }
    }

    /// What the policy looks at beside it, as of now.
    pub(crate) fn look_at_rates(&mut self, rates: Option<Rates>) {
        self.rates = rates;
    }

    /// As of the last look.
    pub(crate) fn rates(&self) -> Option<&Rates> {
        self.rates.as_ref()
    }

    /// As computed last.
    pub(crate) fn left(&self) -> &Left {
        &self.left
    }

    /// As computed last.
    pub(crate) fn available(&self) -> &Available {
        &self.available
    }
}
