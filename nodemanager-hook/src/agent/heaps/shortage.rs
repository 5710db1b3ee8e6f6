//! When the node is short of memory, the JVMs of overcommitted containers shrink, each in proportion
//! to the memory that it could return.
//!
//! Containers that fit the node by their requests are neither asked nor named: their memory is their
//! own. The others would have to give way otherwise, and a smaller heap is the lesser harm.

use std::collections::{BTreeMap, BTreeSet};

use super::NodeHeaps;
use crate::{
    actuators::Margin,
    agent::container::{Containers, NodeContainer},
    container_id::ContainerId,
};

/// Less is not worth the wait. The default of `memory.margin_bytes`.
const MIN_GIVEN_BACK_BYTES: u64 = 64 * 1024 * 1024;

/// Each container's part of the shortage, in proportion to its spare memory, rounded up.
fn shares(spare_bytes: &[u64], short_bytes: u64) -> Vec<u64> {
    let all: u128 = spare_bytes.iter().copied().map(u128::from).sum();
    let share = |spare: &u64| {
        let part = (u128::from(short_bytes) * u128::from(*spare)).div_ceil(all.max(1));
        u64::try_from(part).unwrap_or(u64::MAX).min(*spare)
    };
    spare_bytes.iter().map(share).collect()
}

/// The most that the JVMs of each of these containers could return, in bytes.
pub fn spare_heaps(
    heaps: &NodeHeaps,
    containers: &Containers,
    may_be_asked: &BTreeSet<ContainerId>,
) -> BTreeMap<ContainerId, u64> {
    let spare = |(id, container): (&ContainerId, &NodeContainer)| {
        let jvms = heaps.found(container).into_iter();
        let bytes = jvms
            .filter(|(control, _)| control.accepts_attach)
            .map(|(control, heap)| control.kind.most_given_back(heap))
            .fold(0, u64::saturating_add);
        (bytes >= MIN_GIVEN_BACK_BYTES).then(|| (id.clone(), bytes))
    };
    containers.iter().filter(|(id, _)| may_be_asked.contains(*id)).filter_map(spare).collect()
}

/// Sets the targets of the containers' JVMs. Those that have reached their target get a smaller one
/// while the node is still short. Containers that may not be asked get none.
pub fn share_shortage(
    containers: &mut Containers,
    may_be_asked: &BTreeSet<ContainerId>,
    short_bytes: u64,
    spare: &BTreeMap<ContainerId, u64>,
    margin: Margin,
) {
    for (id, container) in containers.iter_mut() {
        if !may_be_asked.contains(id) {
            container.smaller_bytes = None;
        }
    }
    let spare_bytes: Vec<u64> = spare.values().copied().collect();
    for (id, share) in spare.keys().zip(shares(&spare_bytes, short_bytes)) {
        let Some(container) = containers.get_mut(id) else {
            continue;
        };
        let resident_bytes = container.sensor.resident_bytes();
        let min_bytes = resident_bytes.saturating_add(margin.bytes(resident_bytes));
        if container.smaller_bytes.is_none_or(|bytes| bytes >= min_bytes) {
            log::info!("{id}: its JVMs should return {share} bytes: the node is short of memory");
            container.smaller_bytes = Some(min_bytes.saturating_sub(share));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortage_is_shared_in_proportion_to_spare_memory() {
        let both = [300, 100];
        assert_eq!(shares(&both, 200), [150, 50]);
        assert_eq!(shares(&both, 1), [1, 1]);
        assert_eq!(shares(&both, 1000), [300, 100]);
        assert_eq!(shares(&both, u64::MAX), [300, 100]);
        assert!(shares(&[], 5).is_empty());
    }
}
