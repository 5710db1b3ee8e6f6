//! When the stages of a run ended.

use serde::{Deserialize, Serialize};

/// A run with more stages is not followed by them.
pub const MOST_STAGES: usize = 1_000;

/// Containers that started within this time are of one start.
const OF_ONE_START_MS: u32 = 10_000;
/// An end that only containers of a later start have told so far. Less than any other.
const UNKNOWN: u32 = 0;

/// The ends of the stages, in milliseconds since the start of the containers that started first, as they would have
/// been on free nodes.
///
/// Each container tells them since its own start. One that lives from the first stage to the last is the oldest at each
/// end, so the largest age counts. An end that only a younger one of the same start told, as the last one often, is as far
/// behind as the ends that both told. Where there is none, as in a run whose executors come and go, ends and use have
/// no common axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedStages {
    /// The largest age at which a container told each end; not in order where no container told all.
    oldest_ms: Vec<u32>,
    are_too_many: bool,
}

/// What a container has told of its application's stages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StagesTold {
    stages: u32,
    /// Its age as the latest of them ended.
    age_ms: u32,
}

impl RecordedStages {
    /// A container tells at which age the latest of some stages ended. It counts once: what is told again comes from a later
    /// report of the same end. Ends that it did not tell lie evenly between. Returns whether it counts.
    pub(super) fn told(&mut self, before: &mut StagesTold, stages: u32, age_ms: u32) -> bool {
        if stages <= before.stages || self.are_too_many {
            return false;
        }
        if stages as usize > MOST_STAGES {
            *self = Self { oldest_ms: Vec::new(), are_too_many: true };
            return true;
        }
        let (from_ms, new) = (before.age_ms, stages - before.stages);
        let span_ms = u64::from(age_ms.saturating_sub(from_ms));
        let behind_ms = match before.stages {
            0 if self.oldest_ms.is_empty() => Some(0),
            0 => None,
            latest => self.behind_ms(latest, before.age_ms),
        };
        for number in 1..=new {
            let end_ms = from_ms + (span_ms * u64::from(number) / u64::from(new)) as u32;
            let stage = (before.stages + number - 1) as usize;
            match self.oldest_ms.get_mut(stage) {
                Some(oldest_ms) => *oldest_ms = end_ms.max(*oldest_ms),
                None => self
                    .oldest_ms
                    .push(behind_ms.map_or(UNKNOWN, |behind_ms| end_ms.saturating_add(behind_ms))),
            }
        }
        *before = StagesTold { stages, age_ms: age_ms.max(from_ms) };
        true
    }

    /// How much later than the oldest container one has started which told these stages at this age. None if it is of a
    /// later start, or nobody knows.
    fn behind_ms(&self, stages: u32, age_ms: u32) -> Option<u32> {
        let oldest_ms = *self.oldest_ms.get(stages as usize - 1)?;
        let behind_ms = oldest_ms.saturating_sub(age_ms);
        (oldest_ms != UNKNOWN && behind_ms <= OF_ONE_START_MS).then_some(behind_ms)
    }

    /// The ends in order; none where containers of another start told some of them.
    pub(super) fn ends_ms(&self) -> Vec<u32> {
        let mut latest_ms = 0;
        let in_order = |end_ms: &u32| {
            latest_ms = latest_ms.max(*end_ms);
            // Ages on free nodes run apart a little.
            (latest_ms - end_ms <= OF_ONE_START_MS).then_some(latest_ms)
        };
        let ends: Option<Vec<u32>> = self.oldest_ms.iter().map(in_order).collect();
        ends.unwrap_or_default()
    }

