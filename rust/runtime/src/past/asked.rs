//! What an application asks for and has not got.

use std::collections::VecDeque;

/// Containers that are asked for and have not started: when, and how many, the first first.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenAsks {
    since: VecDeque<(i64, u32)>,
    count: u32,
}

impl OpenAsks {
    /// The number of containers that are asked for now. If it fell, those that were asked for last were taken back.
    pub(super) fn set_count(&mut self, count: u32, now_ms: i64) {
        if count > self.count {
            self.since.push_back((now_ms, count - self.count));
        }
        let mut surplus = self.count.saturating_sub(count);
        while surplus > 0
            && let Some((_, last)) = self.since.back_mut()
        {
            let taken_back = surplus.min(*last);
            *last -= taken_back;
            surplus -= taken_back;
            if *last == 0 {
                self.since.pop_back();
            }
        }
        self.count = count;
    }

    /// One starts: since when it was asked for.
    pub(super) fn take_oldest(&mut self) -> Option<i64> {
        let (since_ms, first) = self.since.front_mut()?;
        let since_ms = *since_ms;
        *first -= 1;
        if *first == 0 {
            self.since.pop_front();
        }
        self.count -= 1;
        Some(since_ms)
    }

    /// One that started was taken back, and is asked for as before.
    pub(super) fn give_back(&mut self, since_ms: i64) {
        self.since.push_front((since_ms, 1));
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_was_asked_for_first_starts_first() {
        let mut asked = OpenAsks::default();
        asked.set_count(2, 100);
        asked.set_count(3, 200);
        let first = [asked.take_oldest(), asked.take_oldest()];
        assert_eq!(first, [Some(100), Some(100)]);
        asked.set_count(1, 300);
        assert_eq!(asked.take_oldest(), Some(200), "nothing was asked for meanwhile");
        assert_eq!(asked.take_oldest(), None);
    }

    #[test]
    fn those_that_were_asked_for_last_are_taken_back_first() {
        let mut asked = OpenAsks::default();
        asked.set_count(2, 100);
        asked.set_count(5, 200);
        asked.set_count(1, 300);
        assert_eq!((asked.take_oldest(), asked.take_oldest()), (Some(100), None));
    }
}
