//! Fit: whether an executor's needs stay within the available resources of a node over its life.
//!
//! `demand(i, t) · (1 + margin) ≤ available(j, t)` for every resource and every t of the life of
//! executor i on node j (Elasecutor, section III-B). [`Terms`] say which resources are compared in
//! every slot and which in total over the life, and [`Fit`] compares.

use std::fmt;

use crate::amounts::Amounts;
use crate::left_ahead::LeftAhead;
use crate::resources::Resource;
use crate::windows::{WINDOWS, window_slots};

/// A demand that exceeds the available resources by this fraction of the capacity still fits, since
/// sums of many steps carry rounding errors.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// The first excess of a demand over the available resources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Excess {
    /// Which resource.
    pub resource: Resource,
    /// The excess, in the resource's unit.
    pub amount: f64,
    /// Start of the excess, in milliseconds from now.
    pub from_ms: i64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource.name();
        let seconds = self.from_ms as f64 / 1e3;
        write!(f, "{resource} demand exceeds what is available by ")?;
        match self.resource {
            Resource::Cpu => write!(f, "{:.2} cores", self.amount)?,
            Resource::Memory => write!(f, "{:.1} MiB", self.amount / f64::from(1 << 20))?,
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
    /// They may not: every resource has to fit in every slot.
    #[default]
    Strict,
    /// They may exceed the available resources by a part of the capacity ([`Peaks::allowed_excess_of`]): a peak
    /// cut by that little ends a little later. Memory has to fit in every slot.
    ///
    /// CPU of an executor that peaks above half of the node's is compared in total over its life.
    /// Otherwise no two such executors would fit, although they mostly need little. Shared cores
    /// lose no throughput, unlike a shared disk or network.
    ///
    /// A demand without an end is compared in every slot, without excess.
    Soft,
}

/// Allowed excess under [`Peaks::Soft`], in tenths of the capacity: none for memory, and most for the network,
/// since sharing it costs least. `docs/measurements/house-policy.md` compares other values.
const SOFT_TENTHS: [i64; 4] = [2, 0, 6, 2];

/// An executor that peaks above 1 ÷ 2 of a node's CPU is large on that node.
const LARGE_PART: i64 = 2;

/// Which resources of an executor are compared in every slot, and which in total.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// Compared in every slot of the executor's life.
    pub(crate) in_every_slot: &'static [Resource],
    /// Compared in total over the executor's life.
    pub(crate) in_total: &'static [Resource],
    /// Whether CPU, network and disk may exceed the available resources.
    peaks: Peaks,
}

impl Peaks {
    /// The amount by which a demand with an end may exceed the available resources of a node of this capacity.
    pub(crate) fn allowed_excess_of(self, capacity: Amounts) -> Amounts {
        match self {
            Peaks::Soft => capacity.tenths(SOFT_TENTHS),
            Peaks::Strict => Amounts::ZERO,
        }
    }

    /// The terms of an executor. An executor without an end is not predicted and has no total, so
    /// every resource is compared in every slot.
    pub(crate) fn terms(self, has_end: bool, large_in_cpu: bool) -> Terms {
        const OTHERS: [Resource; 3] = [Resource::Memory, Resource::Network, Resource::Disk];
        let peaks = if has_end { self } else { Peaks::Strict };
        let (in_every_slot, in_total): (&[Resource], &[Resource]) = match peaks {
            Peaks::Soft if large_in_cpu => (&OTHERS, &[Resource::Cpu]),
            _ => (&Resource::ALL, &[]),
        };
        Terms { in_every_slot, in_total, peaks }
    }
}

/// Whether an executor that needs this much CPU in a slot is large on a node of this capacity.
pub(crate) fn is_large(cores: i64, capacity: i64) -> bool {
    cores.saturating_mul(LARGE_PART) > capacity
}

impl Terms {
    /// Allowed excess in a slot: the tolerance, and the soft part.
    pub(crate) fn allowed(&self, left: &impl LeftAhead) -> Amounts {
        left.tolerance().plus(self.peaks.allowed_excess_of(left.capacity()))
    }

    /// Whether the need of a slot exceeds `available`.
    pub(crate) fn lacks(&self, needed: Amounts, available: Amounts) -> bool {
        let needed = |resource| needed.get(resource);
        first_lacking(self.in_every_slot, needed, available).is_some()
    }

    /// The first resource compared in total whose need exceeds `available`.
    pub(crate) fn lacking_in_total(&self, needed: Amounts, available: Amounts) -> Option<Resource> {
        first_lacking(self.in_total, |resource| needed.get(resource), available)
    }
}

/// The first of `resources` whose need exceeds `available`.
fn first_lacking(
    resources: &[Resource],
    needed: impl Fn(Resource) -> i64,
    available: Amounts,
) -> Option<Resource> {
    let lacks = |resource: &Resource| needed(*resource) > available.get(*resource);
    resources.iter().copied().find(lacks)
}

/// Compares one executor's needs with the resources left on a node, for one start slot.
#[derive(Clone, Copy)]
pub(crate) struct Fit<'a, L> {
    pub(crate) left: &'a L,
    pub(crate) terms: Terms,
    /// Start slot, from now.
    pub(crate) start: usize,
}

impl<'a, L: LeftAhead> Fit<'a, L> {
    /// For an executor that starts now.
    #[inline]
    pub(crate) fn now(left: &'a L, terms: Terms) -> Self {
        Self { left, terms, start: 0 }
    }

    /// The first resource that lacks in a slot of the executor's life; `needed` returns the need,
    /// and `allowed` is that of [`Terms::allowed`].
    pub(crate) fn shortage_in(
        &self,
        slot: usize,
        allowed: Amounts,
        needed: impl Fn(usize, Resource) -> i64,
    ) -> Option<Resource> {
        let left = self.left.slot(self.start.saturating_add(slot));
        let needed = |resource| needed(slot, resource);
        first_lacking(self.terms.in_every_slot, needed, left.plus(allowed))
    }

    /// The first shortage in the executor's life: its slot and resource. `life` is in slots; none
    /// without an end. Compares only the windows for which `is_open_window` is true.
    pub(crate) fn first_shortage(
        &self,
        life: Option<usize>,
        needed: impl Fn(usize, Resource) -> i64,
        is_open_window: impl Fn(usize) -> bool,
    ) -> Option<(usize, Resource)> {
        // The first slot past the last change stands for all later slots.
        let last = self.left.slots_ahead().saturating_sub(self.start);
        let end = life.unwrap_or(last.saturating_add(1));
        let allowed = self.terms.allowed(self.left);
        let mut windows = (0..WINDOWS).filter(|window| is_open_window(*window));
        windows.find_map(|window| {
            let (from, to) = window_slots(window);
            (from..to.min(end))
                .find_map(|slot| Some((slot, self.shortage_in(slot, allowed, &needed)?)))
        })
    }

    /// The first resource whose total need over `life` slots exceeds the amount left.
    pub(crate) fn shortage_in_total(&self, life: usize, needed: Amounts) -> Option<Resource> {
        if self.terms.in_total.is_empty() {
            return None;
        }
        let available = self.available_in_total(life);
        self.terms.lacking_in_total(needed, available)
    }

    /// The total left over `life` slots, tolerance included.
    fn available_in_total(&self, life: usize) -> Amounts {
        let to = self.left.sum(self.start.saturating_add(life));
        let tolerance = self.left.tolerance().times(life as i64);
        to.minus(self.left.sum(self.start)).plus(tolerance)
    }
}
