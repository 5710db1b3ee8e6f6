//! One run by its progress, from 0 to 1, instead of by its time.

use elastane_core::{Demand, Resources};

use crate::score::amount;

/// A run that can be asked what it used between two points of its progress.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    used: Demand,
}

impl Curve {
    pub(crate) fn new(used: &Demand) -> Self {
        Self { used: used.clone() }
    }

    pub(crate) fn length_ms(&self) -> f64 {
        f64::from(self.used.slot_ms()) * self.slots() as f64
    }

    pub(crate) fn slot_ms(&self) -> u32 {
        self.used.slot_ms()
    }

    pub(crate) fn used(&self) -> &Demand {
        &self.used
    }

    pub(crate) fn slots(&self) -> usize {
        self.used.slots().len()
    }

    /// What was used in each slot from one progress to another, and for how much of the run; past
    /// the end nothing.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = (Resources, f64)> {
        let used = self.used.slots();
        self.parts(from, to).map(|(slot, part)| (used[slot], part))
    }

    /// The slots from one progress to another, and how much of the run each is there.
    pub(crate) fn parts(&self, from: f64, to: f64) -> impl Iterator<Item = (usize, f64)> + use<> {
        let slots = self.slots() as f64;
        let (from, to) = (from.max(0.0) * slots, (to * slots).min(slots));
        let first = from.floor() as usize;
        let end = to.ceil().max(0.0) as usize;
        (first..end).filter_map(move |slot| {
            let at = slot as f64;
            let overlap = to.min(at + 1.0) - from.max(at);
            // Less than that is the rounding of a boundary that both sides share.
            (overlap > 1e-9).then_some((slot, overlap / slots))
        })
    }

    /// The mean from one progress to another; none past the end.
    pub(crate) fn mean(&self, from: f64, to: f64) -> Option<Resources> {
        let (sum, part) = self
            .between(from, to)
            .fold((Resources::ZERO, 0.0), |(sum, part), (usage, length)| {
                (sum + usage * length, part + length)
            });
        (part > 0.0).then(|| sum * (1.0 / part))
    }

    /// All that the run used: cores, bytes and bytes per second, each times seconds.
    pub(crate) fn total(&self) -> Resources {
        amount(&self.used)
    }

    /// The mean of the whole run.
    pub(crate) fn level(&self) -> Resources {
        self.mean(0.0, 1.0).unwrap_or(Resources::ZERO)
    }
}
