//! A node's bookable capacity follows its target in steps.

use super::booked::{Booked, Ratios};

/// Bookable over registered size, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookableRatio {
    /// Of the memory.
    pub memory_thousandths: u32,
    /// Of the virtual cores.
    pub vcores_thousandths: u32,
}

/// A smaller loss is not made: each change recomputes every queue. Growth is made however small: the container
/// that waits may need all of it.
const LEAST_LOSS_THOUSANDTHS: u32 = 25;

/// Growth at a time.
const GROW_BY_THOUSANDTHS: u32 = 250;

impl BookableRatio {
    /// The registered size.
    pub const REGISTERED: Self = Self { memory_thousandths: 1_000, vcores_thousandths: 1_000 };

    pub(crate) fn both(ratio: f64) -> Self {
        Self::rounded_up(Ratios::both(ratio))
    }

    /// Rounded up, so that a container that fits is not cut off by the rounding; at least 1.
    pub(crate) fn rounded_up(ratios: Ratios) -> Self {
        let thousandths = |ratio: f64| ((ratio * 1e3 - 1e-6).ceil() as u32).max(1_000);
        Self {
            memory_thousandths: thousandths(ratios.memory),
            vcores_thousandths: thousandths(ratios.vcores),
        }
    }

    /// Whether more than the registered size may be booked.
    pub fn is_raised(self) -> bool {
        self != Self::REGISTERED
    }

    /// Whether less may be booked of any resource.
    pub fn is_below(self, other: Self) -> bool {
        self.memory_thousandths < other.memory_thousandths
            || self.vcores_thousandths < other.vcores_thousandths
    }

    /// The smaller of each.
    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, u32::min)
    }

    fn zip(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        Self {
            memory_thousandths: f(self.memory_thousandths, other.memory_thousandths),
            vcores_thousandths: f(self.vcores_thousandths, other.vcores_thousandths),
        }
    }
}

/// One node's way to its target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growth {
    grown_ms: Option<i64>,
}

impl Growth {
    /// The next ratio: down at once, up by a quarter of the registered size every `every_ms`; what is
    /// `booked` already needs no growth.
    pub(crate) fn next(
        &self,
        current: BookableRatio,
        target: BookableRatio,
        booked: BookableRatio,
        every_ms: i64,
        now_ms: i64,
    ) -> BookableRatio {
        let may_grow =
            self.grown_ms.is_none_or(|grown_ms| now_ms.saturating_sub(grown_ms) >= every_ms);
        let next = target.zip(current, |target, current| {
            let grows = target > current && may_grow;
            let limit = if grows { current.saturating_add(GROW_BY_THOUSANDTHS) } else { current };
            target.min(limit)
        });
        let next = next.zip(booked.min(target), u32::max);
        let is_enough = |next: u32, current: u32| {
            next > current
                || current - next >= LEAST_LOSS_THOUSANDTHS
                || next == 1_000 && current > 1_000
        };
        if !is_enough(next.memory_thousandths, current.memory_thousandths)
            && !is_enough(next.vcores_thousandths, current.vcores_thousandths)
        {
            return current;
        }
        next
    }

    /// The node is resized from one ratio to another.
    pub(crate) fn resized(&mut self, from: BookableRatio, to: BookableRatio, now_ms: i64) {
        if from.is_below(to) {
            self.grown_ms = Some(now_ms);
        }
    }
}

/// `part` over `registered`.
pub(crate) fn ratio_of(part: Booked, registered: Booked) -> BookableRatio {
    BookableRatio::rounded_up(part.over(registered, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(thousandths: u32) -> BookableRatio {
        BookableRatio { memory_thousandths: thousandths, ..BookableRatio::REGISTERED }
    }

    #[test]
    fn it_grows_by_a_quarter_every_three_seconds_and_falls_at_once() {
        let mut growth = Growth::default();
        let booked = BookableRatio::REGISTERED;
        let mut next = |current, target, now_ms| {
            let next = growth.next(memory(current), memory(target), booked, 3_000, now_ms);
            growth.resized(memory(current), next, now_ms);
            next.memory_thousandths
        };
        assert_eq!(next(1_000, 2_000, 0), 1_250);
        assert_eq!(next(1_250, 2_000, 2_999), 1_250);
        assert_eq!(next(1_250, 2_000, 3_000), 1_500);
        assert_eq!(next(1_500, 1_100, 3_001), 1_100);
        assert_eq!(next(1_100, 1_000, 3_002), 1_000);
    }

    #[test]
    fn small_losses_are_not_made_but_the_way_back_is_gone_wholly() {
        let growth = Growth::default();
        let booked = BookableRatio::REGISTERED;
        assert_eq!(growth.next(memory(1_500), memory(1_501), booked, 3_000, 0), memory(1_501));
        assert_eq!(growth.next(memory(1_500), memory(1_480), booked, 3_000, 0), memory(1_500));
        assert_eq!(growth.next(memory(1_010), memory(1_000), booked, 3_000, 0), memory(1_000));
    }

    #[test]
    fn what_is_booked_is_bookable_at_once() {
        let growth = Growth::default();
        let next = growth.next(memory(1_000), memory(2_000), memory(1_900), 3_000, 0);
        assert_eq!(next, memory(1_900));
    }
}
