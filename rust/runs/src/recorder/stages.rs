//! When the stages of a run ended.

use serde::{Deserialize, Serialize};

/// A run with more stages is not followed by them.
const MOST_STAGES: usize = 1_000;

/// Containers tell the same end at different moments.
const SAME_WITHIN_MS: u32 = 1_000;

/// The ends of the stages, in milliseconds since the start of the containers that started first, as they would have
/// been on free nodes.
///
/// Each container tells them since its own start. The one that started first is the oldest at each end, so the largest
/// age counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedStages {
    ends_ms: Vec<u32>,
    are_too_many: bool,
}

impl RecordedStages {
    /// The latest of so many stages ended at this age of a container. The ends of those before it that nobody told are
    /// spread evenly. Returns whether that is news.
    pub(super) fn ended(&mut self, stages: u32, age_ms: u32) -> bool {
        let stages = stages as usize;
        if self.are_too_many {
            return false;
        }
        if stages > MOST_STAGES {
            *self = Self { ends_ms: Vec::new(), are_too_many: true };
            return true;
        }
        let known = self.ends_ms.len();
        if stages > known {
            let before_ms = self.ends_ms.last().copied().unwrap_or(0);
            let (span_ms, missing) = (age_ms.saturating_sub(before_ms), (stages - known) as u64);
            let part_of = |stage: u64| u64::from(span_ms) * stage / missing;
            self.ends_ms.extend((1..=missing).map(|stage| before_ms + part_of(stage) as u32));
            return true;
        }
        let Some(latest) = stages.checked_sub(1) else {
            return false;
        };
        let is_older = age_ms > self.ends_ms[latest].saturating_add(SAME_WITHIN_MS);
        if is_older {
            for end_ms in &mut self.ends_ms[latest..] {
                *end_ms = age_ms.max(*end_ms);
            }
        }
        is_older
    }

    pub(super) fn ends_ms(&self) -> &[u32] {
        &self.ends_ms
    }

    /// Whether nobody could have told this.
    pub(super) fn is_bad(&self) -> bool {
        self.ends_ms.len() > MOST_STAGES || !self.ends_ms.is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(all: &[(u32, u32)]) -> Vec<u32> {
        let mut stages = RecordedStages::default();
        for (count, age_ms) in all {
            stages.ended(*count, *age_ms);
        }
        stages.ends_ms
    }

    #[test]
    fn each_end_is_where_it_was_told_and_untold_ones_lie_between() {
        assert_eq!(told(&[(1, 4_000), (2, 9_000)]), [4_000, 9_000]);
        assert_eq!(told(&[(1, 4_000), (4, 10_000)]), [4_000, 6_000, 8_000, 10_000]);
    }

    #[test]
    fn the_oldest_container_counts_whoever_tells_first() {
        let by_young_first = [(1, 2_000), (1, 30_000), (2, 40_000), (2, 12_000)];
        assert_eq!(told(&by_young_first), [30_000, 40_000]);
    }

    #[test]
    fn an_end_that_is_told_again_is_no_news() {
        let mut stages = RecordedStages::default();
        assert!(stages.ended(1, 4_000));
        assert!(!stages.ended(1, 4_100) && !stages.ended(1, 3_900) && !stages.ended(0, 100));
        assert!(stages.ended(1, 6_000));
        assert_eq!(stages.ends_ms, [6_000]);
    }

    #[test]
    fn a_run_of_too_many_stages_is_not_followed_by_them() {
        let mut stages = RecordedStages::default();
        stages.ended(3, 1_000);
        assert!(stages.ended(MOST_STAGES as u32 + 1, 9_000));
        assert!(!stages.ended(1, 10_000), "and stays so");
        assert_eq!(stages.ends_ms(), [0; 0]);
    }

    proptest! {
        #[test]
        fn ends_never_fall(all in proptest::collection::vec((0_u32..20, any::<u32>()), 0..40)) {
            let mut stages = RecordedStages::default();
            for (count, age_ms) in all {
                stages.ended(count, age_ms);
                prop_assert!(!stages.is_bad(), "{stages:?}");
            }
        }
    }
}
