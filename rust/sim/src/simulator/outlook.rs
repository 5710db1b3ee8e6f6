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

/// What the predictions of a node's executors leave, slot by slot from now on. Slots are computed when
/// they are asked for.
pub(super) struct Outlook<'a> {
    running: Vec<Course<'a>>,
    capacity: Amounts,
    /// What is left where nothing is taken, with what a demand may pass it by.
    free: Amounts,
    /// The same of CPU, without that.
    free_cores: f64,
    /// The last predicted end, in slots from now.
    last_end: usize,
    computed: &'a mut Computed,
}

/// What was computed of one outlook. Its room is used again for the next one: a long outlook is some
/// hundred kilobytes.
#[derive(Default)]
pub(super) struct Computed {
    /// What is left in each of the first slots; endless where nothing is taken, since demands are
    /// capped at the capacity.
    left: Series,
    /// The same in each slot when it is the current one: executors that outlived their prediction keep
    /// their last value then, until they end.
    left_when_current: Series,
    /// CPU that is left in the first n slots together.
    cores: Vec<f64>,
    /// By how much less of it is left in a slot when that is the current one.
    overdue_cores: Vec<f64>,
}

impl Computed {
    fn clear(&mut self) {
        self.left.clear();
        self.left_when_current.clear();
        self.cores.clear();
        self.cores.push(0.0);
        self.overdue_cores.clear();
    }
}

/// An amount a slot, and the most in each block of slots.
#[derive(Default)]
struct Series {
    slots: Vec<Amounts>,
    blocks: Vec<Amounts>,
}

impl Series {
    fn clear(&mut self) {
        self.slots.clear();
        self.blocks.clear();
    }

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

/// What an executor is held to on nodes of one size.
pub(super) struct Held<'a> {
    slots: &'a [Amounts],
    blocks: &'a [Amounts],
    /// 0 for the resources that count in every slot, and so little for the others that they always
    /// fit.
    counts: Amounts,
    /// The CPU that it needs in total over its life; none where that counts in every slot.
    total_cores: Option<f64>,
}

impl<'a> Held<'a> {
    /// To `resources` in every slot on nodes of this capacity, and to the total of CPU where that is
    /// none of them.
    pub(super) fn to(needed: &'a Needed, resources: &[Resource], capacity: Resources) -> Self {
        let mut counts = [f64::NEG_INFINITY; 4];
        for resource in resources {
            counts[*resource as usize] = 0.0;
        }
        let in_total = !resources.contains(&Resource::Cpu);
        Self {
            slots: &needed.slots,
            blocks: &needed.blocks,
            counts,
            total_cores: in_total.then(|| needed.cores_in_total(capacity.cpu_cores)),
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
    /// A demand may pass what is left in a slot by `may_pass`.
    pub(super) fn new(
        node: &'a Node,
        may_pass: Resources,
        computed: &'a mut Computed,
        now_ms: i64,
    ) -> Self {
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
        let free = node.capacity * (1.0 + TOLERANCE);
        computed.clear();
        Self {
            last_end: ends.max().unwrap_or(0),
            running,
            capacity: node.capacity.to_array(),
            free: (free + may_pass).to_array(),
            free_cores: free.cpu_cores,
            computed,
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
            if self.lacks_in_total(held, start) {
                start += 1;
                continue;
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
        let most_at_first = self.computed.left_when_current.blocks[start];
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
            let left = larger(
                &self.computed.left.blocks[at],
                &self.computed.left.blocks[at + 1],
            );
            held.exceeds(&held.blocks[*block], &left)
        };
        let mut near = [before, before.saturating_sub(1)].into_iter();
        near.find(|block| *block < count && conflicts(block))
            .or_else(|| (0..count).find(&mut conflicts))
    }

    /// Whether it needs more CPU over its life than is left meanwhile if it starts so many slots from
    /// now.
    fn lacks_in_total(&mut self, held: &Held<'_>, start: usize) -> bool {
        let Some(needed) = held.total_cores else {
            return false;
        };
        self.compute(start);
        let cores = self.cores_before(start + held.slots.len()) - self.cores_before(start);
        needed > cores - self.computed.overdue_cores[start]
    }

    /// CPU that is left before a slot. Past the last predicted end nothing is taken.
    fn cores_before(&mut self, slot: usize) -> f64 {
        let known = slot.min(self.last_end);
        self.compute(known);
        self.computed.cores[known] + (slot - known) as f64 * self.free_cores
    }

    /// The first slot of the executor in which it does not fit, and a resource that lacks there.
    fn conflict(&mut self, held: &Held<'_>, start: usize) -> Option<(usize, usize)> {
        self.compute(start);
        if let Some(at) = held.lacks(0, &self.computed.left_when_current.slots[start]) {
            return Some((at, 0));
        }
        let slots = held.slots.len().min(self.last_end.saturating_sub(start));
        let mut from = 1;
        while from < slots {
            self.compute(start + from);
            let to = slots.min(self.computed.left.slots.len() - start);
            let left = &self.computed.left.slots[start..start + to];
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
            &self.computed.left_when_current
        } else {
            &self.computed.left
        };
        held.lacks_one(at, slot, &left.slots[start + slot])
    }

    /// From how many slots on nothing changes any more but by what happens.
    pub(super) fn end(&self) -> usize {
        self.last_end + 1
    }

    /// Computes what is left up to a slot, if it is not known.
    fn compute(&mut self, slot: usize) {
        while self.computed.left.slots.len() <= slot {
            for _ in 0..BLOCKS_AT_ONCE {
                self.compute_block();
            }
        }
    }

    fn compute_block(&mut self) {
        let from = self.computed.left.slots.len();
        let mut left = [self.free; SLOTS_OF_A_BLOCK];
        let mut overdue = [[0.0; 4]; SLOTS_OF_A_BLOCK];
        for course in &self.running {
            let slots = course.slots.get(from..).unwrap_or_default();
            for (left, amounts) in left.iter_mut().zip(slots) {
                take(left, amounts.to_array());
            }
            for overdue in overdue.iter_mut().skip(slots.len()) {
                add(overdue, course.last.to_array());
            }
        }
        let may_pass = self.free[0] - self.free_cores;
        for (left, overdue) in left.iter().zip(&overdue) {
            let before = self.computed.cores.last().copied().unwrap_or_default();
            self.computed.cores.push(before + left[0] - may_pass);
            self.computed.overdue_cores.push(overdue[0]);
        }
        let mut when_current = left;
        for (left, overdue) in when_current.iter_mut().zip(overdue) {
            take(left, overdue);
        }
        let left = left.map(|left| self.endless(left));
        let when_current = when_current.map(|left| self.endless(left));
        self.computed.left.push_block(left);
        self.computed.left_when_current.push_block(when_current);
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

fn take(left: &mut Amounts, amounts: Amounts) {
    for (left, amount) in left.iter_mut().zip(amounts) {
        *left -= amount;
    }
}

fn add(sum: &mut Amounts, amounts: Amounts) {
    for (sum, amount) in sum.iter_mut().zip(amounts) {
        *sum += amount;
    }
}

#[cfg(test)]
mod tests;
