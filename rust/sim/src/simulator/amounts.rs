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

/// The smaller memory and the smaller number of virtual cores.
pub(super) fn smaller(one: Request, other: Request) -> Request {
    Request {
        memory_bytes: one.memory_bytes.min(other.memory_bytes),
        vcores: one.vcores.min(other.vcores),
    }
}
