//! Admission: whether the next container of an application may go to a node.

use std::fmt;

use super::ClusterSettings;
use super::application::{Application, Predicted};
use super::node_entry::{NodeEntry, Request};
use crate::available::Available;
use crate::demand::{Demand, DemandError};
use crate::fit::Excess;
use crate::policy::{Candidate, Place, Policy, Waiting};
use crate::resources::Resources;

/// Why the core has a container go to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admitted {
    /// Its demand fits over time.
    Fits,
    /// It waited too long, and the node has free space by request.
    Starving,
}

/// Why a container must not go to a node now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// Its demand does not fit.
    Excess(Excess),
    /// Its demand is none, such as a size that is not a number.
    Demand(DemandError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Excess(excess) => excess.fmt(f),
            Refusal::Demand(error) => error.fmt(f),
        }
    }
}

/// The next container of an application as it would be on one node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prospect {
    /// What it will use, capped at the node's size: predicted, or the request for life.
    pub(super) demand: Demand,
    /// With its margin, which never asks for more than the node has, so that what fits an empty
    /// node by request fits it by prediction too.
    needed: Demand,
    /// The margin, as a fraction of the demand.
    pub(super) margin: f64,
    request: Resources,
}

impl Prospect {
    pub(super) fn new(
        entry: &NodeEntry,
        predicted: Option<&Predicted>,
        request: Request,
    ) -> Result<Self, DemandError> {
        let capacity = entry.node.capacity;
        let request = entry.request_resources(request);
        let (demand, margin) = match predicted {
            Some(predicted) => (predicted.demand.capped(capacity), predicted.margin),
            None => (Demand::for_life(request.capped(capacity))?, 0.0),
        };
        let needed = demand.with_margin(margin).capped(capacity);
        Ok(Self {
            demand,
            needed,
            margin,
            request,
        })
    }

    pub(super) fn candidate(&self, waiting: Waiting) -> Candidate<'_> {
        Candidate {
            demand: &self.demand,
            needed: &self.needed,
            request: self.request,
            waiting,
        }
    }
}

impl NodeEntry {
    /// This node for a policy; `available` is what is left of it.
    pub(super) fn place<'a>(&'a self, available: &'a Available, now_ms: i64) -> Place<'a> {
        Place {
            node: &self.node,
            available,
            booked: self.request_resources(self.booked),
            now_ms,
            rates: None,
        }
    }
}

/// Whether a container may go to a node.
///
/// Nobody starves: past a bounded wait an application passes as CapacityScheduler would have it,
/// where free space by request exists.
pub(super) fn admit(
    policy: &dyn Policy,
    settings: &ClusterSettings,
    entry: &NodeEntry,
    place: &Place<'_>,
    application: &Application,
    request: Request,
    candidate: &Candidate<'_>,
) -> Result<Admitted, Excess> {
    let starves = || {
        application.waiting.is_some()
            && application.waited_ms(place.now_ms) >= settings.starvation_wait_ms
            && request.fits_into(entry.registered.minus(entry.booked))
    };
    match policy.fits(place, candidate) {
        Ok(()) => Ok(Admitted::Fits),
        Err(_) if starves() => Ok(Admitted::Starving),
        Err(excess) => Err(excess),
    }
}
