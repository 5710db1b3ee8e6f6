//! From when on something may fit a node: until then a heartbeat would ask in vain.
//!
//! What is said to be left here is never less than what the core finds to be left, whatever is
//! measured meanwhile: memory beyond what was predicted is left out. So what does not fit here does
//! not fit there, until something starts or ends on the node.

use elastane_core::node::Node;
use elastane_core::{Resource, Resources, SLOT_MS};

use super::kinds::{Needed, SLOTS_OF_A_BLOCK};

/// More than the core allows a demand to pass what is left by, as a part of the capacity.
const TOLERANCE: f64 = 1e-6;

/// So many blocks are computed at once: mostly the first few tell.
const BLOCKS_AT_ONCE: usize = 4;

/// An amount of each resource.
type Amounts = [f64; 4];

/// What the predictions of a node's executors leave, slot by slot from now on; endless where nothing
/// is taken, since demands are capped at the capacity. Slots are computed when they are asked for.
pub(super) struct Outlook<'a> {
    running: Vec<Course<'a>>,
    capacity: Amounts,
    /// What is left where nothing is taken.
    free: Amounts,
    /// The last predicted end, in slots from now.
    last_end: usize,
    /// What is left in each of the first slots.
    left: Series,
    /// The same in each slot when it is the current one: executors that outlived their prediction keep
    /// their last value then, until they end.
    left_when_current: Series,
}

/// An amount a slot, and the most in each block of slots.
#[derive(Default)]
struct Series {
    slots: Vec<Amounts>,
    blocks: Vec<Amounts>,
}

impl Series {
    fn push_block(&mut self, slots: [Amounts; SLOTS_OF_A_BLOCK]) {
        let most = slots.into_iter().reduce(|most, slot| larger(&most, &slot));
        self.blocks.push(most.unwrap_or([f64::INFINITY; 4]));
        self.slots.extend(slots);
    }
}

fn larger(one: &Amounts, other: &Amounts) -> Amounts {
    std::array::from_fn(|at| f64::max(one[at], other[at]))
}

/// What is left of an executor's prediction.
struct Course<'a> {
    slots: &'a [Resources],
    last: Resources,
}

/// What an executor is held to in every slot of its life on nodes of one size.
pub(super) struct Held<'a> {
    slots: &'a [Amounts],
    blocks: &'a [Amounts],
    /// 0 for the resources that count, and so little for the others that they always fit.
    counts: Amounts,
}

impl<'a> Held<'a> {
    pub(super) fn to(needed: &'a Needed, resources: &[Resource]) -> Self {
        let mut counts = [f64::NEG_INFINITY; 4];
        for resource in resources {
            counts[*resource as usize] = 0.0;
        }
        Self {
            slots: &needed.slots,
            blocks: &needed.blocks,
            counts,
        }
    }

    fn exceeds(&self, needed: &Amounts, left: &Amounts) -> bool {
        let exceeds = |at: usize| needed[at] + self.counts[at] > left[at];
        (0..4).fold(false, |any, at| any | exceeds(at))
    }

    /// The first resource that lacks.
    fn lacks(&self, slot: usize, left: &Amounts) -> Option<usize> {
        (0..4).find(|at| self.lacks_one(*at, slot, left))
    }

    fn lacks_one(&self, at: usize, slot: usize, left: &Amounts) -> bool {
        let needed = self.slots.get(slot);
        needed.is_some_and(|needed| needed[at] + self.counts[at] > left[at])
    }
}

impl<'a> Outlook<'a> {
    /// A demand may pass what is left by `may_pass`.
    pub(super) fn new(node: &'a Node, may_pass: Resources, now_ms: i64) -> Self {
        let slot_ms = i64::from(SLOT_MS);
        let now_slot = now_ms.div_euclid(slot_ms);
        let mut running = Vec::new();
        for executor in node.running() {
            let slots = executor.demand.slots();
            let passed = (now_slot - executor.start_ms.div_euclid(slot_ms)).max(0) as usize;
            // A request for life is held without an end; not to count it leaves more, not less.
            if executor.demand.duration_ms().is_some() {
                running.push(Course {
                    slots: slots.get(passed..).unwrap_or_default(),
                    last: slots.last().copied().unwrap_or_default(),
                });
            }
        }
        let ends = running.iter().map(|course| course.slots.len());
        let free = node.capacity * (1.0 + TOLERANCE) + may_pass;
        Self {
            last_end: ends.max().unwrap_or(0),
            running,
            capacity: node.capacity.to_array(),
            free: free.to_array(),
            left: Series::default(),
            left_when_current: Series::default(),
        }
    }

