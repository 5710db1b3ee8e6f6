//! Ursa's fit of memory.

use crate::available::Available;
use crate::demand::Demand;
use crate::fit::{Excess, TOLERANCE};
use crate::resources::Resource;

/// Whether the needed memory is available in every slot.
///
/// The first excess.
pub(super) fn fits(available: &Available, needed: &Demand) -> Result<(), Excess> {
    let capacity = available.capacity().memory_bytes;
    let allowed = capacity * TOLERANCE;
    let most_fits = needed.peak().memory_bytes <= available.least().memory_bytes + allowed;
    if capacity <= 0.0 || most_fits {
        return Ok(());
    }
    let short = available.segments(needed, i64::MAX).find_map(|segment| {
        let lacking = segment.demand.memory_bytes - segment.available.memory_bytes;
        (lacking > allowed).then_some(Excess {
            resource: Resource::Memory,
            amount: lacking,
            from_ms: segment.from_ms,
        })
    });
    short.map_or(Ok(()), Err)
}
