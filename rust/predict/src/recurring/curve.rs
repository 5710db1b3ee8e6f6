//! What a run used by its progress, from 0 to 1.

use elastane_core::{Demand, Resources};

use crate::score::amount;

/// What a run used between any two points of its progress.
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

    /// The use in each slot from one progress to another, and the part of the run it covers; nothing
    /// past the end.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = (Resources, f64)> {
        let used = self.used.slots();
        self.parts(from, to).map(|(slot, part)| (used[slot], part))
    }

    /// The slots from one progress to another, and the part of the run that each covers there.
    pub(crate) fn parts(&self, from: f64, to: f64) -> impl Iterator<Item = (usize, f64)> + use<> {
        let slots = self.slots() as f64;
        let (from, to) = (from.max(0.0) * slots, (to * slots).min(slots));
        let first = from.floor() as usize;
        let end = to.ceil().max(0.0) as usize;
        (first..end).filter_map(move |slot| {
            let at = slot as f64;
            let overlap = to.min(at + 1.0) - from.max(at);
            // Smaller overlaps are the rounding error of a shared boundary.
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

    pub(crate) fn total(&self) -> Resources {
        amount(&self.used)
    }

    pub(crate) fn level(&self) -> Resources {
        self.mean(0.0, 1.0).unwrap_or(Resources::ZERO)
    }
}

pub(crate) fn mean(amounts: &[Resources]) -> Resources {
    let sum = amounts.iter().fold(Resources::ZERO, |sum, it| sum + *it);
    sum * (1.0 / amounts.len().max(1) as f64)
}
