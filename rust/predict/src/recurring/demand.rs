//! The planned demand, from runs at the same progress.

use elastane_core::{Demand, DemandError, Resources, SLOT_MS};

use super::usage_curve::{UsageCurve, mean};
use crate::score::amount;
use crate::statistics;

/// The demand of the next run: [`stretched_mean`] with the memory of [`with_most_memory`].
pub(crate) fn planned(runs: &[UsageCurve]) -> Result<Demand, DemandError> {
    with_most_memory(&stretched_mean(runs)?, runs)
}

/// The mean of the runs at the same progress, on the mean of their lengths. CPU, network and disk are
/// scaled to the mean of the runs' totals: a throttled run uses less per second for longer.
pub(crate) fn stretched_mean(runs: &[UsageCurve]) -> Result<Demand, DemandError> {
    let slot_ms = runs.iter().map(|run| run.used().slot_ms()).min();
    let slot_ms = slot_ms.unwrap_or(SLOT_MS);
    let count = (mean_length_ms(runs) / f64::from(slot_ms)).round().max(1.0) as usize;
    let slots: Vec<Resources> =
        spans(count).map(|(from, to)| mean_between(runs, from, to)).collect();
    let stretched = Demand::series(slot_ms, &slots)?;
    let totals: Vec<Resources> = runs.iter().map(UsageCurve::total).collect();
    let scale = mean(&totals).zip(
        amount(&stretched),
        |total, made| {
            if made > 0.0 { total / made } else { 1.0 }
        },
    );
    Ok(stretched.scaled(Resources { memory_bytes: 1.0, ..scale }))
}

/// The demand with the most memory that one of the runs held at the same progress. CPU and bandwidth
/// above a prediction are shared out and cost time; memory above it costs the container.
pub(crate) fn with_most_memory(
    demand: &Demand,
    runs: &[UsageCurve],
) -> Result<Demand, DemandError> {
    let slots = demand.slots();
    let slots: Vec<Resources> = spans(slots.len())
        .zip(slots)
        .map(|((from, to), slot)| {
            let held = runs.iter().flat_map(|run| run.between(from, to));
            Resources {
                memory_bytes: held.map(|(used, _)| used.memory_bytes).fold(0.0, f64::max),
                ..*slot
            }
        })
        .collect();
    Demand::series(demand.slot_ms(), &slots)
}

pub(crate) fn mean_length_ms(runs: &[UsageCurve]) -> f64 {
    let lengths: Vec<f64> = runs.iter().map(UsageCurve::length_ms).collect();
    statistics::mean(&lengths)
}

/// The mean of the runs between two points of their progress.
pub fn mean_between(runs: &[UsageCurve], from: f64, to: f64) -> Resources {
    let means: Vec<Resources> = runs.iter().filter_map(|it| it.mean(from, to)).collect();
    mean(&means)
}

/// Progress from 0 to 1 in equal parts.
fn spans(count: usize) -> impl Iterator<Item = (f64, f64)> {
    let part = move |at: usize| at as f64 / count as f64;
    (0..count).map(move |at| (part(at), part(at + 1)))
}
