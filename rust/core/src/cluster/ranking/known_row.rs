//! A waiting application's next container on one node, from what rounds prepared for nodes of that size.

use super::fit_filter::FitFilter;
use super::scores::Scores;
use crate::by_plan::ByPlan;
use crate::cluster::state::{ApplicationId, NodeEntry, Request};
use crate::cluster::waiting::{Known, WaitingTable};
use crate::container_kind::ContainerKind;

/// The score on a node whose plan is refreshed, if the container fits there. None if it does not fit, or nothing
/// is prepared for this container: then the slots of its demand have to be read.
pub(crate) fn score_if_known_to_fit(
    by: ByPlan,
    waiting: &WaitingTable,
    entry: &NodeEntry,
    application: ApplicationId,
    (kind, request): (ContainerKind, Request),
) -> Option<f64> {
    let Known { row, line, predicted, screen } = waiting.known(entry, by.peaks, application)?;
    if (line.kind, line.request) != (kind, request) {
        return None;
    }
    let left = entry.plan.left();
    let need = entry.need(predicted, request);
    FitFilter::new(screen, left).check(row, || need).ok()?;
    Some(Scores::new(by, left, screen).exact(row, line, &need))
}
