//! When the node is short of memory, the JVMs of overcommitted containers shrink, each in proportion
//! to the memory that it could return.
//!
//! Containers that fit the node by their requests are neither asked nor named: their memory is their
//! own. The others would have to give way otherwise, and a smaller heap is the lesser harm.

use std::{collections::BTreeSet, time::Instant};

use elastane_protocol::Limits;

use super::{Agent, limits::planned_limits};
use crate::container_id::ContainerId;

/// Less is not worth the wait. The default of `memory.margin_bytes`.
const MIN_GIVEN_BACK_BYTES: u64 = 64 * 1024 * 1024;

/// The most that the JVMs of a container could return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spare {
    pub id: ContainerId,
    pub bytes: u64,
}

/// Each container's part of the shortage, in proportion to its spare memory, rounded up.
fn shares(spare: &[Spare], short_bytes: u64) -> Vec<u64> {
    let all: u128 = spare.iter().map(|one| u128::from(one.bytes)).sum();
    let share = |one: &Spare| {
        let part = (u128::from(short_bytes) * u128::from(one.bytes)).div_ceil(all.max(1));
        u64::try_from(part).unwrap_or(u64::MAX).min(one.bytes)
    };
    spare.iter().map(share).collect()
}

impl Agent {
    /// The memory that the JVMs of each container could return, where the agent may ask them.
    pub(super) fn spare_heaps(&mut self, now: Instant) -> Vec<Spare> {
        let mut all = Vec::new();
        for id in self.may_be_asked(now) {
            let Some(container) = self.containers.get(&id) else {
                continue;
            };
            let jvms = self.heaps.found(&container.pids).into_iter();
            let bytes = jvms
                .filter(|jvm| jvm.control.accepts_attach)
                .map(|jvm| jvm.control.kind.most_given_back(jvm.heap))
                .fold(0, u64::saturating_add);
            if bytes >= MIN_GIVEN_BACK_BYTES {
                all.push(Spare { id, bytes });
            }
        }
        all
    }

    /// Sets the targets of the containers' JVMs. Those that have reached their target get a smaller
    /// one while the node is still short.
    pub(super) fn share_shortage(&mut self, short_bytes: u64, spare: &[Spare], now: Instant) {
        let may_be_asked = match self.node.shortage.asks_jvms() {
            true => self.may_be_asked(now),
            false => BTreeSet::new(),
        };
        for (id, container) in &mut self.containers {
            if !may_be_asked.contains(id) {
                container.smaller_bytes = None;
            }
        }
        for (one, share) in spare.iter().zip(shares(spare, short_bytes)) {
            let Some(container) = self.containers.get_mut(&one.id) else {
                continue;
            };
            let resident_bytes = container.sensor.resident_bytes();
            let margin_bytes = self.actuator.margin.bytes(resident_bytes);
            let min_bytes = resident_bytes.saturating_add(margin_bytes);
            if container.smaller_bytes.is_none_or(|bytes| bytes >= min_bytes) {
                let id = &one.id;
                log::info!(
                    "{id}: its JVMs should return {share} bytes: the node is short of memory"
                );
                container.smaller_bytes = Some(min_bytes.saturating_sub(share));
            }
        }
    }

    fn may_be_asked(&self, now: Instant) -> BTreeSet<ContainerId> {
        if !self.heaps.follow {
            return BTreeSet::new();
        }
        let overcommitted = self.overcommitted().into_iter().map(|one| one.id);
        // Elastane leaves containers alone that it does not limit.
        let is_limited = |id: &ContainerId| {
            let (planned, _) = planned_limits(self.plan.as_ref(), id, now);
            planned != Limits::default()
        };
        overcommitted.filter(is_limited).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare(number: u64, bytes: u64) -> Spare {
        let id = format!("container_1_1_1_{number}").parse().unwrap();
        Spare { id, bytes }
    }

    #[test]
    fn the_shortage_is_shared_in_proportion_to_spare_memory() {
        let both = [spare(1, 300), spare(2, 100)];
        assert_eq!(shares(&both, 200), [150, 50]);
        assert_eq!(shares(&both, 1), [1, 1]);
        assert_eq!(shares(&both, 1000), [300, 100]);
        assert_eq!(shares(&both, u64::MAX), [300, 100]);
        assert!(shares(&[], 5).is_empty());
    }
}
