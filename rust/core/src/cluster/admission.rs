//! Admission: whether the next container of an application may go to a node.

use std::fmt;

use super::ClusterSettings;
use super::application::{Application, Predicted};
use super::node_entry::{NodeEntry, Request};
use crate::available::Available;
use crate::demand::{Demand, DemandError};
use crate::fit::{Excess, Peaks, fit, fit_over_life};

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

/// What came of looking at a container that fits, or may go there all the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weighed {
    pub(super) admitted: Admitted,
    /// What it will use, capped at the node's size.
    pub(super) demand: Demand,
}

/// The demand of a container on a node, capped at the node's capacity, and its margin: predicted,
/// or the request for life.
pub(super) fn demand_on(
    entry: &NodeEntry,
    predicted: Option<&Predicted>,
    request: Request,
) -> Result<(Demand, f64), DemandError> {
    let capacity = entry.node.capacity;
    match predicted {
        Some(predicted) => Ok((predicted.demand.capped(capacity), predicted.margin)),
        None => {
            let request = entry.request_resources(request).capped(capacity);
            Ok((Demand::for_life(request)?, 0.0))
        }
    }
}

/// Whether the next container of `application` may go to a node of which `available` is left.
pub(super) fn weigh(
    entry: &NodeEntry,
    available: &Available,
    application: &Application,
    application_master: bool,
    request: Request,
    settings: &ClusterSettings,
    now_ms: i64,
) -> Result<Weighed, Refusal> {
    let predicted = application.demands.of(application_master);
    let (demand, margin) = demand_on(entry, predicted, request).map_err(Refusal::Demand)?;
    let admitted = match fits(available, &demand, margin, settings.peaks) {
        Ok(()) => Admitted::Fits,
        Err(_) if is_starving(entry, application, request, settings, now_ms) => Admitted::Starving,
        Err(excess) => return Err(Refusal::Excess(excess)),
    };
    Ok(Weighed { admitted, demand })
}

/// Nobody starves: past a bounded wait an application passes as CapacityScheduler would have it,
/// where free space by request exists.
fn is_starving(
    entry: &NodeEntry,
    application: &Application,
    request: Request,
    settings: &ClusterSettings,
    now_ms: i64,
) -> bool {
    application.waiting.is_some()
        && application.waited_ms(now_ms) >= settings.starvation_wait_ms
        && request.fits_into(entry.registered.minus(entry.booked))
}

/// The margin never asks for more than the node has, so that what fits an empty node by request
/// fits it by prediction too.
pub(super) fn fits(
    available: &Available,
    demand: &Demand,
    margin: f64,
    peaks: Peaks,
) -> Result<(), Excess> {
    let with_margin = demand.with_margin(margin).capped(available.capacity());
    match peaks {
        Peaks::Strict => fit(available, &with_margin, 0.0),
        Peaks::Stretch => fit_over_life(available, &with_margin, 0.0),
    }
}
