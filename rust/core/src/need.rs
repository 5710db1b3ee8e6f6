//! An executor's needs on a node, in fixed point on the grid of slots.

use crate::amounts::Amounts;
use crate::demand::Demand;
use crate::fit::{Excess, Fit, Peaks, Terms, is_large};
use crate::left::Left;
use crate::left_ahead::LeftAhead;
use crate::resources::{Resource, Resources};
use crate::slot_start_ms;

/// The needs of one executor on nodes of one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need<'a> {
    slots: NeedSlots<'a>,
    /// One and the margin.
    factor: f64,
    /// Upper bound of needs and demands.
    cap: Resources,
}

#[derive(Debug, Clone, Copy)]
enum NeedSlots<'a> {
    Predicted(&'a [Resources]),
    ForLife(Resources),
}

/// Identifies a series and its margin. Equal ids on one node mean equal needs while both needs exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Series {
    slots: *const Resources,
    factor: u64,
}

impl<'a> Need<'a> {
    /// The needs of a prediction, at most `cap`.
    pub(crate) fn predicted(demand: &'a Demand, margin: f64, cap: Resources) -> Self {
        let slots = match (demand.duration_ms(), demand.slots()) {
            (None, [.., last]) => NeedSlots::ForLife(*last),
            (_, slots) => NeedSlots::Predicted(slots),
        };
        Self { slots, factor: 1.0 + margin, cap }
    }

    /// The needs of a request, for life, at most `cap`.
    pub(crate) fn for_life(request: Resources, cap: Resources) -> Self {
        Self { slots: NeedSlots::ForLife(request), factor: 1.0, cap }
    }

    /// The id of the series; demands without an end share one id.
    pub(crate) fn series(&self) -> Series {
        let slots = match self.slots {
            NeedSlots::Predicted(slots) => slots.as_ptr(),
            NeedSlots::ForLife(_) => std::ptr::null(),
        };
        Series { slots, factor: self.factor.to_bits() }
    }

    /// Slots from start to predicted end; none without an end.
    pub(crate) fn life(&self) -> Option<usize> {
        match self.slots {
            NeedSlots::Predicted(slots) => Some(slots.len()),
            NeedSlots::ForLife(_) => None,
        }
    }

    fn at(&self, slot: usize) -> Resources {
        match self.slots {
            NeedSlots::Predicted(slots) => slots.get(slot).copied().unwrap_or_default(),
            NeedSlots::ForLife(amounts) => amounts,
        }
    }

    /// Need in a slot from the start, with the margin.
    pub(crate) fn needed(&self, slot: usize) -> Amounts {
        Amounts::rounded_down((self.at(slot) * self.factor).capped(self.cap))
    }

    fn needed_of(&self, slot: usize, resource: Resource) -> i64 {
        let needed = self.at(slot).get(resource) * self.factor;
        Amounts::rounded_down_of(resource, needed.min(self.cap.get(resource)))
    }

    /// Demand in a slot from the start, without the margin.
    pub(crate) fn demanded(&self, slot: usize) -> Amounts {
        Amounts::rounded_down(self.at(slot).capped(self.cap))
    }

    /// Sum of the demand in the slots from `from` to before `to`, without the margin.
    pub(crate) fn demanded_in(&self, from: usize, to: usize) -> Amounts {
        if let NeedSlots::ForLife(_) = self.slots {
            let slots = i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX);
            return self.demanded(from).times(slots);
        }
        (from..to).fold(Amounts::ZERO, |sum, slot| sum.plus(self.demanded(slot)))
    }

    /// Whether the executor fits the resources left.
    ///
    /// The first excess; for a resource compared in total the mean excess over the life.
    pub(crate) fn fit(&self, left: &Left, peaks: Peaks) -> Result<(), Excess> {
        let terms = self.terms(peaks, left.capacity());
        if let Some(short) = self.first_shortage(left, terms, |_| true) {
            return Err(self.excess_in(left, short));
        }
        match self.shortage_in_total(left, terms) {
            None => Ok(()),
            Some((resource, needed, life)) => Err(Excess {
                resource,
                amount: needed.minus(left.sum(life)).in_units(resource) / life as f64,
                from_ms: 0,
            }),
        }
    }

    /// Whether the executor would fit if `resource` were unlimited.
    pub(crate) fn fits_but_for(&self, left: &Left, peaks: Peaks, resource: Resource) -> bool {
        let terms = self.terms(peaks, left.capacity());
        let needed = |slot, other| match other == resource {
            true => i64::MIN,
            false => self.needed_of(slot, other),
        };
        Fit::now(left, terms).first_shortage(self.life(), needed, |_| true).is_none()
            && self.shortage_in_total(left, terms).is_none_or(|(short, ..)| short == resource)
    }

    /// The first resource that falls short when whole lives are compared, with the need of the whole life and the
    /// number of its slots.
    fn shortage_in_total(&self, left: &Left, terms: Terms) -> Option<(Resource, Amounts, usize)> {
        let life = self.life().filter(|_| !terms.in_total.is_empty())?;
        let needed = (0..life).fold(Amounts::ZERO, |sum, slot| sum.plus(self.needed(slot)));
        let resource = Fit::now(left, terms).shortage_in_total(life, needed)?;
        Some((resource, needed, life))
    }

    /// The terms of the fit on a node of this capacity.
    pub(crate) fn terms(&self, peaks: Peaks, capacity: Amounts) -> Terms {
        let capacity = capacity.get(Resource::Cpu);
        let large_in = |slot| is_large(self.needed_of(slot, Resource::Cpu), capacity);
        match self.life() {
            Some(life) => peaks.terms(true, peaks == Peaks::Soft && (0..life).any(large_in)),
            None => peaks.terms(false, false),
        }
    }

    /// The first shortage among the resources compared in every slot: its slot and resource.
    /// Compares only the windows for which `is_open_window` is true.
    pub(crate) fn first_shortage(
        &self,
        left: &Left,
        terms: Terms,
        is_open_window: impl Fn(usize) -> bool,
    ) -> Option<(usize, Resource)> {
        let needed = |slot, resource| self.needed_of(slot, resource);
        Fit::now(left, terms).first_shortage(self.life(), needed, is_open_window)
    }

    fn excess_in(&self, left: &Left, (slot, resource): (usize, Resource)) -> Excess {
        let missing = self.needed(slot).minus(left.slot(slot));
        Excess {
            resource,
            amount: missing.in_units(resource),
            from_ms: slot_start_ms(i64::try_from(slot).unwrap_or(i64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests;
