//! What the guesses at the next run have of the runs in one window of time.

use super::curve::Curve;

/// The slots of all runs, one run behind the other. Guesses of one run in several lengths have much
/// the same of its slots: a slot is there once, with the weight of all.
pub(super) struct Window {
    /// Where the slots of each run begin.
    begins: Vec<usize>,
    /// For how long each slot is there, over all guesses.
    weights: Vec<f64>,
    /// Those that are there at all.
    slots: Vec<usize>,
}

impl Window {
    /// With no slot.
    pub(super) fn new(curves: &[Curve]) -> Self {
        let mut begins = Vec::with_capacity(curves.len());
        let mut end = 0;
        for curve in curves {
            begins.push(end);
            end += curve.slots();
        }
        Self {
            begins,
            weights: vec![0.0; end],
            slots: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        for slot in self.slots.drain(..) {
            self.weights[slot] = 0.0;
        }
    }

    /// A guess has this slot of a run for so long, more than 0.
    pub(super) fn add(&mut self, run: usize, slot: usize, weight: f64) {
        let slot = self.begins[run] + slot;
        if self.weights[slot] == 0.0 {
            self.slots.push(slot);
        }
        self.weights[slot] += weight;
    }

    pub(super) fn slots(&self) -> &[usize] {
        &self.slots
    }

    pub(super) fn weight(&self, slot: usize) -> f64 {
        self.weights[slot]
    }
}
