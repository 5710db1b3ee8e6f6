//! How far a container is that started when others of its application had come a part of the way.

use elastane_core::{Demand, DemandError, Resources};

use super::Tracker;

/// Follows a container that may have taken over what another left undone, or begin at the beginning.
///
/// Two trackers follow it: one by all of its demand, one by what of that is left from where the
/// others were when it started. Its progress is that of the one which what was seen is likelier by.
#[derive(Debug, Clone)]
pub struct LateTracker {
    from_start: Tracker,
    rest: Tracker,
    /// What lies before the rest, from 0 to 1.
    joined_at: f64,
}

/// The rest is believed until the logarithm of the beginning's likelihood is higher by so much: a
/// process that starts in the middle of the work starts as one does at its beginning.
const TAKEN_OVER: f64 = 4.0;

impl LateTracker {
    /// Of a container that has just started, where the others' progress is `joined_at`.
    ///
    /// # Errors
    /// None that can come of a demand.
    pub fn new(demand: &Demand, joined_at: f64) -> Result<Self, DemandError> {
        let slots = demand.slots();
        let count = slots.len();
        let joined = ((joined_at * count as f64) as usize).min(count.saturating_sub(1));
        let rest = Demand::series(demand.slot_ms(), slots.get(joined..).unwrap_or(slots))?;
        Ok(Self {
            from_start: Tracker::of_demand(demand),
            rest: Tracker::of_demand(&rest),
            joined_at: joined as f64 / count.max(1) as f64,
        })
    }

    /// As [`Tracker::observe`].
    pub fn observe(&mut self, usage: Resources, length_ms: u32) {
        self.from_start.observe(usage, length_ms);
        self.rest.observe(usage, length_ms);
    }

    /// The part of the whole work that is done, from 0 to 1; where the others were before anything
    /// was seen.
    #[must_use]
    pub fn progress(&self) -> f64 {
        let has_begun_anew = self.from_start.log_likelihood_of_seen()
            > self.rest.log_likelihood_of_seen() + TAKEN_OVER;
        if has_begun_anew {
            self.from_start.progress()
        } else {
            self.joined_at + (1.0 - self.joined_at) * self.rest.progress()
        }
    }
}
