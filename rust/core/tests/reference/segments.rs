//! Fit and score of policies by the plan in floating point, period by period of the available resources.

use elastane_core::by_plan::{PlanScore, Power, Shares};
use elastane_core::fit::{Excess, Peaks};
use elastane_core::policy::{Candidate, Place, Policy};
use elastane_core::{Available, Demand, Resource, Resources};

/// A demand within this fraction of the capacity fits.
const TOLERANCE: f64 = 1e-9;

/// A policy that is evaluated for each application.
pub struct Plain {
    pub peaks: Peaks,
    pub score: PlanScore,
}

impl Policy for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        let (available, needed) = (place.available, candidate.needed);
        match (self.peaks, needed.duration_ms()) {
            (Peaks::Soft, Some(life_ms)) => softly(available, needed, life_ms),
            _ => in_every_slot(available, needed, &Resource::ALL, Resources::ZERO),
        }
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        match self.score {
            PlanScore::Remaining(shares) => {
                let remaining = remaining(place.available, candidate.demand).to_array();
                match shares {
                    Shares::Largest => remaining.into_iter().fold(0.0, f64::max),
                    Shares::Sum => remaining.into_iter().sum(),
                }
            }
            PlanScore::Waiting(power) => {
                let executors = f64::from(candidate.waiting.executors);
                let nodes = mean_share(place, candidate.demand) * executors;
                let life_ms = candidate.demand.duration_ms();
                match power {
                    Power::Zero => nodes,
                    Power::Half => nodes * life_ms.map_or(600.0, |ms| ms as f64 / 1e3).sqrt(),
                }
            }
        }
    }

    fn peaks(&self) -> Peaks {
        self.peaks
    }
}

/// CPU, network and disk may exceed the available resources by a part of the node. CPU of an
/// executor that needs more than half of the node alone is compared in total.
fn softly(available: &Available, needed: &Demand, life_ms: i64) -> Result<(), Excess> {
    let capacity = available.capacity();
    let over =
        capacity.zip(Resources::from_array([0.2, 0.0, 0.6, 0.2]), |capacity, part| capacity * part);
    if needed.peak().cpu_cores * 2.0 <= capacity.cpu_cores {
        return in_every_slot(available, needed, &Resource::ALL, over);
    }
    let others = [Resource::Memory, Resource::Network, Resource::Disk];
    in_every_slot(available, needed, &others, over)?;
    let missing = available.segments(needed, life_ms).fold(0.0, |sum, piece| {
        let missing = piece.demand.cpu_cores - piece.available.cpu_cores;
        sum + missing * piece.length_ms() as f64
    }) / life_ms as f64;
    if capacity.cpu_cores > 0.0 && missing > TOLERANCE * capacity.cpu_cores {
        return Err(Excess { resource: Resource::Cpu, amount: missing, from_ms: 0 });
    }
    Ok(())
}

fn in_every_slot(
    available: &Available,
    needed: &Demand,
    resources: &[Resource],
    over: Resources,
) -> Result<(), Excess> {
    let capacity = available.capacity();
    let allowed = capacity * TOLERANCE + over;
    let excess = available.segments(needed, i64::MAX).find_map(|piece| {
        let missing = piece.demand - piece.available;
        let lacks = |resource: &Resource| {
            capacity.get(*resource) > 0.0 && missing.get(*resource) > allowed.get(*resource)
        };
        let resource = resources.iter().copied().find(lacks)?;
        Some(Excess { resource, amount: missing.get(resource), from_ms: piece.from_ms })
    });
    excess.map_or(Ok(()), Err)
}

/// The share of each resource that remains up to the first predicted end.
fn remaining(available: &Available, demand: &Demand) -> Resources {
    let ends = [available.first_end_ms(), demand.duration_ms()];
    let first = ends.into_iter().flatten().min();
    let horizon_ms = first.unwrap_or(i64::from(demand.slot_ms()));
    let pieces = available.segments(demand, horizon_ms);
    let remaining = pieces.fold(Resources::ZERO, |sum, piece| {
        sum + (piece.available - piece.demand) * piece.length_ms() as f64
    });
    remaining.zip(available.capacity(), |remaining, capacity| {
        if capacity > 0.0 { remaining / (capacity * horizon_ms as f64) } else { 0.0 }
    })
}

/// Mean share of a node that an executor demands of its dominant resource.
fn mean_share(place: &Place<'_>, demand: &Demand) -> f64 {
    let slots = demand.slots();
    let sum = slots.iter().fold(Resources::ZERO, |sum, slot| sum + *slot);
    let shares = sum.zip(place.node.capacity, |sum, capacity| {
        if capacity > 0.0 { sum / capacity / slots.len() as f64 } else { 0.0 }
    });
    shares.to_array().into_iter().fold(0.0, f64::max)
}