    /// Whether the list is longer than any that was recorded.
    pub(super) fn is_bad(&self) -> bool {
        self.oldest_ms.len() > MOST_STAGES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What containers, by their number, tell one after the other.
    fn ends_ms(all: &[(usize, u32, u32)]) -> Vec<u32> {
        let mut stages = RecordedStages::default();
        let mut told = [StagesTold::default(); 4];
        for (container, count, age_ms) in all {
            stages.told(&mut told[*container], *count, *age_ms);
        }
        stages.ends_ms()
    }

    #[test]
    fn each_end_is_where_it_was_told_and_untold_ones_lie_between() {
        assert_eq!(ends_ms(&[(0, 1, 4_000), (0, 2, 9_000)]), [4_000, 9_000]);
        assert_eq!(ends_ms(&[(0, 1, 4_000), (0, 4, 10_000)]), [4_000, 6_000, 8_000, 10_000]);
    }

    #[test]
    fn the_oldest_container_counts_whoever_tells_first() {
        let young_first = [(1, 1, 2_000), (0, 1, 30_000), (0, 2, 40_000), (1, 2, 12_000)];
        assert_eq!(ends_ms(&young_first), [30_000, 40_000]);
        // The older one's report has two ends at once.
        assert_eq!(ends_ms(&[(1, 1, 2_000), (1, 2, 4_000), (0, 2, 40_000)]), [20_000, 40_000]);
    }

    #[test]
    fn an_end_that_only_a_younger_one_told_is_later_by_what_it_is_younger() {
        let of_one_start = [(0, 1, 30_000), (1, 1, 24_000), (0, 2, 40_000), (1, 3, 36_000)];
        assert_eq!(ends_ms(&of_one_start), [30_000, 40_000, 42_000]);
        let of_a_later_start = [(0, 1, 30_000), (1, 1, 10_000), (1, 2, 35_000)];
        assert_eq!(ends_ms(&of_a_later_start), [0; 0]);
        let of_an_unknown_start = [(0, 1, 30_000), (0, 2, 60_000), (1, 3, 55_000)];
        assert_eq!(ends_ms(&of_an_unknown_start), [0; 0]);
    }

    #[test]
    fn ages_that_run_apart_a_little_void_nothing() {
        let apart = [(0, 1, 30_000), (1, 1, 29_000), (1, 3, 41_000), (0, 2, 43_500)];
        assert_eq!(ends_ms(&apart), [30_000, 43_500, 43_500]);
    }

    #[test]
    fn an_end_that_a_late_report_tells_again_does_not_move() {
        assert_eq!(ends_ms(&[(0, 1, 4_000), (0, 1, 9_000)]), [4_000]);
    }

    #[test]
    fn a_run_whose_executors_come_and_go_has_no_ends() {
        let two_generations = [(0, 1, 30_000), (0, 2, 60_000), (1, 3, 5_000), (1, 4, 20_000)];
        assert_eq!(ends_ms(&two_generations), [0; 0]);
        let one_stays = [(2, 2, 61_000), (2, 3, 80_000), (2, 4, 95_000)];
        let with_one = [&two_generations[..], &one_stays[..]].concat();
        assert_eq!(ends_ms(&with_one), [30_500, 61_000, 80_000, 95_000]);
    }

    #[test]
    fn a_run_of_too_many_stages_is_not_followed_by_them() {
        let mut stages = RecordedStages::default();
        let mut told = StagesTold::default();
        assert!(stages.told(&mut told, 3, 1_000));
        assert!(stages.told(&mut told, MOST_STAGES as u32 + 1, 9_000));
        assert!(!stages.told(&mut StagesTold::default(), 1, 10_000), "and stays so");
        assert_eq!(stages.ends_ms(), [0; 0]);
    }

    proptest! {
        #[test]
        fn ends_never_fall(
            all in proptest::collection::vec((0_usize..4, 0_u32..20, any::<u32>()), 0..40),
        ) {
            prop_assert!(ends_ms(&all).is_sorted());
        }

        #[test]
        fn those_of_one_container_are_all_kept(
            ages in proptest::collection::vec(1_u32..10_000, 1..20),
        ) {
            let mut age_ms = 0;
            let told = (1..).zip(&ages).map(|(count, more_ms)| {
                age_ms += more_ms;
                (0, count, age_ms)
            });
            let told: Vec<_> = told.collect();
            let expected: Vec<u32> = told.iter().map(|(_, _, age_ms)| *age_ms).collect();
            prop_assert_eq!(ends_ms(&told), expected);
        }
    }
}
