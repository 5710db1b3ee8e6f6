//! Memory limits as kernel files, and how far a limit may move in one round.

use crate::{
    actuators::{LimitFile, Setting, Value},
    cgroups::Version,
    memory_watch::{limit_that_wakes_at, wake_at},
};

/// The margin is resident memory over this. The watch of a limit wakes, and `memory.high` slows
/// the container down, only above the resident memory.
const MARGIN_PART: u64 = 7;
/// Enough of a margin for any resident memory.
const MAX_MARGIN_BYTES: u64 = 512 << 20;

/// The memory of a container when its limit is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNow {
    pub resident_bytes: u64,
    /// [`lowest_limit`] of this round.
    pub lowest_bytes: u64,
}

/// The room that a limit leaves above resident memory, for growth between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Margin {
    pub min_bytes: u64,
}

impl Margin {
    pub fn bytes(self, resident_bytes: u64) -> u64 {
        let part = (resident_bytes / MARGIN_PART).min(MAX_MARGIN_BYTES);
        part.max(self.min_bytes)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    pub limit_bytes: u64,
    /// Whether the planned limit was the same then.
    pub is_of_same_plan: bool,
}

/// The limit of the next round. `is_near`: the watch of the limit woke.
///
/// The limit is at least resident memory plus a margin. It rises at once: to the planned limit or,
/// if that is too low, to a second margin more, so that it need not follow every page. It falls in
/// steps.
pub fn next_limit(
    before: Option<Before>,
    planned_bytes: u64,
    held: MemoryNow,
    margin: Margin,
    is_near: bool,
) -> u64 {
    let margin = margin.bytes(held.resident_bytes);
    let needed = held.resident_bytes.saturating_add(margin);
    let comfortable = needed.saturating_add(margin);
    // The watch wakes when one margin is left. Half a margin more keeps it quiet for a while.
    let wide = needed.saturating_add(if is_near { margin / 2 } else { 0 });
    let goal = if planned_bytes >= wide { planned_bytes } else { comfortable };
    let Some(before) = before else {
        return goal.max(held.lowest_bytes);
    };
    let in_force = before.limit_bytes;
    if in_force < planned_bytes.max(wide) {
        return goal;
    }
    // A margin more or less is not worth a change.
    let follows_use = planned_bytes < needed || before.is_of_same_plan;
    if follows_use && in_force <= comfortable.saturating_add(margin) {
        return in_force;
    }
    goal.max(held.lowest_bytes).min(in_force)
}

/// The limit to which one rises without a plan. None while it leaves enough room for resident memory.
pub fn raised_limit(in_force: u64, resident_bytes: u64, margin: Margin) -> Option<u64> {
    let before = Before { limit_bytes: in_force, is_of_same_plan: true };
    let held = MemoryNow { resident_bytes, lowest_bytes: 0 };
    let raised = next_limit(Some(before), 0, held, margin, true);
    (raised > in_force).then_some(raised)
}

/// The lowest limit for which the kernel has to reclaim at most so much of the memory charged to the group, page cache
/// included. It does so during the write.
pub fn lowest_limit(version: Version, charged_bytes: u64, reclaim_bytes: u64) -> u64 {
    let left = charged_bytes.saturating_sub(reclaim_bytes);
    match version {
        Version::One => left,
        // `memory.high` makes it reclaim.
        Version::Two => limit_that_wakes_at(left),
    }
}

/// What the kernel has to reclaim for a limit.
pub fn reclaimed_for(version: Version, limit_bytes: u64, charged_bytes: u64) -> u64 {
    let reached = match version {
        Version::One => limit_bytes,
        Version::Two => wake_at(limit_bytes),
    };
    charged_bytes.saturating_sub(reached)
}

/// The file by which a memory limit makes the kernel reclaim, and what it has for this limit.
pub fn reclaiming(version: Version, limit_bytes: u64) -> Setting {
    let (file, bytes) = match version {
        Version::One => (LimitFile::MemoryLimit, limit_bytes),
        Version::Two => (LimitFile::MemoryHigh, wake_at(limit_bytes)),
    };
    (file, Value::AtMost(bytes))
}

/// Version 2: a container is slowed down above `memory.high`, where the watch wakes, and killed at
/// `memory.max`. Lowering `memory.max` below the charged memory also kills. So `memory.high` falls
/// first, and `memory.max` follows in a later round (`is_repeated`), once `charged_bytes` is below it. Also returns
/// whether both files are set.
pub fn memory_v2(
    limit_bytes: u64,
    before: Option<u64>,
    charged_bytes: u64,
    is_repeated: bool,
) -> (Vec<Setting>, bool) {
    let high = (LimitFile::MemoryHigh, Value::AtMost(wake_at(limit_bytes)));
    let max = (LimitFile::MemoryMax, Value::AtMost(limit_bytes));
    if before.is_some_and(|before| limit_bytes >= before) {
        (vec![max, high], true)
    } else if charged_bytes <= if is_repeated { limit_bytes } else { wake_at(limit_bytes) } {
        (vec![high, max], true)
    } else {
        (vec![high], false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    const STEP: u64 = 64 * MIB;

    fn held(resident_bytes: u64, charged_bytes: u64) -> MemoryNow {
        let lowest_bytes = lowest_limit(Version::One, charged_bytes, STEP);
        MemoryNow { resident_bytes, lowest_bytes }
    }

    const MARGIN: Margin = Margin { min_bytes: 64 * MIB };

    fn next(in_force: Option<u64>, planned: u64, held: MemoryNow) -> u64 {
        next_limit(before(in_force, false), planned, held, MARGIN, false)
    }

    fn before(in_force: Option<u64>, is_of_same_plan: bool) -> Option<Before> {
        in_force.map(|limit_bytes| Before { limit_bytes, is_of_same_plan })
    }

    #[test]
    fn the_margin_is_a_part_of_resident_memory_within_bounds() {
        assert_eq!(MARGIN.bytes(GIB), GIB / 7);
        assert_eq!(MARGIN.bytes(MIB), 64 * MIB);
        assert_eq!(MARGIN.bytes(100 * GIB), 512 * MIB);
    }

    #[test]
    fn a_planned_limit_above_resident_memory_is_in_force_at_once() {
        assert_eq!(next(None, GIB, held(100 * MIB, 200 * MIB)), GIB);
        assert_eq!(next(Some(MIB), GIB, held(100 * MIB, 200 * MIB)), GIB);
        assert_eq!(next(Some(2 * GIB), GIB, held(100 * MIB, 200 * MIB)), GIB);
    }

    #[test]
    fn page_cache_above_the_planned_limit_is_freed_in_steps() {
        let (planned, mut charged) = (GIB, 4 * GIB);
        let mut limit = None;
        let mut rounds = 0;
        while limit != Some(planned) {
            let next = next(limit, planned, held(100 * MIB, charged));
            assert!(next >= charged - STEP && next >= planned);
            limit = Some(next);
            charged = charged.min(next);
            rounds += 1;
        }
        assert_eq!(rounds, 48);
    }

    #[test]
    fn the_lowest_limit_makes_the_kernel_reclaim_a_step() {
        for charged in [0, 10, 100, 1000, 100_000].map(|mib| mib * MIB) {
            for version in [Version::One, Version::Two] {
                let limit = lowest_limit(version, charged, STEP);
                let reclaimed = reclaimed_for(version, limit, charged);
                assert!(reclaimed <= STEP, "{version:?} {charged}: {reclaimed}");
                // As much as there is, but for what the least distance keeps.
                assert!(
                    reclaimed + 1 >= STEP || charged < 200 * MIB,
                    "{version:?} {charged}: {reclaimed}"
                );
            }
        }
    }

    #[test]
    fn below_resident_memory_the_limit_follows_it_but_not_in_each_round() {
        let limit = next(None, 100 * MIB, held(GIB, GIB));
        assert_eq!(limit, GIB + 2 * (GIB / 7));
        for resident in [GIB + MIB, GIB - MIB, GIB + 40 * MIB] {
            assert_eq!(next(Some(limit), 100 * MIB, held(resident, resident)), limit);
        }
        let grown = GIB + 200 * MIB;
        assert!(next(Some(limit), 100 * MIB, held(grown, grown)) > limit);
        let shrunk = GIB / 2;
        assert!(next(Some(limit), 100 * MIB, held(shrunk, shrunk)) < limit);
    }

    #[test]
    fn a_limit_that_is_near_rises_above_the_plan_until_use_falls() {
        let planned = 160 * MIB;
        let next = |in_force, resident: u64, usage: u64, is_near| {
            let before = before(Some(in_force), true);
            next_limit(before, planned, held(resident, usage), MARGIN, is_near)
        };
        // One margin is left when the watch wakes.
        let resident = 95 * MIB;
        let raised = next(planned, resident, 96 * MIB, true);
        assert_eq!(raised, resident + 128 * MIB);
        assert_eq!(next(raised, resident, resident, false), raised);
        assert_eq!(next(raised, 20 * MIB, 20 * MIB, false), planned);
        // Page cache filled it.
        assert_eq!(next(planned, 20 * MIB, 150 * MIB, true), planned);
    }

    #[test]
    fn without_a_plan_a_limit_rises_by_resident_memory_and_never_falls() {
        let (limit, resident) = (160 * MIB, 95 * MIB);
        assert_eq!(raised_limit(limit, resident, MARGIN), Some(resident + 128 * MIB));
        // Page cache filled it.
        assert_eq!(raised_limit(limit, 20 * MIB, MARGIN), None);
        assert_eq!(raised_limit(8 * GIB, resident, MARGIN), None);
    }

    #[test]
    fn version_2_never_lowers_memory_max_below_the_charged_memory() {
        let files = |settings: &[Setting]| -> Vec<LimitFile> {
            settings.iter().map(|(file, _)| *file).collect()
        };
        use LimitFile::{MemoryHigh, MemoryMax};
        let (settings, is_complete) = memory_v2(GIB, Some(2 * GIB), wake_at(GIB) + 1, false);
        assert_eq!((files(&settings), is_complete), (vec![MemoryHigh], false));
        let (settings, is_complete) = memory_v2(GIB, Some(2 * GIB), wake_at(GIB), false);
        assert_eq!(files(&settings), [MemoryHigh, MemoryMax]);
        assert!(is_complete);
        let (settings, _) = memory_v2(GIB, Some(GIB / 2), GIB * 3, false);
        assert_eq!(files(&settings), [MemoryMax, MemoryHigh]);
        let (settings, _) = memory_v2(GIB, None, GIB + 1, true);
        assert_eq!(files(&settings), [MemoryHigh]);
    }

    proptest! {
        #[test]
        fn no_limit_is_ever_below_resident_memory_and_its_margin(
            in_force in proptest::option::of(0..4 * GIB),
            planned in 0..4 * GIB,
            resident in 0..4 * GIB,
            cache in 0..4 * GIB,
            is_of_same_plan in proptest::bool::ANY,
            is_near in proptest::bool::ANY,
        ) {
            let held = held(resident, resident + cache);
            let before = before(in_force, is_of_same_plan);
            let limit = next_limit(before, planned, held, MARGIN, is_near);
            prop_assert!(limit >= resident + MARGIN.bytes(resident));
            let high = wake_at(limit);
            prop_assert!(high >= resident, "the container would be slowed down");
        }

        #[test]
        fn a_limit_settles_and_then_stays(
            in_force in proptest::option::of(0..4 * GIB),
            planned in 0..4 * GIB,
            resident in 0..4 * GIB,
        ) {
            let mut limit = in_force;
            let held = held(resident, resident);
            let next = |limit| {
                Some(next_limit(before(limit, true), planned, held, MARGIN, false))
            };
            for _ in 0..100 {
                limit = next(limit);
            }
            prop_assert_eq!(limit, next(limit));
        }
    }
}
