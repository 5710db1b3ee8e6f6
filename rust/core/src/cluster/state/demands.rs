//! Predictions for the containers of an application.

use std::sync::Arc;

use crate::container_kind::ContainerKind;
use crate::demand::Demand;
use crate::stages::StageEnds;

/// A demand predicted from runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// The demand of one executor.
    pub demand: Demand,
    /// The safety margin of the fit, as a fraction of the demand.
    pub margin: f64,
    /// The runs it comes from.
    pub basis: Basis,
    /// When the application's stages ended in those runs; empty where they told none.
    pub stage_ends: StageEnds,
}

/// The runs that a demand comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Earlier runs of the application: the key of their profile.
    Profile(Arc<str>),
    /// Runs of other applications. Good enough to pack many executors by; no executor is limited to it, and its
    /// course is not compared with it.
    Others,
}

impl Basis {
    /// The key of the profile; none without one.
    pub fn profile(&self) -> Option<&Arc<str>> {
        match self {
            Basis::Profile(key) => Some(key),
            Basis::Others => None,
        }
    }
}

/// Largest margin. A demand a thousand times larger is capped at any node's capacity.
const LARGEST_MARGIN: f64 = 1e3;

/// Predictions by kind of container. A kind without a prediction is planned at its request. So is every kind while
/// the predictions are withheld: the application is in observe.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Demands {
    /// Sorted by kind. Most applications have two kinds, and a map allocates space for a dozen.
    known: Vec<(ContainerKind, Predicted)>,
    observed: Observed,
}

/// What keeps an application in observe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Observed {
    /// Its tag.
    pub by_tag: bool,
    /// The mode of its queue, or of one above.
    pub by_queue: bool,
}

impl Observed {
    /// Whether anything does.
    pub fn is_so(self) -> bool {
        self.by_tag || self.by_queue
    }

    /// What set the mode, as a part of a sentence about the application.
    pub fn by(self) -> &'static str {
        match (self.by_tag, self.by_queue) {
            (true, false) => "its tag elastane.mode",
            (false, _) => "mode.queue of its queue or of one above",
            (true, true) => "its tag elastane.mode, and mode.queue of its queue or of one above",
        }
    }
}

impl Predicted {
    /// Of runs that told no stages.
    pub fn of(demand: Demand, margin: f64, basis: Basis) -> Self {
        Self { demand, margin, basis, stage_ends: StageEnds::default() }
    }

    /// The demand on the plan's grid of slots, and a margin that is a number from 0 on.
    fn on_grid(self) -> Self {
        Self {
            demand: self.demand.on_grid(),
            margin: if self.margin.is_nan() { 0.0 } else { self.margin.clamp(0.0, LARGEST_MARGIN) },
            ..self
        }
    }
}

impl Demands {
    /// Sets the prediction of a kind. Returns whether it changed.
    pub(crate) fn set(&mut self, kind: ContainerKind, predicted: Option<Predicted>) -> bool {
        match (self.index(kind), predicted.map(Predicted::on_grid)) {
            (Ok(place), Some(now)) if self.known[place].1 == now => return false,
            (Ok(place), Some(now)) => self.known[place].1 = now,
            (Ok(place), None) => {
                self.known.remove(place);
            }
            (Err(place), Some(now)) => self.known.insert(place, (kind, now)),
            (Err(_), None) => return false,
        }
        true
    }

    /// The same, of an application whose submitter wants no decisions.
    pub fn observed_by_tag(mut self) -> Self {
        self.observed.by_tag = true;
        self
    }

    /// Returns whether that changed.
    pub(crate) fn observe_by_queue(&mut self, by_queue: bool) -> bool {
        std::mem::replace(&mut self.observed.by_queue, by_queue) != by_queue
    }

    /// What keeps the application in observe.
    pub fn observed(&self) -> Observed {
        self.observed
    }

    /// Whether the application is in observe.
    pub fn are_withheld(&self) -> bool {
        self.observed.is_so()
    }

    /// The prediction of a kind that counts.
    pub fn of(&self, kind: ContainerKind) -> Option<&Predicted> {
        if self.are_withheld() {
            return None;
        }
        let place = self.index(kind).ok()?;
        Some(&self.known[place].1)
    }

    /// Whether another demand shares one of these series.
    pub fn are_shared(&self) -> bool {
        let mut known = self.known.iter();
        known.any(|(_, predicted)| predicted.demand.is_shared())
    }

    /// The index of a kind, or the index at which to insert it.
    fn index(&self, kind: ContainerKind) -> Result<usize, usize> {
        self.known.binary_search_by_key(&kind, |(known, _)| *known)
    }
}

impl FromIterator<(ContainerKind, Predicted)> for Demands {
    fn from_iter<T: IntoIterator<Item = (ContainerKind, Predicted)>>(known: T) -> Self {
        let mut demands = Self::default();
        for (kind, predicted) in known {
            demands.set(kind, Some(predicted));
        }
        demands.known.shrink_to_fit();
        demands
    }
}
