//! Fit: whether an executor's needs stay within the available resources of a node over its life.
//!
//! `demand(i, t) · (1 + margin) ≤ available(j, t)` for every resource and every t of the life of
//! executor i on node j (Elasecutor, section III-B). [`Peaks`] say by how much a demand may exceed
//! what is available, and [`Fit`] compares.

use std::fmt;

use crate::amounts::Amounts;
use crate::left_sums::LeftSums;
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
    /// cut by that little ends a little later. Memory, and a demand without an end, may not.
    Soft,
}

/// Allowed excess under [`Peaks::Soft`], in tenths of the capacity: none for memory, and most for the network,
/// since sharing it costs least. `docs/measurements/house-policy.md` compares other values.
const SOFT_TENTHS: [i64; 4] = [2, 0, 6, 2];

impl Peaks {
    /// The rule for a demand with or without an end.
    pub(crate) fn for_demand(self, has_end: bool) -> Self {
        if has_end { self } else { Peaks::Strict }
    }

    /// The amount by which a demand with an end may exceed the available resources of a node of this capacity.
    pub(crate) fn allowed_excess_of(self, capacity: Amounts) -> Amounts {
        match self {
            Peaks::Soft => capacity.tenths(SOFT_TENTHS),
            Peaks::Strict => Amounts::ZERO,
        }
    }

    /// Allowed excess in a slot: the tolerance, and the soft part.
    pub(crate) fn allowed(self, left: &LeftSums) -> Amounts {
        left.tolerance().plus(self.allowed_excess_of(left.capacity()))
    }
}

/// The first resource of which more is needed than available.
#[inline]
pub(crate) fn first_lacking(
    needed: impl Fn(Resource) -> i64,
    available: Amounts,
) -> Option<Resource> {
    Resource::ALL.into_iter().find(|resource| needed(*resource) > available.get(*resource))
}

/// Compares one executor's needs with the resources left on a node, for one start slot.
#[derive(Clone, Copy)]
pub(crate) struct Fit<'a> {
    pub(crate) left: &'a LeftSums,
    /// The rule for this executor's demand ([`Peaks::for_demand`]).
    pub(crate) peaks: Peaks,
    /// Start slot, from now.
    pub(crate) start: usize,
}

impl<'a> Fit<'a> {
    /// For an executor that starts now.
    #[inline]
    pub(crate) fn now(left: &'a LeftSums, peaks: Peaks) -> Self {
        Self { left, peaks, start: 0 }
    }

    /// The first resource that lacks in a slot of the executor's life; `needed` returns the need,
    /// and `allowed` is that of [`Peaks::allowed`].
    pub(crate) fn shortage_in(
        &self,
        slot: usize,
        allowed: Amounts,
        needed: impl Fn(usize, Resource) -> i64,
    ) -> Option<Resource> {
        let left = self.left.slot(self.start.saturating_add(slot));
        first_lacking(|resource| needed(slot, resource), left.plus(allowed))
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
        let allowed = self.peaks.allowed(self.left);
        let mut windows = (0..WINDOWS).filter(|window| is_open_window(*window));
        windows.find_map(|window| {
            let (from, to) = window_slots(window);
            (from..to.min(end))
                .find_map(|slot| Some((slot, self.shortage_in(slot, allowed, &needed)?)))
        })
    }
}
