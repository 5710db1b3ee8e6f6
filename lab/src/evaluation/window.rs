//! The slots of the runs that the guesses at the next run have in one window of time.

use elastane_predict::progress::UsageCurve;

/// The slots of all runs, concatenated. Guesses of one run in several lengths share most of its slots, so
/// each slot is kept once, with the sum of their weights.
pub(super) struct Window {
    /// Where the slots of each run begin.
    begins: Vec<usize>,
    /// How long each slot lasts in the window, over all guesses.
    weights: Vec<f64>,
    /// The slots of weight above 0.
    slots: Vec<usize>,
}

impl Window {
    pub(super) fn new(curves: &[UsageCurve]) -> Self {
        let mut begins = Vec::with_capacity(curves.len());
        let mut end = 0;
        for curve in curves {
            begins.push(end);
            end += curve.used().slots().len();
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

    /// Adds a slot of a run for the time it lasts in a guess, more than 0.
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
