//! What an executor would need of a node, and whether and how well that fits, in fixed point.
//!
//! The same as [`crate::fit`] and [`crate::delay`] say of [`crate::Available`], on the grid of slots.

use crate::SLOT_MS;
use crate::amounts::Amounts;
use crate::demand::{Demand, DemandError};
use crate::fit::{Excess, LARGE_PART, Peaks, Terms};
use crate::left::Left;
use crate::resources::{Resource, Resources};
use crate::windows::{WINDOWS, WindowSet, window_slots};

/// The demand of one executor on nodes of one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need<'a> {
    course: Course<'a>,
    /// One and the margin.
    factor: f64,
    capacity: Resources,
}

#[derive(Debug, Clone, Copy)]
enum Course<'a> {
    Predicted(&'a [Resources]),
    ForLife(Resources),
}

/// Which series an executor needs, and with which margin: the same for all needs of one node that are
/// alike while both exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Series {
    slots: *const Resources,
    factor: u64,
}

impl<'a> Need<'a> {
    /// What was predicted, in slots of [`SLOT_MS`], on a node of this capacity.
    pub(crate) fn predicted(demand: &'a Demand, margin: f64, capacity: Resources) -> Self {
        let course = match (demand.duration_ms(), demand.slots()) {
            (None, [.., last]) => Course::ForLife(*last),
            (_, slots) => Course::Predicted(slots),
        };
        Self {
            course,
            factor: 1.0 + margin,
            capacity,
        }
    }

    /// A request, for life.
    ///
    /// # Errors
    /// An amount that is not finite and at least 0.
    pub(crate) fn for_life(request: Resources, capacity: Resources) -> Result<Self, DemandError> {
        if let Some((resource, amount)) = request.capped(capacity).first_invalid() {
            return Err(DemandError::Amount {
                slot: 0,
                resource,
                amount,
            });
        }
        Ok(Self {
            course: Course::ForLife(request),
            factor: 1.0,
            capacity,
        })
    }

    /// Which series it is; none of its own where it has no end.
    pub(crate) fn series(&self) -> Series {
        let slots = match self.course {
            Course::Predicted(slots) => slots.as_ptr(),
            Course::ForLife(_) => std::ptr::null(),
        };
        Series {
            slots,
            factor: self.factor.to_bits(),
        }
    }

    /// From start to predicted end, in slots; none without one.
    pub(crate) fn life(&self) -> Option<usize> {
        match self.course {
            Course::Predicted(slots) => Some(slots.len()),
            Course::ForLife(_) => None,
        }
    }

    fn at(&self, slot: usize) -> Resources {
        match self.course {
            Course::Predicted(slots) => slots.get(slot).copied().unwrap_or_default(),
            Course::ForLife(amounts) => amounts,
        }
    }

    /// In a slot from its start, with the margin.
    pub(crate) fn needed(&self, slot: usize) -> Amounts {
        Amounts::rounded_down((self.at(slot) * self.factor).capped(self.capacity))
    }

    fn needed_of(&self, slot: usize, resource: Resource) -> i64 {
        let needed = self.at(slot).get(resource) * self.factor;
        Amounts::one(resource, needed.min(self.capacity.get(resource)))
    }

    /// In a slot from its start, without the margin.
    pub(crate) fn demanded(&self, slot: usize) -> Amounts {
        Amounts::rounded_down(self.at(slot).capped(self.capacity))
    }

