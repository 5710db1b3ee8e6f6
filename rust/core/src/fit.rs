//! Fit: whether what an executor needs stays within what a node has left, for all of its life.
//!
//! `demand(i, t) · (1 + margin) ≤ available(j, t)` for every resource and every t of the life of executor i
//! on node j (Elasecutor, section III-B). [`Terms`] say which resources are held to every slot and which to
//! the total over the life, and [`Fit`] compares.

use std::fmt;

use crate::amounts::Amounts;
use crate::left::Left;
use crate::resources::{Resource, Resources};
use crate::windows::{WINDOWS, window_slots};

/// Sums of many steps carry rounding errors; a demand within this fraction of the capacity fits.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// Where a demand first passes what is available.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Excess {
    /// Which resource.
    pub resource: Resource,
    /// By how much, in the resource's unit.
    pub amount: f64,
    /// From when on, in milliseconds from now.
    pub from_ms: i64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource.name();
        let seconds = self.from_ms as f64 / 1e3;
        write!(f, "{resource} demand exceeds what is available by ")?;
        match self.resource {
            Resource::Cpu => write!(f, "{:.2} cores", self.amount)?,
            Resource::Memory => write!(f, "{:.1} MB", self.amount / 1e6)?,
            Resource::Network | Resource::Disk => write!(f, "{:.1} MB/s", self.amount / 1e6)?,
        }
        if self.from_ms > 0 {
            write!(f, " from {seconds} s on")?;
        }
        Ok(())
    }
}

/// Whether peaks in CPU, network or disk may coincide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Peaks {
    /// They may not: every resource fits in every slot.
    #[default]
    Strict,
    /// They may exceed what is left by a part of the node ([`Peaks::may_pass`]); a peak that is cut by that
    /// little ends a little later. Memory fits in every slot.
    ///
    /// CPU of an executor that peaks above half of the node's is compared in total over its life: otherwise no
    /// two such executors would fit, although they mostly need little. Shared cores lose no throughput, unlike
    /// a shared disk or network.
    ///
    /// A demand without an end is compared in every slot, and may not exceed what is left.
    Soft,
}

/// By how many tenths of its capacity each resource may exceed what is left under [`Peaks::Soft`]: memory by
/// none, and the network by most, since sharing it costs least. `docs/measurements/house-policy.md` compares other values.
const SOFT_TENTHS: [i64; 4] = [2, 0, 6, 2];

/// An executor that peaks above this fraction (1 ÷ 2) of a node's CPU is large there.
const LARGE_PART: i64 = 2;

/// Which resources of an executor are compared in every slot, and which in total.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// In every slot of its life.
    pub(crate) in_every_slot: &'static [Resource],
    /// In total over its life.
    pub(crate) in_total: &'static [Resource],
    /// Whether CPU, network and disk may pass what is left by [`SOFT_TENTHS`].
    soft: bool,
}

impl Peaks {
    /// By how much a demand with an end may pass what is left on a node of this capacity.
    #[must_use]
    pub fn may_pass(self, capacity: Resources) -> Resources {
        match self {
            Peaks::Soft => {
                let parts = SOFT_TENTHS.map(|tenths| tenths as f64 / 10.0);
                capacity.zip(Resources::from_array(parts), |capacity, part| {
                    capacity * part
                })
            }
            Peaks::Strict => Resources::ZERO,
        }
    }

    /// The same in fixed point.
    pub(crate) fn may_pass_of(self, capacity: Amounts) -> Amounts {
        match self {
            Peaks::Soft => capacity.tenths(SOFT_TENTHS),
            Peaks::Strict => Amounts::ZERO,
        }
    }

    /// What an executor that takes this much CPU at most is held to in every slot of its life on a node of
    /// this capacity.
    #[must_use]
    pub fn in_every_slot(self, most_cores: f64, capacity: Resources) -> &'static [Resource] {
        let is_large = most_cores * LARGE_PART as f64 > capacity.cpu_cores;
        self.terms(true, is_large).in_every_slot
    }

    /// Of an executor with an end, that may be large in CPU on the node; what does not end has no total and
    /// is not predicted, and is held to every slot.
    pub(crate) fn terms(self, has_end: bool, large_in_cpu: bool) -> Terms {
        const OTHERS: [Resource; 3] = [Resource::Memory, Resource::Network, Resource::Disk];
        let soft = self == Peaks::Soft && has_end;
        let (in_every_slot, in_total): (&[Resource], &[Resource]) = if soft && large_in_cpu {
            (&OTHERS, &[Resource::Cpu])
        } else {
            (&Resource::ALL, &[])
        };
        Terms {
            in_every_slot,
            in_total,
            soft,
        }
    }
}

