//! JVMs give memory back when the node is short of it: those of overcommitted containers, each as
//! much as it takes of what is missing.
//!
//! What fits the node by requests is not asked, as it is not named: its memory is its own. Those
//! that are asked would have to give way otherwise, and a smaller heap is the lesser harm.

use std::{collections::BTreeSet, time::Instant};

use elastane_protocol::Limits;

use super::{Agent, heap_plan::HeapTarget};
use crate::container_id::ContainerId;

/// Asking for less is not worth the wait: the least margin of a limit, by default.
const LEAST_GIVEN_BACK_BYTES: u64 = 64 * 1024 * 1024;

/// What the JVMs of a container could give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spare {
    pub id: ContainerId,
    /// At the most.
    pub bytes: u64,
}

/// What each gives back: of what is missing the part that it has of what all could, rounded up.
fn shares(spare: &[Spare], short_bytes: u64) -> Vec<u64> {
    let all: u128 = spare.iter().map(|one| u128::from(one.bytes)).sum();
    let share = |one: &Spare| {
        let part = (u128::from(short_bytes) * u128::from(one.bytes)).div_ceil(all.max(1));
        u64::try_from(part).unwrap_or(u64::MAX).min(one.bytes)
    };
    spare.iter().map(share).collect()
}

impl Agent {
    /// What could be given back now by JVMs that may be asked.
    pub(super) fn spare_heaps(&mut self, now: Instant) -> Vec<Spare> {
        let mut all = Vec::new();
        for id in self.may_be_asked(now) {
            let jvms = self.jvms_of(&id).into_iter();
            let bytes = jvms
                .filter(|jvm| jvm.control.accepts_attach())
                .map(|jvm| jvm.control.kind().most_given_back(jvm.heap))
                .fold(0, u64::saturating_add);
            if bytes >= LEAST_GIVEN_BACK_BYTES {
                all.push(Spare { id, bytes });
            }
        }
        all
    }

    /// Says which containers' JVMs are to be smaller now. Those whose JVMs have given back what
    /// they were asked for are asked for more while the node is still short.
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
            let margin_bytes = self.actuator.rules.margin.bytes(resident_bytes);
            let least_bytes = resident_bytes.saturating_add(margin_bytes);
            if container
                .smaller_bytes
                .is_some_and(|bytes| bytes < least_bytes)
            {
                continue;
            }
            let id = &one.id;
            log::info!("{id}: its JVMs are asked for {share} bytes: the node is short of memory");
            container.smaller_bytes = Some(least_bytes.saturating_sub(share));
        }
    }

    /// What a container's JVMs are to fit for the sake of the node.
    pub(super) fn shortage_target(&self, id: &ContainerId, now: Instant) -> Option<HeapTarget> {
        let bytes = self.containers.get(id)?.smaller_bytes?;
        self.is_limited_by_plan(id, now).then_some(HeapTarget {
            bytes,
            is_for_node: true,
        })
    }

    /// Whether the plan limits anything of a container now: without that it is not this system's
    /// to do anything about.
    pub(super) fn is_limited_by_plan(&self, id: &ContainerId, now: Instant) -> bool {
        let plan = self.plan.as_ref();
        let limits = plan.and_then(|plan| plan.limits_at(id, now));
        limits.is_some_and(|limits| limits != Limits::default())
    }

    fn may_be_asked(&self, now: Instant) -> BTreeSet<ContainerId> {
        if !self.heaps.follow {
            return BTreeSet::new();
        }
        let overcommitted = self.overcommitted().into_iter().map(|one| one.id);
        overcommitted
            .filter(|id| self.is_limited_by_plan(id, now))
            .collect()
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
    fn what_is_missing_is_shared_by_what_each_could_give() {
        let both = [spare(1, 300), spare(2, 100)];
        assert_eq!(shares(&both, 200), [150, 50]);
        assert_eq!(shares(&both, 1), [1, 1]);
        assert_eq!(shares(&both, 1000), [300, 100]);
        assert_eq!(shares(&both, u64::MAX), [300, 100]);
        assert!(shares(&[], 5).is_empty());
    }
}
