//! From when on something may fit a node: until then a heartbeat would ask in vain.
//!
//! What is said to be left here is never less than what the core finds to be left, whatever is
//! measured meanwhile: memory beyond what was predicted is left out. So what does not fit here does
//! not fit there, until something starts or ends on the node.

use elastane_core::node::Node;
use elastane_core::{Resource, Resources, SLOT_MS};

use super::kinds::Needed;

/// More than the core allows a demand to pass what is left by, as a part of the capacity.
const TOLERANCE: f64 = 1e-6;

/// What the predictions of a node's executors leave, slot by slot from now on; endless where nothing
/// is taken, since demands are capped at the capacity.
pub(super) struct Outlook {
    /// Up to the last predicted end.
    left: [Vec<f64>; 4],
    /// In each slot when it is the current one, and after the last predicted end: executors that
    /// outlived their prediction keep their last value then, until they end.
    left_when_current: [Vec<f64>; 4],
}

impl Outlook {
    /// A demand may pass what is left by `may_pass`.
    pub(super) fn new(node: &Node, may_pass: Resources, now_ms: i64) -> Self {
        let slot_ms = i64::from(SLOT_MS);
        let now_slot = now_ms.div_euclid(slot_ms);
        let mut running = Vec::new();
        for executor in node.running() {
            let slots = executor.demand.slots();
            let passed = (now_slot - executor.start_ms.div_euclid(slot_ms)).max(0) as usize;
            // A request for life is held without an end; not to count it leaves more, not less.
            if executor.demand.duration_ms().is_some() {
                running.push((slots.get(passed..).unwrap_or_default(), slots.last()));
            }
        }
        let ends = running.iter().map(|(slots, _)| slots.len());
        let last_end = ends.max().unwrap_or(0);
        let mut outlook = Self {
            left: Default::default(),
            left_when_current: Default::default(),
        };
        for resource in Resource::ALL {
            let capacity = node.capacity.get(resource);
            let free = capacity * (1.0 + TOLERANCE) + may_pass.get(resource);
            let mut left = vec![free; last_end];
            for (slots, _) in &running {
                for (left, slot) in left.iter_mut().zip(*slots) {
                    *left -= slot.get(resource);
                }
            }
            let mut when_current = left.clone();
            when_current.push(free);
            for (slots, last) in &running {
                let last = last.map_or(0.0, |last| last.get(resource));
                for left in &mut when_current[slots.len()..] {
                    *left -= last;
                }
            }
            for left in left.iter_mut().chain(&mut when_current) {
                if *left >= capacity {
                    *left = f64::INFINITY;
                }
            }
            outlook.left[resource as usize] = left;
            outlook.left_when_current[resource as usize] = when_current;
        }
        outlook
    }

    /// From how many slots on an executor fits that needs so much of `resources` in each of its
    /// slots; at most `limit`.
    pub(super) fn first_fit(&self, needed: &Needed, resources: &[Resource], limit: usize) -> usize {
        let mut start = 0;
        while start < limit {
            let Some((resource, slot)) = self.conflict(needed, resources, start) else {
                return start;
            };
            // Mostly it goes on for a while: at the same time, or in the same slot of the executor.
            let at = start + slot;
            start += 1;
            while start < limit
                && (at
                    .checked_sub(start)
                    .is_some_and(|slot| self.conflicts(needed, resource, start, slot))
                    || self.conflicts(needed, resource, start, slot))
            {
                start += 1;
            }
        }
        limit
    }

    fn conflict(
        &self,
        needed: &Needed,
        resources: &[Resource],
        start: usize,
    ) -> Option<(Resource, usize)> {
        let now = |resource: &&Resource| self.conflicts(needed, **resource, start, 0);
        if let Some(resource) = resources.iter().find(now) {
            return Some((*resource, 0));
        }
        resources.iter().find_map(|resource| {
            let left = self.left[*resource as usize].get(start..)?;
            let mut pairs = needed[*resource as usize].iter().zip(left);
            let slot = pairs.position(|(needed, left)| needed > left)?;
            Some((*resource, slot))
        })
    }

    fn conflicts(&self, needed: &Needed, resource: Resource, start: usize, slot: usize) -> bool {
        let left = if slot == 0 {
            &self.left_when_current
        } else {
            &self.left
        };
        let needed = needed[resource as usize].get(slot);
        let left = left[resource as usize].get(start + slot);
        needed.zip(left).is_some_and(|(needed, left)| needed > left)
    }

    /// From how many slots on nothing changes any more but by what happens.
    pub(super) fn end(&self) -> usize {
        self.left_when_current[0].len()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests")]
mod tests {
    use elastane_core::node::ExecutorId;
    use elastane_core::{Demand, Running};

    use super::*;

    fn cpu(cores: &[f64]) -> Needed {
        [cores.to_vec(), vec![0.0; cores.len()], vec![], vec![]]
    }

    fn outlook(cores: &[f64]) -> Outlook {
        let slots = cores.iter().map(|cores| Resources {
            cpu_cores: *cores,
            ..Resources::ZERO
        });
        let demand = Demand::series(SLOT_MS, &slots.collect::<Vec<_>>()).unwrap();
        let mut node = Node::new(Resources::from_array([4.0; 4]));
        node.insert(ExecutorId(1), Running::new(0, demand));
        Outlook::new(&node, Resources::ZERO, i64::from(SLOT_MS))
    }

    /// The first slot of what runs has passed.
    fn first_fit(running: &[f64], needed: &[f64]) -> usize {
        let outlook = outlook(running);
        outlook.first_fit(&cpu(needed), &Resource::ALL, outlook.end())
    }

    #[test]
    fn what_fits_now_fits_at_once() {
        assert_eq!(first_fit(&[9.0, 2.0, 2.0], &[2.0; 5]), 0);
    }

    #[test]
    fn a_peak_keeps_it_out_until_it_would_come_later() {
        // Its second slot must not meet the third of what is left of the other.
        assert_eq!(first_fit(&[0.0, 3.0, 3.0, 3.0, 1.0], &[1.0, 3.0]), 2);
        assert_eq!(first_fit(&[0.0, 3.0, 3.0, 3.0, 1.0], &[3.0, 1.0]), 3);
    }

    #[test]
    fn what_outlives_its_prediction_is_in_the_way_until_it_ends() {
        assert_eq!(first_fit(&[0.0, 2.0, 3.0], &[1.0, 2.0, 1.0]), 1);
        // Not within its prediction, nor after that.
        assert_eq!(first_fit(&[0.0, 2.0, 3.0], &[2.0, 2.0]), 3);
    }

    #[test]
    fn demands_above_the_capacity_fit_once_nothing_runs() {
        assert_eq!(first_fit(&[0.0, 1.0, 1.0, 0.0], &[9.0]), 2);
    }
}
