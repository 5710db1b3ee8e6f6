//! Usage along the progress of a run, from 0 to 1.

use elastane_core::{Demand, Resources};

use crate::score::amount;

/// The usage of a run between any two points of its progress.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageCurve {
    used: Demand,
}

impl UsageCurve {
    /// The usage of one container from its start.
    pub fn new(used: &Demand) -> Self {
        Self { used: used.clone() }
    }

    /// The length of the run.
    pub fn length_ms(&self) -> f64 {
        f64::from(self.used.slot_ms()) * self.used.slots().len() as f64
    }

    /// The usage by time.
    pub fn used(&self) -> &Demand {
        &self.used
    }

    /// The usage in each slot between two points of progress, and the part of the run that the slot
    /// covers there; nothing past the end.
    pub fn between(&self, from: f64, to: f64) -> impl Iterator<Item = (Resources, f64)> {
        let used = self.used.slots();
        self.parts(from, to).map(|(slot, part)| (used[slot], part))
    }

    /// As [`UsageCurve::between`], with the number of the slot instead of its usage.
    pub fn parts(&self, from: f64, to: f64) -> impl Iterator<Item = (usize, f64)> + use<> {
        let slots = self.used.slots().len() as f64;
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

    /// The mean between two points of progress; none past the end.
    pub fn mean(&self, from: f64, to: f64) -> Option<Resources> {
        let (mut sum, mut part) = (Resources::ZERO, 0.0);
        for (usage, length) in self.between(from, to) {
            sum += usage * length;
            part += length;
        }
        (part > 0.0).then(|| sum * (1.0 / part))
    }

    pub(super) fn total(&self) -> Resources {
        amount(&self.used)
    }
}

/// The mean of some amounts; zero where there are none.
pub fn mean(amounts: &[Resources]) -> Resources {
    let sum = amounts.iter().fold(Resources::ZERO, |sum, it| sum + *it);
    sum * (1.0 / amounts.len().max(1) as f64)
}
