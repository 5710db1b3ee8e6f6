//! Amounts of memory and virtual cores, as CapacityScheduler compares them. Where it does not count virtual cores, all
//! amounts have 0 of them.

use elastane_core::cluster::Request;

use crate::workload::Parts;

/// The larger part of a whole.
pub(super) fn dominant_share(amount: Request, whole: Request) -> f64 {
    let part = |amount: f64, whole: f64| if whole > 0.0 { amount / whole } else { 0.0 };
    let memory = part(amount.memory_bytes as f64, whole.memory_bytes as f64);
    memory.max(part(f64::from(amount.vcores), f64::from(whole.vcores)))
}

/// Parts of a whole, rounded down.
pub(super) fn part_of(whole: Request, parts: Parts) -> Request {
    Request {
        memory_bytes: (whole.memory_bytes as f64 * parts.memory) as u64,
        vcores: (f64::from(whole.vcores) * parts.vcores) as u32,
    }
}

/// Whether an amount is within these parts of a whole.
pub(super) fn is_within(amount: Request, whole: Request, parts: Parts) -> bool {
    amount.memory_bytes as f64 <= whole.memory_bytes as f64 * parts.memory
        && f64::from(amount.vcores) <= f64::from(whole.vcores) * parts.vcores
}

/// The amount with the smaller dominant share of a whole; where these are the same, the one with the smaller other share
/// (`DominantResourceCalculator.compare`).
pub(super) fn smaller(one: Request, other: Request, whole: Request) -> Request {
    let shares = |amount: Request| {
        let of_memory = dominant_share(Request { vcores: 0, ..amount }, whole);
        let of_cores = dominant_share(Request { memory_bytes: 0, ..amount }, whole);
        (of_memory.max(of_cores), of_memory.min(of_cores))
    };
    if shares(one) <= shares(other) { one } else { other }
}