    /// In the slots from `from` to before `to` together, without the margin.
    pub(crate) fn demanded_in(&self, from: usize, to: usize) -> Amounts {
        if let Course::ForLife(_) = self.course {
            let slots = i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX);
            return self.demanded(from).times(slots);
        }
        (from..to).fold(Amounts::ZERO, |sum, slot| sum.plus(self.demanded(slot)))
    }

    /// Whether it fits what is left, as [`crate::fit::fit_by`] has it.
    ///
    /// # Errors
    /// Where and by how much it does not.
    pub(crate) fn fit(&self, left: &Left, peaks: Peaks) -> Result<(), Excess> {
        let terms = self.terms(peaks);
        if let Some(short) = self.first_short(left, terms, |_| true) {
            return Err(self.excess_in(left, short));
        }
        match self.life() {
            Some(life) if !terms.in_total.is_empty() => {
                self.fit_in_total(left, life, terms.in_total)
            }
            _ => Ok(()),
        }
    }

    /// What it is held to.
    pub(crate) fn terms(&self, peaks: Peaks) -> Terms {
        let large = |slots: &[Resources]| {
            let is_large = |slot| {
                let needed = self.needed_of(slot, Resource::Cpu);
                let capacity = Amounts::one(Resource::Cpu, self.capacity.cpu_cores);
                needed.saturating_mul(LARGE_PART) > capacity
            };
            peaks == Peaks::Soft && (0..slots.len()).any(is_large)
        };
        match self.course {
            Course::Predicted(slots) => peaks.terms(true, large(slots)),
            Course::ForLife(_) => peaks.terms(false, false),
        }
    }

    fn fit_in_total(&self, left: &Left, life: usize, resources: &[Resource]) -> Result<(), Excess> {
        let needed = (0..life).fold(Amounts::ZERO, |sum, slot| sum.plus(self.needed(slot)));
        let Some(resource) = short_in_total(left, needed, life, resources) else {
            return Ok(());
        };
        let missing = needed.minus(left.sum(life));
        Err(Excess {
            resource,
            amount: missing.in_units(resource) / life as f64,
            from_ms: 0,
        })
    }

    /// The first slot in which something does not fit that has to in every slot, and the first
    /// resource there. Looks into those windows only that `look_into` says.
    pub(crate) fn first_short(
        &self,
        left: &Left,
        terms: Terms,
        look_into: impl Fn(usize) -> bool,
    ) -> Option<(usize, Resource)> {
        // A slot past the last change stands for all that follow.
        let end = self.life().unwrap_or(left.slots_ahead().saturating_add(1));
        let allowed = left.allowed(terms.soft);
        (0..WINDOWS)
            .filter(|window| look_into(*window))
            .find_map(|window| {
                let (from, to) = window_slots(window);
                (from..to.min(end)).find_map(|slot| {
                    let there = left.slot(slot).plus(allowed);
                    let short = |resource: &&Resource| {
                        self.needed_of(slot, **resource) > there.get(**resource)
                    };
                    terms
                        .in_every_slot
                        .iter()
                        .find(short)
                        .map(|resource| (slot, *resource))
                })
            })
    }

    fn excess_in(&self, left: &Left, (slot, resource): (usize, Resource)) -> Excess {
        let missing = self.needed(slot).minus(left.slot(slot));
        Excess {
            resource,
            amount: missing.in_units(resource),
            from_ms: i64::try_from(slot)
                .unwrap_or(i64::MAX)
                .saturating_mul(i64::from(SLOT_MS)),
        }
    }

    /// How much later its work is done than without the others, in milliseconds, as
    /// [`crate::delay::delay_ms`] has it. Looks into `windows` only.
    pub(crate) fn delay_ms(&self, left: &Left, windows: WindowSet) -> i64 {
        let Some(life) = self.life() else {
            return 0;
        };
        let mut late = Amounts::ZERO;
        for window in windows.iter() {
            let (from, to) = window_slots(window);
            for slot in from..to.min(life) {
                let (demand, there) = (self.demanded(slot), left.slot(slot));
                late = late.plus(demand.minus(there).min(demand).max(Amounts::ZERO));
            }
        }
        late_ms(left, late)
    }
}

/// The first of `resources` of which a life of so many slots needs more in total than is left.
pub(crate) fn short_in_total(
    left: &Left,
    needed: Amounts,
    life: usize,
    resources: &[Resource],
) -> Option<Resource> {
    let (there, tolerance) = (left.sum(life), left.tolerance());
    resources.iter().copied().find(|resource| {
        // No sum of a day is above 61 bits, and its tolerance has 32, so that nothing wraps.
        let tolerance = tolerance.get(*resource).wrapping_mul(life as i64);
        needed.get(*resource) > there.get(*resource).wrapping_add(tolerance)
    })
}

/// How long a node of this size takes for work of which so much of CPU, network and disk is late.
pub(crate) fn late_ms(left: &Left, late: Amounts) -> i64 {
    let late_ms = |resource: &Resource| {
        let late = i128::from(late.get(*resource)) * i128::from(SLOT_MS);
        late.checked_div(i128::from(left.capacity().get(*resource)))
    };
    let longest = Resource::FLOWS
        .iter()
        .filter_map(late_ms)
        .max()
        .unwrap_or(0);
    i64::try_from(longest).unwrap_or(i64::MAX)
}