/// Whether an executor that takes this much CPU in a slot is large on a node of this capacity.
pub(crate) fn is_large(cores: i64, capacity: i64) -> bool {
    cores.saturating_mul(LARGE_PART) > capacity
}

impl Terms {
    /// Whether CPU is held to the total although the executor has peaks that may meet others.
    pub(crate) fn hold_cpu_to_total(&self) -> bool {
        self.in_total.contains(&Resource::Cpu)
    }

    /// By how much needs may pass what is left of a node in a slot: rounding, and what is soft.
    pub(crate) fn allowed(&self, left: &Left) -> Amounts {
        let peaks = if self.soft {
            Peaks::Soft
        } else {
            Peaks::Strict
        };
        left.tolerance().plus(peaks.may_pass_of(left.capacity()))
    }

    /// Whether in one slot more of a resource is needed than there is.
    pub(crate) fn lacks(&self, needed: Amounts, there: Amounts) -> bool {
        first_lacking(self.in_every_slot, |resource| needed.get(resource), there).is_some()
    }

    /// Whether in total more of a resource is needed than there is.
    pub(crate) fn lacks_in_total(&self, needed: Amounts, there: Amounts) -> bool {
        first_lacking(self.in_total, |resource| needed.get(resource), there).is_some()
    }
}

/// The first of `resources` of which more is needed than there is.
fn first_lacking(
    resources: &[Resource],
    needed: impl Fn(Resource) -> i64,
    there: Amounts,
) -> Option<Resource> {
    let lacks = |resource: &Resource| needed(*resource) > there.get(*resource);
    resources.iter().copied().find(lacks)
}

/// The comparison of one executor's needs with what is left of a node from a slot on.
#[derive(Clone, Copy)]
pub(crate) struct Fit<'a> {
    pub(crate) left: &'a Left,
    pub(crate) terms: Terms,
    /// In slots from now.
    pub(crate) start: usize,
}

impl<'a> Fit<'a> {
    /// Of an executor that would start now.
    #[inline]
    pub(crate) fn now(left: &'a Left, terms: Terms) -> Self {
        Self {
            left,
            terms,
            start: 0,
        }
    }

    /// The first resource that lacks in a slot of its life; `needed` says what it needs there.
    pub(crate) fn short_in(
        &self,
        slot: usize,
        needed: impl Fn(usize, Resource) -> i64,
    ) -> Option<Resource> {
        self.short_with(self.terms.allowed(self.left), slot, needed)
    }

    fn short_with(
        &self,
        allowed: Amounts,
        slot: usize,
        needed: impl Fn(usize, Resource) -> i64,
    ) -> Option<Resource> {
        let there = self
            .left
            .slot(self.start.saturating_add(slot))
            .plus(allowed);
        let needed = |resource| needed(slot, resource);
        first_lacking(self.terms.in_every_slot, needed, there)
    }

    /// The first slot of its life in which something lacks, and the first resource there. `life` is in
    /// slots, none without an end. Looks into those windows only that `look_into` says.
    pub(crate) fn first_short(
        &self,
        life: Option<usize>,
        needed: impl Fn(usize, Resource) -> i64,
        look_into: impl Fn(usize) -> bool,
    ) -> Option<(usize, Resource)> {
        // A slot past the last change stands for all that follow.
        let last = self.left.slots_ahead().saturating_sub(self.start);
        let end = life.unwrap_or(last.saturating_add(1));
        let allowed = self.terms.allowed(self.left);
        let mut windows = (0..WINDOWS).filter(|window| look_into(*window));
        windows.find_map(|window| {
            let (from, to) = window_slots(window);
            (from..to.min(end))
                .find_map(|slot| Some((slot, self.short_with(allowed, slot, &needed)?)))
        })
    }

    /// The first resource of which a life of `life` slots needs more in total than is left.
    pub(crate) fn short_in_total(&self, life: usize, needed: Amounts) -> Option<Resource> {
        if self.terms.in_total.is_empty() {
            return None;
        }
        let there = self.there_in_total(life);
        first_lacking(self.terms.in_total, |resource| needed.get(resource), there)
    }

    /// What is left in total over a life of `life` slots, tolerance included.
    pub(crate) fn there_in_total(&self, life: usize) -> Amounts {
        let to = self.left.sum(self.start.saturating_add(life));
        let tolerance = self.left.tolerance().times(life as i64);
        to.minus(self.left.sum(self.start)).plus(tolerance)
    }
}
