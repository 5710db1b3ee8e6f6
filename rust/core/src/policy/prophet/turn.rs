//! Prophet's turns: gangs, the half that waits longest, and the deadline.

use crate::policy::{Turn, Waiting};

/// The part of the waiting applications that may go, those with the longest waits.
const OLDEST_FRACTION: f64 = 0.5;

/// The deadline, in average waits.
const DEADLINE_WAITS: f64 = 3.0;

pub(super) fn turns(waiting: &[Waiting], now_ms: i64) -> Vec<Turn> {
    let waits_ms: Vec<i64> = waiting
        .iter()
        .map(|application| now_ms.saturating_sub(application.submitted_ms).max(0))
        .collect();
    let average_ms =
        waits_ms.iter().map(|wait_ms| *wait_ms as f64).sum::<f64>() / waits_ms.len() as f64;
    let shortest_allowed_ms = shortest_of_oldest(&waits_ms);
    waiting
        .iter()
        .zip(waits_ms)
        .map(|(application, wait_ms)| {
            if wait_ms as f64 > DEADLINE_WAITS * average_ms {
                Turn::First
            } else if application.whole && wait_ms >= shortest_allowed_ms {
                Turn::Usual
            } else {
                Turn::NotNow
            }
        })
        .collect()
}

/// The shortest wait among the oldest. Applications that tie with it are among them, so that their
/// order does not matter.
fn shortest_of_oldest(waits_ms: &[i64]) -> i64 {
    let mut longest_first = waits_ms.to_vec();
    longest_first.sort_unstable_by(|a, b| b.cmp(a));
    let count = (waits_ms.len() as f64 * OLDEST_FRACTION).ceil() as usize;
    let last = count.clamp(1, waits_ms.len().max(1)) - 1;
    longest_first.get(last).copied().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 100_000;

    fn waits(wait_s: i64, whole: bool) -> Waiting {
        Waiting { submitted_ms: NOW_MS - wait_s * 1_000, whole, ..Waiting::default() }
    }

    fn turns_of(waiting: &[Waiting]) -> Vec<Turn> {
        turns(waiting, NOW_MS)
    }

    #[test]
    fn the_half_that_waits_longest_may_go() {
        let waiting = [4, 1, 3, 2].map(|wait_s| waits(wait_s, true));
        let expected = [Turn::Usual, Turn::NotNow, Turn::Usual, Turn::NotNow];
        assert_eq!(turns_of(&waiting), expected);
    }

    #[test]
    fn the_middle_of_an_odd_number_may_go_and_a_single_one_may() {
        let waiting = [3, 2, 1].map(|wait_s| waits(wait_s, true));
        assert_eq!(turns_of(&waiting), [Turn::Usual, Turn::Usual, Turn::NotNow]);
        assert_eq!(turns_of(&waiting[2..]), [Turn::Usual]);
        assert_eq!(turns_of(&[]), []);
    }

    #[test]
    fn an_application_without_room_for_all_its_executors_does_not_go() {
        let waiting = [waits(3, false), waits(3, true), waits(2, true)];
        assert_eq!(turns_of(&waiting), [Turn::NotNow, Turn::Usual, Turn::NotNow]);
    }

    #[test]
    fn past_three_average_waits_an_application_goes_first_even_in_parts() {
        // The average is 13 / 4, then 12 / 4: only 10 is more than three times that.
        let others = [1, 1, 1].map(|wait_s| waits(wait_s, true));
        let first_of = |wait_s| {
            let waiting = [&[waits(wait_s, false)], others.as_slice()].concat();
            turns_of(&waiting)[0]
        };
        assert_eq!(first_of(10), Turn::First);
        assert_eq!(first_of(9), Turn::NotNow);
    }

    #[test]
    fn all_applications_that_tie_at_the_half_go() {
        let waiting = [2, 1, 2, 1, 1].map(|wait_s| waits(wait_s, true));
        assert_eq!(turns_of(&waiting), [Turn::Usual; 5]);
    }

    #[test]
    fn extreme_times_do_not_panic() {
        let waiting =
            [i64::MIN, i64::MAX, 0].map(|submitted_ms| Waiting { submitted_ms, ..waits(0, true) });
        for now_ms in [i64::MIN, 0, i64::MAX] {
            assert_eq!(turns(&waiting, now_ms).len(), 3);
        }
    }
}