    /// From how many slots on an executor fits that is held to so much; at most `limit`.
    pub(super) fn first_fit(&mut self, held: &Held<'_>, limit: usize) -> usize {
        let mut start = 0;
        let mut open_block = None;
        let mut conflict_in = 0;
        while start < limit {
            let block = start / SLOTS_OF_A_BLOCK;
            if open_block != Some(block) {
                if let Some(conflict) = self.conflict_of_block(held, block, conflict_in) {
                    conflict_in = conflict;
                    start = (block + 1) * SLOTS_OF_A_BLOCK;
                    continue;
                }
                open_block = Some(block);
            }
            let Some((resource, slot)) = self.conflict(held, start) else {
                return start;
            };
            // Mostly it goes on for a while: at the same time, or in the same slot of the executor.
            let at = start + slot;
            start += 1;
            while start < limit
                && (at
                    .checked_sub(start)
                    .is_some_and(|slot| self.conflicts(held, resource, start, slot))
                    || self.conflicts(held, resource, start, slot))
            {
                start += 1;
            }
        }
        limit
    }

    /// A block of the executor's slots in which it does not fit wherever in this block of slots it
    /// starts; first looked for beside the one that it was for the block before.
    fn conflict_of_block(&mut self, held: &Held<'_>, start: usize, before: usize) -> Option<usize> {
        self.compute(start * SLOTS_OF_A_BLOCK);
        let most_at_first = self.left_when_current.blocks[start];
        if held
            .slots
            .first()
            .is_some_and(|needed| held.exceeds(needed, &most_at_first))
        {
            return Some(before);
        }
        // A block of the executor meets two of these; past the last predicted end nothing is taken.
        let last = self.last_end.div_ceil(SLOTS_OF_A_BLOCK);
        let count = held.blocks.len().min(last.saturating_sub(start + 1));
        let mut conflicts = |block: &usize| {
            let at = start + block;
            self.compute((at + 1) * SLOTS_OF_A_BLOCK);
            let left = larger(&self.left.blocks[at], &self.left.blocks[at + 1]);
            held.exceeds(&held.blocks[*block], &left)
        };
        let mut near = [before, before.saturating_sub(1)].into_iter();
        near.find(|block| *block < count && conflicts(block))
            .or_else(|| (0..count).find(&mut conflicts))
    }

    /// The first slot of the executor in which it does not fit, and a resource that lacks there.
    fn conflict(&mut self, held: &Held<'_>, start: usize) -> Option<(usize, usize)> {
        self.compute(start);
        if let Some(at) = held.lacks(0, &self.left_when_current.slots[start]) {
            return Some((at, 0));
        }
        let slots = held.slots.len().min(self.last_end.saturating_sub(start));
        let mut from = 1;
        while from < slots {
            self.compute(start + from);
            let to = slots.min(self.left.slots.len() - start);
            let left = &self.left.slots[start..start + to];
            let exceeds = |slot: &usize| held.exceeds(&held.slots[*slot], &left[*slot]);
            if let Some(slot) = (from..to).find(exceeds) {
                return held.lacks(slot, &left[slot]).map(|at| (at, slot));
            }
            from = to;
        }
        None
    }

    fn conflicts(&mut self, held: &Held<'_>, at: usize, start: usize, slot: usize) -> bool {
        self.compute(start + slot);
        let left = if slot == 0 {
            &self.left_when_current
        } else {
            &self.left
        };
        held.lacks_one(at, slot, &left.slots[start + slot])
    }

