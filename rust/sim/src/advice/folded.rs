//! Spreads an application master over its executors, because the simulator knows only executors that are alike.

use elastane_core::cluster::{Predicted, Request};
use elastane_core::{Demand, Resources, SLOT_MS};

/// Leads are rounded to a multiple of this.
const LEAD_STEP_MS: i64 = 15_000;

/// A master's part in each of an application's first executors.
#[derive(Debug, Clone)]
pub(super) struct Master<'a> {
    pub(super) request: Request,
    /// What it used, slot by slot from its start.
    pub(super) used: &'a [Resources],
    pub(super) predicted: Option<&'a Predicted>,
    /// From its start to the first ask for executors.
    pub(super) lead_ms: i64,
}

/// What each executor has of the master.
#[derive(Debug, Clone)]
pub(super) struct Share<'a> {
    master: Master<'a>,
    executors: f64,
    /// The number of slots in which the master alone runs: the executors with its shares book in them what the master
    /// booked in its whole lead.
    pub(super) slots_before: usize,
}

impl<'a> Share<'a> {
    pub(super) fn of(master: Master<'a>, executors: usize, request: Request) -> Self {
        let executors = executors.max(1) as f64;
        // So that runs of one application remain alike: the simulator looks at each kind of executor on each node.
        let lead_ms = (master.lead_ms + LEAD_STEP_MS / 2) / LEAD_STEP_MS * LEAD_STEP_MS;
        let master = Master { lead_ms, ..master };
        let (own, theirs) = (master.request.memory_bytes as f64, request.memory_bytes as f64);
        let booked = own / (own + executors * theirs).max(1.0);
        let slots_before = (master.lead_ms as f64 * booked / f64::from(SLOT_MS)).round() as usize;
        Self { master, executors, slots_before }
    }

    /// The part of the lead that no slot stands for.
    pub(super) fn delay_ms(&self) -> i64 {
        (self.master.lead_ms - self.slots_before as i64 * i64::from(SLOT_MS)).max(0)
    }

    /// An executor's request with its share.
    pub(super) fn request(&self, request: Request) -> Request {
        let share = |amount: f64| (amount / self.executors).round();
        Request {
            memory_bytes: request.memory_bytes
                + share(self.master.request.memory_bytes as f64) as u64,
            vcores: request.vcores + share(f64::from(self.master.request.vcores)) as u32,
        }
    }

    /// An executor's use with its share.
    pub(super) fn used(&self, executor: &[Resources]) -> Vec<Resources> {
        let master = |slot: usize| {
            let last = self.master.used.len().saturating_sub(1);
            self.master.used.get(slot.min(last)).copied().unwrap_or_default()
        };
        self.with_master(executor, master)
    }

    /// An executor's predicted demand with its share, margins included; by what the master used if nothing else is
    /// known of it.
    pub(super) fn predicted(&self, executor: &Predicted) -> Vec<Resources> {
        let executor = with_margin(executor);
        match self.master.predicted {
            Some(predicted) => {
                let master = with_margin(predicted);
                let last = master.len().saturating_sub(1);
                self.with_master(&executor, |slot| {
                    master.get(slot.min(last)).copied().unwrap_or_default()
                })
            }
            None => self.used(&executor),
        }
    }

    fn with_master(
        &self,
        executor: &[Resources],
        master: impl Fn(usize) -> Resources,
    ) -> Vec<Resources> {
        let share = |slot: usize| master(slot) * (1.0 / self.executors);
        let lead_slots = (self.master.lead_ms / i64::from(SLOT_MS)) as usize;
        let before = (0..self.slots_before).map(share);
        let beside = executor.iter().enumerate();
        let beside = beside.map(|(slot, used)| *used + share(lead_slots + slot));
        before.chain(beside).collect()
    }
}

/// Slot by slot, so that the fit needs no margin of its own.
pub(super) fn with_margin(predicted: &Predicted) -> Vec<Resources> {
    let demand: Demand = predicted.demand.on_grid();
    demand.slots().iter().map(|slot| *slot * (1.0 + predicted.margin)).collect()
}
