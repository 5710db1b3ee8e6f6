//! The progress of a container, which may have started after the others of its application.

use std::sync::Arc;

use elastane_core::{Demand, Resources};

use super::{Expectation, Tracker};

/// Follows a container that either continues the work of another or starts from the beginning.
///
/// One tracker follows it by the whole demand; another by the rest of the demand from where the others
/// were when it started. The progress is that of the likelier one.
#[derive(Debug, Clone)]
pub struct LateTracker {
    from_start: Tracker,
    /// None for a container that started with the others.
    rest: Option<Tracker>,
    /// The part of the demand before the rest, from 0 to 1.
    joined_at: f64,
}

/// The log-likelihood by which the whole demand must exceed the rest. Every process starts up, also one
/// that continues the work of another.
const TAKEN_OVER: f64 = 4.0;

impl LateTracker {
    /// Follows a container that has just started, where the others' progress is `joined_at`.
    pub fn new(demand: &Demand, joined_at: f64) -> Self {
        Self::expecting(Arc::new(Expectation::of_demand(demand)), demand, joined_at)
    }

    /// The same, with the expectation of this demand.
    pub fn expecting(expectation: Arc<Expectation>, demand: &Demand, joined_at: f64) -> Self {
        let slots = demand.slots();
        let count = slots.len();
        let joined = ((joined_at * count as f64) as usize).min(count.saturating_sub(1));
        let rest = slots.get(joined..).filter(|_| joined > 0);
        let rest = rest.and_then(|rest| Demand::series(demand.slot_ms(), rest).ok());
        Self {
            from_start: Tracker::new(expectation),
            rest: rest.map(|rest| Tracker::of_demand(&rest)),
            joined_at: joined as f64 / count.max(1) as f64,
        }
    }

    /// As [`Tracker::observe`].
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        self.from_start.observe(usage, length_ms);
        if let Some(rest) = &mut self.rest {
            rest.observe(usage, length_ms);
        }
    }

    /// The part of the whole work that is done, from 0 to 1; the others' progress before the first
    /// sample.
    pub fn progress(&self) -> f64 {
        let is_likelier = |rest: &&Tracker| {
            self.from_start.greatest_log_likelihood() <= rest.greatest_log_likelihood() + TAKEN_OVER
        };
        match self.rest.as_ref().filter(is_likelier) {
            Some(rest) => self.joined_at + (1.0 - self.joined_at) * rest.progress(),
            None => self.from_start.progress(),
        }
    }
}
