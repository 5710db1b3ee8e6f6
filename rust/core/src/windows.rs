//! Coarse amounts over time: eight windows, each twice as long as the one before, since most
//! containers that do not fit lack a resource soon.

/// Number of windows.
pub(crate) const WINDOWS: usize = 8;

/// A coarse amount for each window.
pub(crate) type Coarse = [i32; WINDOWS];

/// Number of bits that the coarse form drops: 128 KiB, 128 KiB/s, 0.13 thousandths of a core.
const DROPPED_BITS: u32 = 17;

/// Largest coarse amount, so that the difference of two does not overflow.
const LARGEST: i64 = 1 << 29;

/// The need in a window past the executor's end: less than any amount left.
pub(crate) const NO_NEED: i32 = -(1 << 29) - 1;

/// The slots of a window: 0..1, 1..2, 2..4, 4..8, … 64 to the end of time.
pub(crate) const fn window_slots(window: usize) -> (usize, usize) {
    let from = if window == 0 { 0 } else { 1 << (window - 1) };
    let to = if window + 1 < WINDOWS { 1 << window } else { usize::MAX };
    (from, to)
}

/// The coarse form of an amount left, rounded down. Of two amounts the one with the larger coarse
/// form is larger; equal coarse forms decide nothing.
pub(crate) fn coarse(amount: i64) -> i32 {
    (amount >> DROPPED_BITS).clamp(-LARGEST, LARGEST) as i32
}

/// The coarse form of a need. No need is -1, so that it fits where 0 is left without comparing exact amounts.
pub(crate) fn coarse_need(amount: i64) -> i32 {
    if amount == 0 { -1 } else { coarse(amount) }
}

/// The result of a comparison in coarse form. The largest verdict of several periods holds for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Fits,
    Unclear,
    Exceeds,
}

/// Compares slot by slot; the last entry of `left` holds for all later slots.
pub(crate) fn compare_slots(need: &[i32], left: &[i32]) -> Verdict {
    let mut exceeds = false;
    let mut fits = true;
    for (need, left) in need.iter().zip(left) {
        exceeds |= need > left;
        fits &= need < left;
    }
    let beyond = need.get(left.len()..).unwrap_or_default();
    if let Some(later) = left.last() {
        for need in beyond {
            exceeds |= need > later;
            fits &= need < later;
        }
    }
    match (exceeds, fits) {
        (true, _) => Verdict::Exceeds,
        (false, true) => Verdict::Fits,
        (false, false) => Verdict::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_all_time_without_a_gap() {
        let mut next = 0;
        for window in 0..WINDOWS {
            let (from, to) = window_slots(window);
            assert_eq!(from, next);
            next = to;
        }
        assert_eq!(next, usize::MAX);
    }

    #[test]
    fn a_verdict_holds_for_the_exact_amounts() {
        let amounts = [-1 << 20, -1, 0, 1, 131_071, 131_072, 131_073, 1 << 46, i64::MIN, i64::MAX];
        for need in amounts.into_iter().filter(|amount| *amount >= 0) {
            for left in amounts {
                let verdict = compare_slots(&[coarse_need(need)], &[coarse(left)]);
                match verdict {
                    Verdict::Fits => assert!(need <= left, "{need} {left}"),
                    Verdict::Exceeds => assert!(need > left, "{need} {left}"),
                    Verdict::Unclear => {}
                }
            }
        }
    }
}