    /// From how many slots on nothing changes any more but by what happens.
    pub(super) fn end(&self) -> usize {
        self.last_end + 1
    }

    /// Computes what is left up to a slot, if it is not known.
    fn compute(&mut self, slot: usize) {
        while self.left.slots.len() <= slot {
            for _ in 0..BLOCKS_AT_ONCE {
                self.compute_block();
            }
        }
    }

    fn compute_block(&mut self) {
        let from = self.left.slots.len();
        let mut left = [self.free; SLOTS_OF_A_BLOCK];
        let mut when_current = left;
        for course in &self.running {
            let slots = course.slots.get(from..).unwrap_or_default();
            for (at, (left, when_current)) in left.iter_mut().zip(&mut when_current).enumerate() {
                if let Some(amounts) = slots.get(at) {
                    take(left, *amounts);
                    take(when_current, *amounts);
                } else {
                    take(when_current, course.last);
                }
            }
        }
        self.left.push_block(left.map(|left| self.endless(left)));
        let when_current = when_current.map(|left| self.endless(left));
        self.left_when_current.push_block(when_current);
    }

    fn endless(&self, left: Amounts) -> Amounts {
        std::array::from_fn(|at| {
            if left[at] >= self.capacity[at] {
                f64::INFINITY
            } else {
                left[at]
            }
        })
    }
}

fn take(left: &mut Amounts, amounts: Resources) {
    for (left, amount) in left.iter_mut().zip(amounts.to_array()) {
        *left -= amount;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests")]
mod tests {
    use elastane_core::node::ExecutorId;
    use elastane_core::{Demand, Running};
    use proptest::prelude::*;

    use super::*;

    fn cpu(cores: &[f64]) -> Needed {
        let in_slot = |cores: &f64| Resources {
            cpu_cores: *cores,
            ..Resources::ZERO
        };
        Needed::in_slots(cores.iter().map(in_slot).collect())
    }

    fn running(cores: &[f64]) -> Node {
        let slots = cores.iter().map(|cores| Resources {
            cpu_cores: *cores,
            ..Resources::ZERO
        });
        let demand = Demand::series(SLOT_MS, &slots.collect::<Vec<_>>()).unwrap();
        let mut node = Node::new(Resources::from_array([4.0; 4]));
        node.insert(ExecutorId(1), Running::new(0, demand));
        node
    }

    /// The first slot of what runs has passed.
    fn first_fit(taken: &[f64], needed: &[f64]) -> usize {
        let node = running(taken);
        let mut outlook = Outlook::new(&node, Resources::ZERO, i64::from(SLOT_MS));
        let (needed, end) = (cpu(needed), outlook.end());
        outlook.first_fit(&Held::to(&needed, &Resource::ALL), end)
    }

    /// Every start tried, with a look at every slot.
    fn first_fit_slowly(taken: &[f64], needed: &[f64]) -> usize {
        let ahead = &taken[1..];
        let last = taken[taken.len() - 1];
        let fits = |start: usize| {
            needed.iter().enumerate().all(|(slot, needed)| {
                let taken = ahead.get(start + slot).copied();
                let taken = if slot == 0 {
                    taken.or(Some(last))
                } else {
                    taken
                };
                taken.is_none_or(|taken| taken == 0.0 || needed + taken <= 4.0)
            })
        };
        (0..=ahead.len())
            .find(|start| fits(*start))
            .unwrap_or(ahead.len() + 1)
    }

    proptest! {
        #[test]
        fn a_look_at_blocks_first_finds_what_a_look_at_every_slot_finds(
            taken in prop::collection::vec((0_u8..5, 1_usize..40), 1..12),
            needed in prop::collection::vec((0_u8..5, 1_usize..40), 1..8),
        ) {
            let cores = |runs: &[(u8, usize)]| -> Vec<f64> {
                let runs = runs.iter();
                runs.flat_map(|(cores, slots)| vec![f64::from(*cores); *slots]).collect()
            };
            let (taken, needed) = (cores(&taken), cores(&needed));
            prop_assert_eq!(first_fit(&taken, &needed), first_fit_slowly(&taken, &needed));
        }
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
