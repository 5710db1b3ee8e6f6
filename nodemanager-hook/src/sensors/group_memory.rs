//! The memory that a group is charged for.

use super::{HeldMemory, group_files::GroupFile};

/// The group's figures are used when it is charged for this percentage of the anonymous memory of
/// its processes.
const COMPLETE_PERCENT: u64 = 90;
/// They are also used when no more than this is charged elsewhere. Every limit leaves more free.
const ELSEWHERE_BYTES: u64 = 16 << 20;

/// A group's `memory.stat`. A process that joined the group stays charged to its former group for
/// the memory it had touched before, which a limit of the new group would not cover.
#[derive(Debug)]
pub struct GroupMemory {
    pub stat: GroupFile,
    /// Whether the group is charged for enough of the memory of its processes.
    pub is_complete: bool,
}

impl GroupMemory {
    /// Compares the charged memory with the memory of the group's processes; returns the one that
    /// counts. File pages are charged to the group that read them first, so only anonymous memory
    /// is compared.
    pub fn compare(&mut self, charged: HeldMemory, held: HeldMemory) -> HeldMemory {
        self.is_complete = is_enough(charged.anonymous_bytes, held.anonymous_bytes);
        if self.is_complete { charged } else { held }
    }
}

fn is_enough(charged_bytes: u64, anonymous_bytes: u64) -> bool {
    let elsewhere_bytes = anonymous_bytes.saturating_sub(charged_bytes);
    let elsewhere = u128::from(elsewhere_bytes) * 100;
    let most_elsewhere = u128::from(anonymous_bytes) * u128::from(100 - COMPLETE_PERCENT);
    elsewhere <= most_elsewhere || elsewhere_bytes <= ELSEWHERE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_complete_with_nine_tenths_or_with_little_charged_elsewhere() {
        const GIB: u64 = 1 << 30;
        assert!(is_enough(90 * GIB, 100 * GIB) && is_enough(2 * GIB, GIB) && is_enough(0, 0));
        assert!(!is_enough(89 * GIB, 100 * GIB));
        assert!(is_enough(0, ELSEWHERE_BYTES) && !is_enough(0, ELSEWHERE_BYTES + 1));
        assert!(is_enough(u64::MAX, u64::MAX));
    }
}
